/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/local.h
 * @brief Connections within one machine, for drivers of the engine.
 */
#ifndef TLTCP_LOCAL_H
#define TLTCP_LOCAL_H

#include <tltcp/conn.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_engine_drive
 * @{ */

/**
 * @brief Says that the packets of a connection stay on this machine.
 *
 * If the peer's driver says so, too, with the same token, packets after the
 * handshake have no checksum: see docs/protocols/tltcp.md section 6.1. Secured
 * connections have tags instead of checksums, and ignore this.
 *
 * For a caller, call it before its first datagram leaves. For a listener's
 * connection, call it after ::TLTCP_CALLER and before tltcp_conn_accept().
 * @param conn   connection
 * @param token  16 bytes that only the peer's driver can have, and only if no
 *               other process forwards the datagrams: for example a hash of the
 *               caller's address, as each driver sees it, with a key that only
 *               this machine has
 * @retval 0                done; it takes effect if the peer agrees
 * @retval TLTCP_ERR_STATE  too late
 */
TLTCP_API int tltcp_conn_set_local(tltcp_conn *conn, const uint8_t *token);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_LOCAL_H */

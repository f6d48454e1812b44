/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tltcp/burst.h
 * @brief Input of the engine, for drivers that receive many datagrams at once.
 */
#ifndef TLTCP_BURST_H
#define TLTCP_BURST_H

#include <tltcp/conn.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup tltcp_engine_drive
 * @{ */

/**
 * @brief Processes datagrams that came together on one path, as
 * tltcp_conn_recv() processes each.
 *
 * Costs less for data in order, as UDP_GRO joins it. Behind
 * tltcp_endpoint_recv(), pass what follows a datagram that was ::TLTCP_TAKEN.
 * @param conn     connection
 * @param info     path and ECN codepoint of all of them
 * @param data     their UDP payloads, one behind the other
 * @param len      bytes at @p data
 * @param segment  bytes of each datagram but the last, which may be shorter;
 *                 not 0
 * @param now      current time
 * @return bytes up to the first datagram that is part of a handshake, is for
 * another connection, or came when this one was over; pass it to
 * tltcp_conn_recv() or tltcp_endpoint_recv()
 */
TLTCP_API size_t tltcp_conn_recv_burst(tltcp_conn *conn,
                                       const tltcp_pktinfo *info,
                                       const void *data, size_t len,
                                       size_t segment, tltcp_time now);

/** Bytes of a buffer for tltcp_conn_recv_lent(). */
#define TLTCP_ROOM_BYTES ((size_t)65536)

/**
 * @brief As tltcp_conn_recv_burst(), but may keep the buffer until the
 * application has read the data, which saves a copy.
 *
 * A buffer is kept only if half of it is data in order, and only within the
 * limits on memory of the connection.
 * @param conn     connection
 * @param info     path and ECN codepoint of all datagrams
 * @param[in,out] room  buffer of ::TLTCP_ROOM_BYTES bytes from
 *                 tltcp_config::allocator; if it is kept, it is replaced by
 *                 another one
 * @param at       where the first datagram begins in the buffer
 * @param len      bytes of all datagrams
 * @param segment  bytes of each datagram but the last, as above
 * @param now      current time
 * @return as tltcp_conn_recv_burst(); if the buffer was replaced, @p len
 */
TLTCP_API size_t tltcp_conn_recv_lent(tltcp_conn *conn,
                                      const tltcp_pktinfo *info, void **room,
                                      size_t at, size_t len, size_t segment,
                                      tltcp_time now);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* TLTCP_BURST_H */

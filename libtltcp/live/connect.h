/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/connect.h
 * @brief Calling a listener, with the words of a refusal.
 */
#ifndef LIVE_CONNECT_H
#define LIVE_CONNECT_H

#include <stdbool.h>

#include "tltcp/socket.h"

/**
 * @brief Calls and waits for the answer.
 * @param[out] s       the connection; closed here when it fails
 * @param host         address or name
 * @param service      port
 * @param c            options
 * @param stop         asked now and then; true ends the wait; or NULL
 * @param[out] reason  TLTCP_REASON_MAX + 1 bytes: why not
 * @return 0, or a negative ::tltcp_error; TLTCP_ERR_AGAIN when stopped
 */
int live_connect(tltcp_socket **s, const char *host, const char *service,
                 const tltcp_config *c, bool (*stop)(void), char *reason);

#endif /* LIVE_CONNECT_H */

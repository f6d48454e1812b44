/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_CONN_RUN_H
#define LIBTLTCP_CONN_RUN_H

#include "libtltcp/engine/conn.h"

/* Sends packets of size bytes with data that differ from the one just sent only
 * in number and data, as many as follow and fit in cap bytes. They are the same
 * as if each was sent by itself. Returns their bytes. */
size_t tltcp__conn_send_run(tltcp_conn *c, uint8_t *buf, size_t cap,
                            size_t size, tltcp_time now);

#endif /* LIBTLTCP_CONN_RUN_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_QLOG_H
#define TLTCP_SOCKET_QLOG_H

#include <stdbool.h>
#include <stdint.h>

#include <tltcp/config.h>

/* A qlog file (draft-ietf-quic-qlog-main-schema, version 0.3) as a sequence of
 * JSON records (RFC 7464). */

struct tltcp__qlog;

/* Creates <dir>/<id in hexadecimal>.sqlog and writes its header; times are
 * relative to `start`. NULL: it could not be created. */
struct tltcp__qlog *tltcp__qlog_open(const char *dir, uint64_t id, bool server,
                                     uint64_t start);
/* Adds an event with at most `most` values. */
void tltcp__qlog_write(struct tltcp__qlog *q, const tltcp_trace_event *ev,
                       unsigned most);
void tltcp__qlog_close(struct tltcp__qlog *q);

#endif /* TLTCP_SOCKET_QLOG_H */

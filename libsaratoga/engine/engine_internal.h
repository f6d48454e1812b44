/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_INTERNAL_H
#define LIBSARATOGA_NODE_INTERNAL_H

#include <saratoga/engine.h>

#include "internal/common/heap.h"
#include "libsaratoga/engine/session.h"
#include "libsaratoga/engine/table.h"

#define SARATOGA__STRAYS 64
#define SARATOGA__STRAY_MAX 288 /* a BEACON with the longest EID */

/* A datagram that belongs to no session. */
typedef struct saratoga__stray {
    saratoga_pktinfo to;
    size_t len;
    uint8_t bytes[SARATOGA__STRAY_MAX];
} saratoga__stray;

struct saratoga_engine {
    saratoga__env env;
    saratoga__table table;
    cmn__heap timers;                /* of session indices */
    saratoga__session *ready;        /* ring of those that may write */
    saratoga__session *status_first; /* queue of those that owe a STATUS */
    saratoga__session *status_last;
    saratoga__index others; /* others.c */
    saratoga__stray stray[SARATOGA__STRAYS];
    uint32_t stray_first;
    uint32_t strays;
    saratoga__session *linger_first; /* the oldest */
    saratoga__session *linger_last;
    double refusals; /* tokens */
    saratoga_time refusals_at;
    saratoga_time beacon_at;
    uint64_t free_kib;
    bool tell_free;
    uint64_t group; /* host of the group sent to last */
};

/* node.c */
/* After anything that happened to a session: its timer, its place among those
 * that may write, and its end. */
void saratoga__engine_touch(saratoga_engine *n, saratoga__session *s,
                            saratoga_time now);
/* A new session, not yet in the table under host and Id.  Returns 0 or an
 * error. */
int saratoga__engine_add(saratoga_engine *n, const saratoga_options *opt,
                         const saratoga_pktinfo *peer, uint32_t id,
                         uint32_t type, bool sends, saratoga__session **out,
                         saratoga_time now);
void saratoga__engine_remove(saratoga_engine *n, saratoga__session *s);
/* Whether there is room for one more, once what lingers has made way. */
bool saratoga__engine_has_room(saratoga_engine *n);
/* Has it found under another host and Id; false: no memory. */
bool saratoga__engine_rekey(saratoga_engine *n, saratoga__session *s,
                            uint64_t host, uint32_t id);
saratoga__session *saratoga__engine_find(const saratoga_engine *n,
                                         saratoga_handle handle);
bool saratoga__is_sender(uint32_t type, bool initiator);

/* others.c: sessions that others than their host may speak of.  To be called
 * after anything that happened to a session, and before its end. */
void saratoga__others_note(saratoga_engine *n, saratoga__session *s);
void saratoga__others_forget(saratoga_engine *n, saratoga__session *s);
/* This node sends to a group under that Id. */
bool saratoga__others_is_sent(const saratoga_engine *n, uint32_t id);
/* Who asked a group under that Id. */
saratoga__session *saratoga__others_asker(const saratoga_engine *n,
                                          uint32_t id);
/* Who still waits for a file, of that host or of whoever has it. */
saratoga__session *saratoga__others_waiting(const saratoga_engine *n,
                                            const char *path, uint64_t host);
/* What goes to a group under that Id, or comes to one. */
saratoga__session *saratoga__others_in_group(const saratoga_engine *n,
                                             uint32_t id);

/* strays.c */
/* A failure STATUS to somebody who has no session, at a limited rate. */
void saratoga__stray_refuse(saratoga_engine *n, const saratoga_pktinfo *to,
                            uint32_t id, uint32_t code, saratoga_time now);
int saratoga__stray_beacon(saratoga_engine *n, const saratoga_pktinfo *to);
size_t saratoga__stray_write(saratoga_engine *n, saratoga_pktinfo *to,
                             uint8_t *buf, size_t cap);

#endif /* LIBSARATOGA_NODE_INTERNAL_H */

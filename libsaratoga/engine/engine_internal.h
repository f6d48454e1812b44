/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_ENGINE_INTERNAL_H
#define LIBSARATOGA_ENGINE_INTERNAL_H

#include <saratoga/engine.h>

#include "internal/common/heap.h"
#include "libsaratoga/engine/admission.h"
#include "libsaratoga/engine/session.h"
#include "libsaratoga/engine/table.h"

#define SARATOGA__STATELESS_MAX 64
#define SARATOGA__STATELESS_LEN 288 /* a BEACON with the longest EID */

/* A queued datagram without a session. */
typedef struct saratoga__stateless {
    saratoga_pktinfo to;
    size_t len;
    uint8_t bytes[SARATOGA__STATELESS_LEN];
} saratoga__stateless;

struct saratoga_engine {
    saratoga__context ctx;
    saratoga__table table;
    cmn__heap timers;                /* of session indices */
    saratoga__session *ready;        /* ring of those that may write */
    saratoga__session *status_first; /* queue of those that owe a STATUS */
    saratoga__session *status_last;
    saratoga__multimap group_index; /* group_index.c */
    saratoga__admission admission;
    saratoga__stateless stateless[SARATOGA__STATELESS_MAX];
    uint32_t stateless_first;
    uint32_t stateless_count;
    saratoga__session *linger_first; /* the oldest */
    saratoga__session *linger_last;
    double refusals; /* tokens */
    saratoga_time refusals_at;
    saratoga_time beacon_at;
    uint64_t free_kib;
    bool report_free;
    uint64_t group; /* host of the group sent to last */
};

/* engine.c */
/* Call after any change to a session: updates its timer and its place in the
 * queues, and frees it at its end. */
void saratoga__engine_touch(saratoga_engine *e, saratoga__session *s,
                            saratoga_time now);
/* A new session, not yet in the table under host and Id.  Returns 0 or an
 * error. */
int saratoga__engine_add(saratoga_engine *e, const saratoga_options *opt,
                         const saratoga_pktinfo *peer, uint32_t id,
                         uint32_t type, bool sends, saratoga__session **out,
                         saratoga_time now);
void saratoga__engine_remove(saratoga_engine *e, saratoga__session *s);
/* Whether there is room for one more, evicting lingering sessions if
 * necessary. */
bool saratoga__engine_has_room(saratoga_engine *e);
/* Changes its key to another host and Id; false: no memory. */
bool saratoga__engine_rekey(saratoga_engine *e, saratoga__session *s,
                            uint64_t host, uint32_t id);
saratoga__session *saratoga__engine_find(const saratoga_engine *e,
                                         saratoga_handle handle);
bool saratoga__is_sender(uint32_t type, bool initiator);

/* group_index.c: sessions that other hosts may refer to. Update after any
 * change to a session; remove before it is freed. */
void saratoga__group_index_update(saratoga_engine *e, saratoga__session *s);
void saratoga__group_index_remove(saratoga_engine *e, saratoga__session *s);
/* Whether this engine sends to a group under that Id. */
bool saratoga__group_index_is_sent(const saratoga_engine *e, uint32_t id);
/* The session that requested from a group under that Id. */
saratoga__session *saratoga__group_index_requester(const saratoga_engine *e,
                                                   uint32_t id);
/* A session that waits for that path, from that host or any. */
saratoga__session *saratoga__group_index_waiting(const saratoga_engine *e,
                                                 const char *path,
                                                 uint64_t host);
/* A transfer to or from a group under that Id. */
saratoga__session *saratoga__group_index_find(const saratoga_engine *e,
                                              uint32_t id);

/* stateless.c: replies that need no session */
/* Queues a failure STATUS, at a limited rate. */
void saratoga__stateless_refuse(saratoga_engine *e, const saratoga_pktinfo *to,
                                uint32_t id, uint32_t code, saratoga_time now);
/* Queues an address challenge. */
void saratoga__stateless_challenge(saratoga_engine *e,
                                   const saratoga_pktinfo *to, uint32_t id,
                                   saratoga_time now);
/* Whether that host echoes a recent timestamp of this engine. */
bool saratoga__stateless_is_answer(const saratoga_engine *e, uint64_t host,
                                   const saratoga__challenge *c,
                                   saratoga_time now);
/* Whether a signed REQUEST may name this challenge, and when it was made. */
bool saratoga__stateless_is_challenge(const saratoga_engine *e, uint64_t host,
                                      const saratoga__challenge *c,
                                      uint64_t *made, saratoga_time now);
/* Answers a challenge. */
void saratoga__stateless_echo(saratoga_engine *e, const saratoga_pktinfo *to,
                              const saratoga__data *d);
int saratoga__stateless_beacon(saratoga_engine *e, const saratoga_pktinfo *to);
size_t saratoga__stateless_send(saratoga_engine *e, saratoga_pktinfo *to,
                                uint8_t *buf, size_t cap);

#endif /* LIBSARATOGA_ENGINE_INTERNAL_H */

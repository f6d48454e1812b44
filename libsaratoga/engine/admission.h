/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_ADMISSION_H
#define LIBSARATOGA_ADMISSION_H

#include "libsaratoga/engine/session.h"

/* Limits for peers that have not proven their address: the number of concurrent
 * sessions, with random eviction, and the rate of requests passed to the
 * application. Recently proven addresses are kept in a table of fixed size,
 * which only proven peers can fill. */

#define SARATOGA__PLACES 1024u
#define SARATOGA__PLACE_WAYS 4u

/* An address with its port: others may share the address. */
typedef struct saratoga__known {
    uint64_t path;
    saratoga_time until;
} saratoga__known;

typedef struct saratoga__admission {
    saratoga__context *ctx;
    uint64_t salt;
    saratoga__session **unproven;
    uint32_t count;
    uint32_t max;
    double tokens; /* requests that may pass now (token bucket) */
    saratoga_time tokens_at;
    saratoga__known place[SARATOGA__PLACES];
} saratoga__admission;

/* Returns 0 or SARATOGA_ERR_NOMEM. */
int saratoga__admission_init(saratoga__admission *a, saratoga__context *ctx,
                             saratoga_time now);
void saratoga__admission_free(saratoga__admission *a);
/* Whether an unproven peer's request of that type may pass to the application.
 */
bool saratoga__admission_pass(saratoga__admission *a, uint32_t type,
                              saratoga_time now);
/* Whether that address and port are proven. */
bool saratoga__admission_knows(const saratoga__admission *a, uint64_t path,
                               saratoga_time now);
void saratoga__admission_learn(saratoga__admission *a, uint64_t path,
                               saratoga_time now);
/* The session to evict before another can enter; NULL: none. The choice is
 * random, as in OpenSSH's MaxStartups: an attacker evicts mostly its own
 * sessions. */
saratoga__session *saratoga__admission_victim(saratoga__admission *a);
void saratoga__admission_enter(saratoga__admission *a, saratoga__session *s);
void saratoga__admission_leave(saratoga__admission *a, saratoga__session *s);

#endif /* LIBSARATOGA_ADMISSION_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_ENV_H
#define LIBSARATOGA_ENV_H

#include <saratoga/config.h>
#include <saratoga/event.h>
#include <saratoga/stats.h>

#include "internal/common/ring.h"
#include "internal/common/rng.h"
#include "libsaratoga/engine/auth.h"
#include "libsaratoga/engine/digest.h"
#include "libsaratoga/engine/jobs.h"

/* What all sessions of a node share. */
typedef struct saratoga__env {
    cmn__mem mem;
    saratoga_config cfg;
    saratoga_options defaults;
    void *defaults_block; /* what they point to */
    saratoga__jobs jobs;
    saratoga__auth auth;
    cmn__rng rng;
    uint8_t secret[SARATOGA__ID_KEY_LEN]; /* of random Ids */
    cmn__ring events;                     /* of saratoga_event */
    uint32_t strangers;                   /* events of no transfer that wait */
    uint32_t untold;           /* sessions whose DONE found no memory */
    saratoga_time uplink_free; /* STATUS may leave from then on */
    size_t early_bytes;        /* kept for sessions not yet answered */
    saratoga_engine_stats stats;
    char eid[SARATOGA_EID_MAX + 1];
} saratoga__env;

/* Queues an event; false without memory. */
bool saratoga__env_event(saratoga__env *e, const saratoga_event *ev);
bool saratoga__env_next_event(saratoga__env *e, saratoga_event *ev);
/* What the node says of itself in requests and beacons. */
uint32_t saratoga__env_abilities(const saratoga__env *e);
/* Calls the trace hook, if there is one.  Keys end with NULL. */
void saratoga__env_trace(const saratoga__env *e, const char *name,
                         saratoga_handle handle, saratoga_time now,
                         const char *const *keys, const double *values,
                         const char *text);
/* STATUS of that many octets, headers included, leaves: when may the next one?
 */
void saratoga__env_uplink_used(saratoga__env *e, size_t len, saratoga_time now);

#endif /* LIBSARATOGA_ENV_H */

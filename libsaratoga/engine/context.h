/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_CONTEXT_H
#define LIBSARATOGA_CONTEXT_H

#include <saratoga/config.h>
#include <saratoga/event.h>
#include <saratoga/stats.h>

#include "internal/common/ring.h"
#include "internal/common/rng.h"
#include "libsaratoga/engine/auth.h"
#include "libsaratoga/engine/challenge.h"
#include "libsaratoga/engine/digest.h"
#include "libsaratoga/engine/token.h"
#include "libsaratoga/engine/work_queue.h"

/* State shared by all sessions of an engine. */
typedef struct saratoga__context {
    cmn__mem mem;
    saratoga_config cfg;
    saratoga_options defaults;
    void *defaults_block; /* what they point to */
    saratoga__work_queue queue;
    saratoga__auth auth;
    saratoga__challenges challenges;
    cmn__rng rng;
    uint8_t token_key[SARATOGA__TOKEN_KEY_LEN];
    uint8_t secret[SARATOGA__ID_KEY_LEN]; /* of random Ids */
    cmn__ring events;                     /* of saratoga_event */
    uint32_t unsolicited_count;           /* queued events without a transfer */
    uint32_t done_pending;     /* sessions whose DONE event could not be queued
                                  for lack of memory */
    saratoga_time uplink_free; /* when the next STATUS may leave */
    size_t pre_accept_bytes;   /* in pre-accept buffers */
    saratoga_engine_stats stats;
    char eid[SARATOGA_EID_MAX + 1];
} saratoga__context;

/* Queues an event; false without memory. */
bool saratoga__context_event(saratoga__context *e, const saratoga_event *ev);
bool saratoga__context_next_event(saratoga__context *e, saratoga_event *ev);
/* The abilities advertised in REQUESTs and BEACONs. */
uint32_t saratoga__context_abilities(const saratoga__context *e);
/* Calls the trace hook, if there is one.  Keys end with NULL; NULL: none. */
void saratoga__context_trace(const saratoga__context *e, const char *name,
                             saratoga_handle handle, saratoga_time now,
                             const char *const *keys, const double *values,
                             const char *text);
/* Charges a STATUS of `len` octets, headers included, to the uplink. */
void saratoga__context_uplink_used(saratoga__context *e, size_t len,
                                   saratoga_time now);

#endif /* LIBSARATOGA_CONTEXT_H */

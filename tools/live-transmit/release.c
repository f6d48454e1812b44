/* SPDX-License-Identifier: MPL-2.0 */
/* Holds bytes back until it is time to write them. */
#include "tools/live-transmit/release.h"

#include <stdlib.h>
#include <string.h>

#define LATENCY_MAX_MS 60000u /* that a sender may ask for */
/* A minute of 35 Mbit/s. */
#define HELD_MAX ((size_t)256 << 20)

struct release_piece {
    struct release_piece *next;
    uint64_t when;
    size_t len;
    uint8_t data[];
};

/* Data without a time is released with the data before it. */
static uint64_t when_of(struct release *r, const tltcp_live_frame *f,
                        uint64_t latency) {
    uint64_t when = r->newest;
    if (f->dts != TLTCP_LIVE_TIME_NONE) {
        bool anew =
            media__timemap_arrival(&r->map, f->dts, (int64_t)f->arrived);
        int64_t local = media__timemap_local(&r->map, f->dts);
        uint64_t due = (uint64_t)local + latency;
        /* Never before an earlier frame, except after a jump of the time line.
         */
        when = due > when || anew ? due : when;
    }
    return when < f->arrived ? f->arrived : when;
}

uint64_t release_latency(uint32_t announced_ms) {
    uint32_t ms = announced_ms < LATENCY_MAX_MS ? announced_ms : LATENCY_MAX_MS;
    return ms * NS_PER_MS;
}

bool release_push(struct release *r, const tltcp_live_frame *f,
                  uint64_t latency) {
    struct release_piece *p = malloc(sizeof(*p) + f->len);
    if (!p) {
        return false;
    }
    p->next = NULL;
    p->len = f->len;
    memcpy(p->data, f->data, f->len);
    p->when = r->newest = when_of(r, f, latency);
    r->held += sizeof(*p) + f->len;
    if (r->last) {
        r->last->next = p;
    } else {
        r->first = p;
    }
    r->last = p;
    return true;
}

uint64_t release_when(const struct release *r) {
    if (r->first == NULL) {
        return TLTCP_TIME_NEVER;
    }
    return r->held > (r->most ? r->most : HELD_MAX) ? 0 : r->first->when;
}

const uint8_t *release_peek(const struct release *r, size_t *len) {
    *len = r->first ? r->first->len : 0;
    return r->first ? r->first->data : NULL;
}

void release_pop(struct release *r) {
    struct release_piece *p = r->first;
    if (p) {
        r->first = p->next;
        r->last = r->first ? r->last : NULL;
        r->held -= sizeof(*p) + p->len;
        free(p);
    }
}

void release_restart(struct release *r) {
    media__timemap_init(&r->map);
    r->newest = 0;
}

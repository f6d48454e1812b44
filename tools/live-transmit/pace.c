/* SPDX-License-Identifier: MPL-2.0 */
/* When the data of a file or pipe is to be sent. */
#include "tools/live-transmit/pace.h"

#define JUMP UINT64_C(10000000000)
/* A machine that is busy for longer has missed the deadlines anyway. */
#define LATE_MAX UINT64_C(1000000000)

uint64_t pace_due(struct pace *p, int64_t media, uint64_t now) {
    uint64_t due = p->clock + (uint64_t)(media - p->media);
    bool jumped = due > now ? due - now > JUMP : now - due > LATE_MAX;
    if (!p->started || jumped) {
        p->started = true;
        p->media = media;
        p->clock = due = now;
    }
    return due;
}

void pace_restart(struct pace *p) {
    p->started = false;
}

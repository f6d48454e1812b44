/* SPDX-License-Identifier: MPL-2.0 */
/* Computes when to play frames, on a clock that follows the sender's. */
#include "internal/media/stream/playout.h"

#include <string.h>

#define NS_PER_S INT64_C(1000000000)
#define WINDOW_NS (4 * NS_PER_S)
/* Maximum difference of the two clocks' steps between frames. */
#define JUMP_NS (10 * NS_PER_S)
/* How long early arrivals move the map at once, and the limit in total. */
#define SETTLE_NS (2 * NS_PER_S)
#define SETTLE_MOVE_NS (1 * NS_PER_S)
/* Limit of the drift; a fraction of it is followed per window. */
#define DRIFT_NS (NS_PER_S / 10)
#define FOLLOW 4

void media__playout_init(media_playout *p, int64_t tolerance) {
    memset(p, 0, sizeof(*p));
    p->tolerance = tolerance;
}

static void playout_begin(media_playout *p, int64_t offset, int64_t arrival) {
    p->started = true;
    p->offset = offset;
    p->begun = p->window_start = arrival;
    p->moved = 0;
    p->windows = 1;
    p->least[0] = offset;
}

static bool jumped(const media_playout *p, int64_t media, int64_t arrival) {
    int64_t jump = (media - p->last_media) - (arrival - p->last_arrival);

    return jump > JUMP_NS || jump < -JUMP_NS;
}

static void settle(media_playout *p, int64_t offset, int64_t arrival) {
    int64_t early = p->offset - offset;

    if (early > 0 && arrival - p->begun <= SETTLE_NS &&
        p->moved + early <= SETTLE_MOVE_NS) {
        p->offset = offset;
        p->moved += early;
    }
}

static void follow_drift(media_playout *p) {
    int64_t least = p->least[0];

    for (int i = 1; i < p->windows; i++) {
        least = p->least[i] < least ? p->least[i] : least;
    }
    int64_t drift = least - p->offset;
    if (p->windows == MEDIA_PLAYOUT_WINDOWS && drift < DRIFT_NS &&
        drift > -DRIFT_NS) {
        p->offset += drift / FOLLOW;
    }
}

static bool playout_close_window(media_playout *p, int64_t offset,
                                 int64_t arrival) {
    if (p->least[0] > p->offset + p->tolerance) {
        playout_begin(p, p->least[0], arrival);
        return true;
    }
    follow_drift(p);
    if (p->windows < MEDIA_PLAYOUT_WINDOWS) {
        p->windows++;
    }
    memmove(p->least + 1, p->least,
            (size_t)(p->windows - 1) * sizeof(p->least[0]));
    p->least[0] = offset;
    p->window_start = arrival;
    return false;
}

bool media__playout_arrival(media_playout *p, int64_t media, int64_t arrival) {
    int64_t offset = arrival - media;
    bool anew = p->started && jumped(p, media, arrival);

    p->last_media = media;
    p->last_arrival = arrival;
    if (!p->started || anew) {
        playout_begin(p, offset, arrival);
        return anew;
    }
    settle(p, offset, arrival);
    if (offset < p->least[0]) {
        p->least[0] = offset;
    }
    return arrival - p->window_start >= WINDOW_NS &&
           playout_close_window(p, offset, arrival);
}

int64_t media__playout_local(const media_playout *p, int64_t media) {
    return media + p->offset;
}

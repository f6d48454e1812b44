/* SPDX-License-Identifier: MPL-2.0 */
/* Maps a sender's media time to the receiver's clock. */
#include "internal/media/stream/timemap.h"

#include <string.h>

#define WINDOW_NS INT64_C(4000000000)
/* Larger deviations mean that the media time restarted. */
#define JUMP_NS INT64_C(10000000000)
/* Divisor: the fraction of a larger least delay followed per window. */
#define FOLLOW 4

void media__timemap_init(media_timemap *m) {
    memset(m, 0, sizeof(*m));
}

static void restart(media_timemap *m, int64_t offset, int64_t arrival) {
    m->started = true;
    m->offset = offset;
    m->window_start = arrival;
    m->windows = 1;
    m->least[0] = offset;
}

static void timemap_close_window(media_timemap *m, int64_t offset,
                                 int64_t arrival) {
    int64_t least = m->least[0];

    for (int i = 1; i < m->windows; i++) {
        least = m->least[i] < least ? m->least[i] : least;
    }
    if (m->windows == MEDIA_TIMEMAP_WINDOWS && least > m->offset) {
        m->offset += (least - m->offset) / FOLLOW;
    }
    if (m->windows < MEDIA_TIMEMAP_WINDOWS) {
        m->windows++;
    }
    memmove(m->least + 1, m->least,
            (size_t)(m->windows - 1) * sizeof(m->least[0]));
    m->least[0] = offset;
    m->window_start = arrival;
}

bool media__timemap_arrival(media_timemap *m, int64_t media, int64_t arrival) {
    int64_t offset = arrival - media;
    int64_t jump = offset - m->offset;

    m->last = media;
    if (!m->started || jump > JUMP_NS || jump < -JUMP_NS) {
        bool again = m->started;
        restart(m, offset, arrival);
        return again;
    }
    if (offset < m->offset) {
        m->offset = offset;
    }
    if (offset < m->least[0]) {
        m->least[0] = offset;
    }
    if (arrival - m->window_start >= WINDOW_NS) {
        timemap_close_window(m, offset, arrival);
    }
    return false;
}

int64_t media__timemap_local(const media_timemap *m, int64_t media) {
    return media + m->offset;
}

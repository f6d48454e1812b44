/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Keeps the trains of a stream on a long path from overflowing the queue.
 *
 * A window that the stream does not fill may exceed the pipe for long. Its key
 * frames then leave faster than the link carries them. On a short path their
 * queue shows in the RTT; on a long one it is gone before the round trip ends.
 * So they are paced at little more than the rate that the link has shown
 * (peak_rate.h).
 */
#ifndef LIBCONGESTION_PACE_LIMIT_H
#define LIBCONGESTION_PACE_LIMIT_H

#include "libcongestion/peak_rate.h"

struct cong__pace_limit {
    unsigned char unfilled; /* round trips, up to two, in which the window was
                               no limit */
};

/* Processes a feedback, after the peak rate did; base: RTT without a queue, ns;
 * peak: NULL while other flows fill the queue. Returns the highest pacing rate,
 * bytes/s; 0: no limit. */
double cong__pace_limit_ack(struct cong__pace_limit *l,
                            const struct cong_ack *ack, double base,
                            const struct cong__peak_rate *peak);

#endif /* LIBCONGESTION_PACE_LIMIT_H */

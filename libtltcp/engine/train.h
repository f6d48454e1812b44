/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_TRAIN_H
#define LIBTLTCP_TRAIN_H

#include <congestion/congestion.h>
#include <stdbool.h>

/* Packets that left close behind each other, by their ACKs: what passes
 * between the first and the last shows what the path carries, although the
 * application has not filled it. */
typedef struct tltcp__train {
    cong_time sent_first, sent_last;
    cong_time came_first;
    double bytes; /* acknowledged since came_first */
} tltcp__train;

typedef struct tltcp__train_sample {
    double rate; /* bytes/s at which it passed, no more than it left at */
    bool slowed; /* the path spread it */
    bool tight;  /* it left faster than the path is known to carry */
} tltcp__train_sample;

/* One feedback; rate is what the path is known to carry, held for how long the
 * peer held the feedback back.  True when the train shows something. */
bool tltcp__train_on_ack(tltcp__train *t, double rate, double mss,
                         const struct cong_ack *ack, cong_time held,
                         tltcp__train_sample *out);

#endif /* LIBTLTCP_TRAIN_H */

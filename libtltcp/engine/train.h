/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_TRAIN_H
#define LIBTLTCP_TRAIN_H

#include <congestion/congestion.h>
#include <stdbool.h>

/* Packet trains: packets sent back to back. The rate of their ACKs shows the
 * bandwidth even if the application does not fill the path. */
typedef struct tltcp__train {
    cong_time sent_first, sent_last;
    cong_time came_first;
    double bytes; /* acknowledged since came_first */
} tltcp__train;

typedef struct tltcp__train_sample {
    double rate; /* bytes/s delivered, at most the rate at which it was sent */
    bool slowed; /* the path spread it */
    bool tight;  /* it was sent faster than the known bandwidth */
} tltcp__train_sample;

/* Processes one feedback; rate: known bandwidth; held: delay of the feedback at
 * the peer. True when the train gives a sample. */
bool tltcp__train_on_ack(tltcp__train *t, double rate, double mss,
                         const struct cong_ack *ack, cong_time held,
                         tltcp__train_sample *out);

#endif /* LIBTLTCP_TRAIN_H */

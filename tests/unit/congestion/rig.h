/* SPDX-License-Identifier: MPL-2.0 */
/* Drives one controller as a host would. */
#ifndef TESTS_RIG_H
#define TESTS_RIG_H

#include <congestion/congestion.h>

struct rig {
    struct cong *cc;
    struct cong_ack ack; /* what the next feedback says; n is put in */
    struct cong_rate_sample rs;
    cong_time now;
};

/* Milliseconds as time. */
static inline cong_time MS(double ms) {
    return (cong_time)(ms * 1e6 + 0.5);
}

/* The next of the random numbers from a seed (SplitMix64). */
uint64_t rig_draw(uint64_t *seed);

/* Starts a controller at time 0, in segments and with a window that nothing
 * limits; fails the test when there is none. */
void rig_start(struct rig *r, const char *name, cong_time rtt);
/* The same for segments of mss bytes and a window of cwnd_max at most. */
void rig_start_sized(struct rig *r, const char *name, double mss,
                     double cwnd_max, cong_time rtt);
/* Another, with a copy of the controller, that the first does not hear of. */
struct rig rig_copy(const struct rig *r);
void rig_stop(struct rig *r);
void rig_set(struct rig *r, const char *param, double value);
/* One feedback that delivers n bytes, window-limited, outside a recovery
 * period. */
void rig_ack(struct rig *r, double n);
/* The same, with an RTT sample. */
void rig_ack_rtt(struct rig *r, double n, cong_time rtt);
/* The same at the end of a round; rate < 0: without a rate sample. */
void rig_round(struct rig *r, double n, double rate);
void rig_event(struct rig *r, enum cong_cause cause, double flight,
               double missing, unsigned count);
/* One segment is lost of a full window of cwnd. */
void rig_lose_at(struct rig *r, double cwnd);
/* Both windows are acknowledged every 100 ms for two seconds; fails the test
 * if they then differ. */
void rig_grow_alike(struct rig *a, struct rig *b);
/* The internal state of a controller, whose struct the test knows. */
#define RIG_STATE(r, type) ((type *)(void *)(r)->cc)

#endif /* TESTS_RIG_H */

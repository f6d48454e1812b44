/* SPDX-License-Identifier: MPL-2.0 */
/* Every controller, told anything in any order: its outputs stay within bounds,
 * and the same events give the same state. */
#include <math.h>
#include <string.h>

#include <congestion/congestion.h>

#include "tests/fuzz/script.h"

#define STATE_MAX 4096

/* Room for any controller, aligned as malloc() would. */
union state {
    struct cong cc;
    max_align_t align;
    unsigned char room[STATE_MAX];
};

/* Mostly small; at times what a double can hold. */
static double number(struct script *in, double scale) {
    uint64_t bits;
    double x;
    if (script_below(in, 8) != 0) {
        return (double)script_number(in, 2) / 256 * scale;
    }
    bits = script_number(in, 8);
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static cong_time duration(struct script *in) {
    if (script_below(in, 8) != 0) {
        return (cong_time)script_number(in, 2) * 10000;
    }
    return (cong_time)script_number(in, 8);
}

static cong_time advance(struct script *in, cong_time now) {
    if (script_below(in, 16) == 0) {
        return duration(in); /* clocks can step */
    }
    return now < INT64_MAX / 2 ? now + (cong_time)script_number(in, 2) * 1000
                               : now;
}

static void feed_ack(struct script *in, struct cong *cc, cong_time now) {
    double mss = cc->mss;
    unsigned flags = (unsigned)script_number(in, 1);
    struct cong_rate_sample rs = {.rate = number(in, 1e4),
                                  .delivered = number(in, mss),
                                  .tx_in_flight = number(in, mss),
                                  .lost = number(in, mss),
                                  .interval = duration(in),
                                  .app_limited = (flags & 1) != 0};
    struct cong_ack ack = {.now = now,
                           .rtt = duration(in),
                           .min_rtt = duration(in),
                           .srtt = duration(in),
                           .acked = number(in, mss),
                           .lost = number(in, mss / 8),
                           .flight = number(in, mss),
                           .p = number(in, 1.0 / 256),
                           .x_recv = number(in, 1e4),
                           .rs = (flags & 2) != 0 ? &rs : NULL,
                           .probes_acked = (unsigned)script_number(in, 1),
                           .round = (flags & 4) != 0,
                           .limited = (flags & 8) != 0,
                           .recovery = (flags & 16) != 0,
                           .ce = (flags & 32) != 0 ? number(in, mss) : 0};
    cc->ops->ack(cc, &ack);
}

static void feed_event(struct script *in, struct cong *cc, cong_time now) {
    struct cong_event ev = {
        .now = now,
        .cause = (enum cong_cause)script_below(in, (uint64_t)CONG_UNDO + 1),
        .flight = number(in, cc->mss),
        .missing = number(in, cc->mss),
        .count = (unsigned)script_number(in, 1)};
    cc->ops->event(cc, &ev);
}

static void check(const struct cong *cc) {
    bool rate_only = isinf(cc->cwnd_max) && cc->pacing_rate > 0;
    FUZZ_CHECK(cc->cwnd >= cc->mss && cc->cwnd <= cc->cwnd_max);
    FUZZ_CHECK(isfinite(cc->cwnd) || rate_only);
    FUZZ_CHECK(cc->ssthresh >= cc->mss);
    FUZZ_CHECK(cc->pacing_rate >= 0 && isfinite(cc->pacing_rate));
    FUZZ_CHECK(cc->feedback_timeout >= 0 && cc->probe_gap >= 0);
}

static void set_something(struct script *in, struct cong *cc) {
    static const char *const params[] = {
        "iw",   "alpha", "beta", "chi", "literal", "eq_hold", "tau",
        "rate", "C",     "rwnd", "g",   "T0",      "hystart"};
    const char *param = params[script_below(in, 13)];
    (void)cong_set(cc, param, number(in, 1));
}

static void play(struct script in, const struct cong_ops *ops,
                 union state *at) {
    double mss = number(&in, 256);
    double cwnd_max = number(&in, 256e3);
    cong_time now = duration(&in);
    cong_init(&at->cc, ops, mss, cwnd_max, now, duration(&in));
    check(&at->cc);
    while (script_left(&in)) {
        uint64_t what = script_below(&in, 16);
        now = advance(&in, now);
        if (what == 0) {
            set_something(&in, &at->cc);
        } else if (what < 4) {
            feed_event(&in, &at->cc, now);
        } else {
            feed_ack(&in, &at->cc, now);
        }
        check(&at->cc);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    static union state first;
    static union state again;
    struct script s = {in, in + size};
    const char *const *names = cong_list();
    uint64_t n = 0;
    while (names[n] != NULL) {
        n++;
    }
    const struct cong_ops *ops = cong_find(names[script_below(&s, n)]);
    FUZZ_CHECK(ops != NULL && ops->size <= STATE_MAX);
    play(s, ops, &first);
    play(s, ops, &again);
    FUZZ_CHECK(memcmp(&first, &again, ops->size) == 0);
    return 0;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Random but legal histories, as hosts make them: each controller behind a
 * host that sends numbered packets over a path that delays, loses, marks,
 * reorders and changes, and whose application, clock and settings do as well.
 * What must hold for every controller is checked at each step. */
#include "tests/support/cmocka.h"
#include "tests/unit/congestion/rig.h"

#include <congestion/rate.h>
#include <congestion/recovery_period.h>
#include <congestion/rtt.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 12
#define STEPS 2000
#define FATES 4096 /* packets remembered */

enum fate { FLYING, LOST, DONE };

struct packet {
    cong_time sent;
    cong_time due; /* of its ACK, while it flies; -1: it is lost */
    enum fate fate;
    bool marked;
    struct cong_rate_snapshot snap;
};

/* The reference of the check. */
struct before {
    double cwnd;
    double ssthresh;
};

struct history {
    struct cong *cc;
    struct cong_recovery_period period;
    struct cong_rtt rtt;
    struct cong_rate rate;
    struct packet packet[FATES];
    uint64_t seed;
    uint64_t next;   /* packet */
    uint64_t oldest; /* that is not settled */
    uint64_t round;  /* ends with the ACK of this one */
    cong_time real;  /* time that only goes on */
    cong_time step;  /* what the host's clock is off */
    cong_time base;  /* RTT of the route */
    double loss;     /* share */
    double marks;
    double budget; /* bytes by which the window may still grow */
    unsigned expiries;
    cong_time last_ack;
    bool limited;
    bool jumps; /* what it adds at the end of a round has another bound */
    char what[64];
};

/* That it all happened. */
static struct happened {
    unsigned undone;
    unsigned entered;
    unsigned repeated;
    unsigned restarted;
    unsigned expired;
    unsigned marked;
} happened;

static uint64_t draw(struct history *h) {
    uint64_t z = h->seed += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static bool one_in(struct history *h, unsigned n) {
    return draw(h) % n == 0;
}

static double fraction(struct history *h) {
    return (double)(draw(h) >> 11) / 9007199254740992;
}

static cong_time host_now(const struct history *h) {
    return h->real + h->step;
}

static struct packet *packet_at(struct history *h, uint64_t number) {
    return &h->packet[number % FATES];
}

static double flight(const struct history *h) {
    double n = 0;
    for (uint64_t i = h->oldest; i < h->next; i++) {
        n += h->packet[i % FATES].fate == FLYING;
    }
    return n * h->cc->mss;
}

/* ---- what must hold ---- */

static void check_same(const struct history *h, double is, double should) {
    bool same = isinf(is) && isinf(should);
    if (!same && !(fabs(is - should) <= 1e-9 * fabs(should))) {
        fail_msg("%s %s: %g is not %g", h->cc->ops->name, h->what, is, should);
    }
}

static void check_bounds(const struct history *h) {
    const struct cong *cc = h->cc;
    bool rate_only = isinf(cc->cwnd);
    if (!(cc->cwnd >= cc->mss && cc->cwnd <= cc->cwnd_max) ||
        (rate_only && !(cc->pacing_rate > 0)) || !(cc->ssthresh >= cc->mss) ||
        !(cc->pacing_rate >= 0 && cc->pacing_rate < 1e17)) {
        fail_msg("%s %s: window %g of %g, threshold %g, rate %g", cc->ops->name,
                 h->what, cc->cwnd, cc->cwnd_max, cc->ssthresh,
                 cc->pacing_rate);
    }
}

/* By rounds or by feedbacks, never more in all than slow start.  BBR takes up
 * again what it had before ProbeRTT, Mod WestwoodNew adds what the path
 * carries.
 */
static bool has_jumps(const char *name) {
    return strcmp(name, "bbr") == 0 || strcmp(name, "mod-westwoodnew") == 0;
}

static void check_growth(struct history *h, double acked,
                         const struct before *b) {
    double grown = h->cc->cwnd - b->cwnd;
    h->budget = fmin(h->budget + acked, 2 * h->cc->cwnd + 64 * h->cc->mss);
    h->budget -= grown > 0 && !h->jumps ? grown : 0;
    if (h->budget < -1e-6 * h->cc->cwnd) {
        fail_msg("%s %s: grew by %g of %g delivered, %g too much",
                 h->cc->ops->name, h->what, grown, acked, -h->budget);
    }
}

static void check_reduction(const struct history *h, const struct before *b) {
    /* vegas and fast do not go below two segments */
    double floor = 2 * h->cc->mss;
    if (h->cc->cwnd > fmax(b->cwnd, floor) * (1 + 1e-12) && !h->jumps) {
        fail_msg("%s %s: a reduction from %g to %g", h->cc->ops->name, h->what,
                 b->cwnd, h->cc->cwnd);
    }
}

/* ---- the host ---- */

static void send_packet(struct history *h) {
    struct packet *p = packet_at(h, h->next);
    double jitter = 0.2 * fraction(h) * fraction(h);
    bool lost = fraction(h) < h->loss;
    *p = (struct packet){.sent = host_now(h), .fate = FLYING};
    p->due = lost ? -1 : h->real + (cong_time)((double)h->base * (1 + jitter));
    p->marked = fraction(h) < h->marks;
    cong_rate_on_sent(&h->rate, &p->snap, flight(h), h->cc->mss, host_now(h));
    h->next++;
}

static void send_some(struct history *h, bool greedy) {
    unsigned most = greedy ? 400 : 1 + (unsigned)(draw(h) % 6);
    double out = flight(h);
    h->limited = h->limited || greedy;
    for (unsigned i = 0; i < most && out + h->cc->mss <= h->cc->cwnd &&
                         h->next - h->oldest < FATES - 8;
         i++) {
        send_packet(h);
        out += h->cc->mss;
    }
}

static struct cong_recovery_report report_of(const struct history *h,
                                             double out) {
    return (struct cong_recovery_report){
        .now = host_now(h), .next = h->next, .flight = out};
}

static void settle(struct history *h) {
    while (h->oldest < h->next && packet_at(h, h->oldest)->fate != FLYING) {
        h->oldest++;
    }
    (void)cong_recovery_period_end(&h->period, h->cc, h->oldest, flight(h),
                                   host_now(h));
}

/* A packet that three later ones overtook is lost; RACK would wait a little. */
static double detect(struct history *h, uint64_t newest) {
    double lost = 0;
    for (uint64_t i = h->oldest; i + 3 < newest; i++) {
        struct packet *p = packet_at(h, i);
        if (p->fate == FLYING) {
            p->fate = LOST;
            lost += h->cc->mss;
            cong_recovery_period_on_lost(&h->period, i, one_in(h, 20) ? 2 : 1);
        }
    }
    return lost;
}

static void take_packet(struct history *h, uint64_t number,
                        struct cong_ack *ack) {
    struct packet *p = packet_at(h, number);
    if (p->fate == LOST) {
        cong_recovery_period_on_late(&h->period, number);
    } else {
        cong_time rtt = host_now(h) - p->sent;
        ack->acked += h->cc->mss;
        ack->rtt = rtt > 0 ? rtt : -1;
        cong_rtt_sample_at(&h->rtt, rtt, host_now(h));
        cong_rate_on_acked(&h->rate, &p->snap, h->cc->mss, host_now(h));
    }
    if (p->marked) {
        happened.marked++;
        ack->ce += p->fate == FLYING ? h->cc->mss : 0;
        cong_recovery_period_on_ce(&h->period, number);
    }
    p->fate = DONE;
    ack->round = ack->round || number >= h->round;
}

static struct before before_of(const struct history *h) {
    return (struct before){h->cc->cwnd, h->cc->ssthresh};
}

static void report(struct history *h, double out) {
    struct before b = before_of(h);
    double saved = h->period.cwnd;
    double threshold = h->period.ssthresh;
    bool was_final = h->period.final;
    const struct cong_recovery_report r = report_of(h, out);
    unsigned outcome = cong_recovery_period_report(&h->period, h->cc, &r);
    happened.undone += (outcome & CONG_RECOVERY_UNDONE) != 0;
    happened.entered += (outcome & CONG_RECOVERY_ENTERED) != 0;
    happened.repeated += (outcome & CONG_RECOVERY_REPEATED) != 0;
    happened.restarted += (outcome & CONG_RECOVERY_RESTARTED) != 0;
    if ((outcome & CONG_RECOVERY_UNDONE) != 0) {
        assert_false(was_final);
        if ((outcome & CONG_RECOVERY_ENTERED) == 0 && !h->jumps) {
            double most = fmin(fmax(b.cwnd, saved), h->cc->cwnd_max);
            check_same(h, h->cc->cwnd, most);
            check_same(h, h->cc->ssthresh, fmax(b.ssthresh, threshold));
        }
    } else if (outcome != 0) {
        check_reduction(h, &b);
    }
    if ((outcome & CONG_RECOVERY_RESTARTED) != 0) {
        for (uint64_t i = h->oldest; i < h->next; i++) {
            packet_at(h, i)->fate = DONE;
        }
    }
}

/* One feedback for all that has arrived. */
static void feedback(struct history *h, unsigned skip) {
    struct cong_rate_sample rs;
    struct cong_ack ack = {.now = host_now(h),
                           .rtt = -1,
                           .flight = flight(h),
                           .p = -1,
                           .x_recv = -1,
                           .limited = h->limited};
    uint64_t newest = 0;
    for (uint64_t i = h->oldest > 64 ? h->oldest - 64 : 0; i < h->next; i++) {
        struct packet *p = packet_at(h, i);
        if (p->fate != DONE && p->due >= 0 && p->due <= h->real &&
            (skip == 0 || !one_in(h, skip))) {
            take_packet(h, i, &ack);
            newest = i;
        }
    }
    ack.lost = detect(h, newest);
    if (!(ack.acked > 0) && !(ack.lost > 0)) {
        return;
    }
    if (ack.round) {
        h->round = h->next;
    }
    ack.srtt = h->rtt.srtt;
    ack.min_rtt = h->rtt.min_rtt;
    ack.recovery = cong_recovery_period_in_recovery(&h->period);
    if (cong_rate_sample(&h->rate, h->rtt.min_rtt, &rs)) {
        ack.rs = &rs;
    }
    struct before b = before_of(h);
    h->cc->ops->ack(h->cc, &ack);
    check_growth(h, ack.acked, &b);
    report(h, ack.flight);
    settle(h);
    h->limited = false;
    h->expiries = 0;
    h->last_ack = h->real;
}

static void expire(struct history *h) {
    struct before b = before_of(h);
    const struct cong_recovery_report r = report_of(h, flight(h));
    cong_recovery_period_timeout(&h->period, h->cc, &r, ++h->expiries);
    happened.expired++;
    check_reduction(h, &b);
    for (uint64_t i = h->oldest; i < h->next; i++) {
        packet_at(h, i)->fate = DONE;
    }
    settle(h);
    h->last_ack = h->real;
}

static void event(struct history *h, enum cong_cause cause, unsigned count) {
    const struct cong_event ev = {.now = host_now(h),
                                  .cause = cause,
                                  .flight = flight(h),
                                  .count = count};
    h->cc->ops->event(h->cc, &ev);
}

static void be_silent(struct history *h) {
    cong_time quiet = (cong_time)(draw(h) % 20000) * MS(1);
    struct before b = before_of(h);
    h->real += 4 * h->base;
    feedback(h, 0);
    while (h->oldest < h->next) {
        expire(h);
    }
    h->real += quiet;
    b = before_of(h);
    event(h, CONG_IDLE, (unsigned)(quiet / cong_rtt_rto(&h->rtt)));
    check_reduction(h, &b);
}

/* Actions of a host at any time. */
static void meddle(struct history *h) {
    struct cong *cc = h->cc;
    bool rate_only = isinf(cc->cwnd);
    switch (draw(h) % 9) {
    case 0:
        strcpy(h->what, "after a silence");
        be_silent(h);
        break;
    case 1:
        strcpy(h->what, "after the host set the window");
        cc->cwnd = rate_only ? cc->cwnd
                             : fmin(cc->mss * (double)(2 + draw(h) % 200),
                                    cc->cwnd_max);
        break;
    case 2:
        strcpy(h->what, "after the host set the bound");
        if (!rate_only) {
            cc->cwnd_max = cc->mss * (double)(20 + draw(h) % 2000);
            cc->cwnd = fmin(cc->cwnd, cc->cwnd_max);
        }
        break;
    case 3:
        strcpy(h->what, "after the route changed");
        h->base = MS((double)(1 + draw(h) % 600));
        break;
    case 4:
        strcpy(h->what, "after the clock stepped");
        h->step += MS((double)(draw(h) % 7200000)) - MS(3600000);
        break;
    case 5:
        strcpy(h->what, "after the loss changed");
        h->loss = one_in(h, 2) ? 0 : 0.1 * fraction(h) * fraction(h);
        h->marks = one_in(h, 2) ? 0 : 0.1 * fraction(h);
        break;
    case 6:
        strcpy(h->what, "after the host set the threshold");
        cc->ssthresh = cc->mss * (double)(2 + draw(h) % 300);
        break;
    case 7:
        strcpy(h->what, "after a timeout");
        if (h->oldest < h->next) {
            expire(h);
        }
        break;
    default:
        strcpy(h->what, "after the RTT rose");
        h->base += h->base / 3;
        break;
    }
}

static void live(struct history *h) {
    unsigned how = (unsigned)(draw(h) % 16);
    h->real += (cong_time)((double)h->base * fraction(h) * 0.3);
    send_some(h, how < 12);
    feedback(h, how == 0 ? 3 : 0);
    check_bounds(h);
    if (h->oldest < h->next &&
        h->real - h->last_ack > 3 * h->base + cong_rtt_rto(&h->rtt)) {
        expire(h);
    }
    if (one_in(h, 60)) {
        meddle(h);
        h->budget = fmax(h->budget, 0);
    }
    check_bounds(h);
}

static struct history *history_of(const char *name, uint64_t seed) {
    static const double sizes[] = {1, 1200, 8948};
    const struct cong_ops *ops = cong_find(name);
    struct history *h = calloc(1, sizeof(*h));
    double mss = sizes[seed % 3];
    assert_non_null(h);
    h->cc = malloc(ops->size);
    assert_non_null(h->cc);
    h->seed = seed * 7919;
    h->base = MS((double)(5 + draw(h) % 300));
    h->real = MS(1000);
    h->loss = seed % 2 == 0 ? 0.01 : 0;
    h->budget = 64 * mss;
    h->jumps = has_jumps(name);
    strcpy(h->what, "at first");
    cong_init(h->cc, ops, mss, mss * (seed % 4 == 0 ? 200 : 1000), host_now(h),
              -1);
    cong_recovery_period_init(&h->period, 0);
    cong_rtt_init(&h->rtt, MS(1), MS(200));
    cong_rate_init(&h->rate);
    return h;
}

static void history_free(struct history *h) {
    free(h->cc);
    free(h);
}

TEST(controllers_keep_their_word_over_any_history) {
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct history *h = history_of(*name, seed);
            for (unsigned i = 0; i < STEPS; i++) {
                live(h);
            }
            assert_true(h->next > 100); /* it went on sending */
            history_free(h);
        }
    }
}

TEST(everything_happens_in_these_histories) {
    /* after the test above */
    assert_true(happened.undone > 100);
    assert_true(happened.entered > 1000);
    assert_true(happened.repeated > 100);
    assert_true(happened.restarted > 100);
    assert_true(happened.expired > 1000);
    assert_true(happened.marked > 1000);
}

/* One round trip: the whole window is acknowledged, by single ACKs or at once.
 */
static void mirror_round(struct rig *r, bool single, cong_time rtt) {
    double left = floor(r->cc->cwnd);
    double n = single ? 1 : left;
    cong_time begin = r->now;
    r->ack.flight = left;
    r->rs = (struct cong_rate_sample){.rate = left * 1e9 / (double)rtt};
    for (unsigned k = 1; k * n <= left; k++) {
        double done = k * n;
        r->now = begin + (cong_time)((double)rtt * done / left);
        r->ack.round = done + n > left;
        r->ack.rs = r->ack.round ? &r->rs : NULL;
        rig_ack_rtt(r, n, rtt);
    }
    r->now = begin + rtt;
}

static void mirror_event(struct rig *r, unsigned which) {
    double flight = floor(r->cc->cwnd);
    switch (which) {
    case 0:
    case 1:
        rig_event(r, CONG_LOSS, flight, 1, 1);
        rig_event(r, CONG_RECOVERED, 0, 0, 0);
        break;
    case 2:
        rig_event(r, CONG_ECN, flight, 0, 1);
        rig_event(r, CONG_RECOVERED, 0, 0, 0);
        break;
    case 3:
        rig_event(r, CONG_RTO, flight, flight, 1);
        rig_event(r, CONG_RECOVERED, 0, 0, 0);
        break;
    default:
        rig_event(r, CONG_IDLE, 0, 0, 2);
        break;
    }
}

/* Saratoga's feedback is one STATUS per round trip, TLTCP's one ACK per packet.
 * Yam takes one step and FAST one RTT per feedback; Mod
 * WestwoodNew adds a pipe or none by the ratio of two rounds. */
TEST(aggregated_feedback_agrees_with_single_acks) {
    static const char *const names[] = {
        "auto", "cubic", "newreno",  "peach",       "reno",
        "sack", "tahoe", "westwood", "westwoodnew", "vegas"};
    for (size_t i = 0; i < 10 * SEEDS; i++) {
        struct history dice = {.seed = i};
        struct rig one;
        struct rig all;
        rig_start_sized(&one, names[i % 10], 1, 500, -1);
        rig_start_sized(&all, names[i % 10], 1, 500, -1);
        for (unsigned n = 0; n < 120; n++) {
            cong_time rtt = MS((double)(100 + draw(&dice) % 3));
            mirror_round(&one, true, rtt);
            mirror_round(&all, false, rtt);
            if (one_in(&dice, 25)) {
                unsigned which = (unsigned)(draw(&dice) % 5);
                mirror_event(&one, which);
                mirror_event(&all, which);
            }
            if (fabs(one.cc->cwnd - all.cc->cwnd) > 0.05 * one.cc->cwnd + 2) {
                fail_msg("%s round %u: %g by single ACKs, %g at once",
                         names[i % 10], n, one.cc->cwnd, all.cc->cwnd);
            }
        }
        rig_stop(&one);
        rig_stop(&all);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controllers_keep_their_word_over_any_history),
        cmocka_unit_test(everything_happens_in_these_histories),
        cmocka_unit_test(aggregated_feedback_agrees_with_single_acks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

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
    double link;     /* rate of its bottleneck, bytes/ns; 0: none */
    cong_time idle;  /* when that has sent all it has */
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
    return rig_draw(&h->seed);
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

/* When a packet of now is there: after those in the queue of the bottleneck,
 * which holds what passes in a round trip, at least 50 ms; -1: dropped. */
static cong_time pass_bottleneck(struct history *h) {
    cong_time wait = h->idle > h->real ? h->idle - h->real : 0;
    if (h->link <= 0) {
        return h->real;
    }
    if (wait > h->base && wait > MS(50)) {
        return -1;
    }
    h->idle = h->real + wait + (cong_time)(h->cc->mss / h->link);
    return h->idle;
}

static void send_packet(struct history *h) {
    struct packet *p = packet_at(h, h->next);
    double jitter = 0.2 * fraction(h) * fraction(h);
    bool lost = fraction(h) < h->loss;
    cong_time passed = pass_bottleneck(h);
    *p = (struct packet){.sent = host_now(h), .fate = FLYING};
    jitter = h->link > 0 ? 0 : jitter;
    p->due = lost || passed < 0
                 ? -1
                 : passed + (cong_time)((double)h->base * (1 + jitter));
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
    if (seed % 4 == 3) {
        h->link = mss * (double)(20 + draw(h) % 100) / (double)h->base;
    }
    strcpy(h->what, "at first");
    cong_init(h->cc, ops, mss, mss * (seed % 4 == 0 ? 200 : 1000), host_now(h),
              -1);
    cong_recovery_period_init(&h->period, 0);
    cong_rtt_init(&h->rtt, MS(1), MS(200));
    cong_rate_init(&h->rate);
    return h;
}

/* A controller, and one like it that hears the same by a clock that never steps
 * back: the time between two readings does not count there. */
static struct {
    const struct cong_ops *ops; /* of both */
    struct cong *twin;
    cong_time newest; /* of the host's clock */
    cong_time skipped;
} spy;

static cong_time spy_clock(cong_time now) {
    spy.skipped += now < spy.newest ? spy.newest - now : 0;
    spy.newest = now;
    return now + spy.skipped;
}

/* What the host sets. */
static void spy_begin(const struct cong *cc) {
    spy.twin->cwnd = cc->cwnd;
    spy.twin->cwnd_max = cc->cwnd_max;
    spy.twin->ssthresh = cc->ssthresh;
    spy.twin->probes = cc->probes;
}

static void spy_check(const struct cong *cc) {
    const struct cong *t = spy.twin;
    if (cc->cwnd != t->cwnd || cc->ssthresh != t->ssthresh ||
        cc->pacing_rate != t->pacing_rate || cc->probes != t->probes ||
        cc->probe_gap != t->probe_gap || cc->queue != t->queue ||
        cc->feedback_timeout != t->feedback_timeout) {
        fail_msg("%s: window %g is not %g, threshold %g, %g, rate %g, %g",
                 spy.ops->name, cc->cwnd, t->cwnd, cc->ssthresh, t->ssthresh,
                 cc->pacing_rate, t->pacing_rate);
    }
}

static void spy_ack(struct cong *cc, const struct cong_ack *ack) {
    struct cong_ack heard = *ack;
    spy_begin(cc);
    heard.now = spy_clock(ack->now);
    spy.ops->ack(cc, ack);
    spy.ops->ack(spy.twin, &heard);
    spy_check(cc);
}

/* Others do not look at the time of events, so that these do not tell of a
 * step. */
static bool times_events(const char *name) {
    static const char *const those[] = {"auto",  "bbr",  "cubic",   "peach",
                                        "stfrc", "tfrc", "westwood"};
    for (size_t i = 0; i < sizeof(those) / sizeof(those[0]); i++) {
        if (strcmp(name, those[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void spy_event(struct cong *cc, const struct cong_event *ev) {
    struct cong_event heard = *ev;
    spy_begin(cc);
    if (times_events(spy.ops->name)) {
        heard.now = spy_clock(ev->now);
    }
    spy.ops->event(cc, ev);
    spy.ops->event(spy.twin, &heard);
    spy_check(cc);
}

static struct cong_ops spy_on(struct history *h) {
    struct cong_ops ops = *h->cc->ops;
    spy.ops = h->cc->ops;
    spy.newest = host_now(h);
    spy.skipped = 0;
    spy.twin = malloc(ops.size);
    assert_non_null(spy.twin);
    memcpy(spy.twin, h->cc, ops.size);
    ops.ack = spy_ack;
    ops.event = spy_event;
    return ops;
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

TEST(a_clock_that_steps_back_reads_as_if_no_time_had_passed) {
    unsigned stepped = 0;
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct history *h = history_of(*name, seed);
            const struct cong_ops ops = spy_on(h);
            h->cc->ops = &ops;
            for (unsigned i = 0; i < STEPS; i++) {
                live(h);
            }
            stepped += spy.skipped > 0;
            free(spy.twin);
            history_free(h);
        }
    }
    assert_true(stepped > SEEDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controllers_keep_their_word_over_any_history),
        cmocka_unit_test(everything_happens_in_these_histories),
        cmocka_unit_test(
            a_clock_that_steps_back_reads_as_if_no_time_had_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The sender's bookkeeping: the worked example of the sender-based TFRC. */
#include <math.h>

#include <congestion/tfrc.h>

#include "libsaratoga/engine/sentlog.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

#define S 1000u
#define STEP UINT64_C(12500000) /* 12.5 ms */
#define R INT64_C(140000000)

struct rig {
    struct test_alloc alloc;
    cmn__mem mem;
    saratoga__sentlog log;
    cmn__ranges missing;
    union {
        struct cong cc;
        unsigned char bytes[1024];
    } cong;
};

static int setup(void **state) {
    static struct rig r;
    const struct cong_ops *ops = cong_find("stfrc");
    memset(&r, 0, sizeof(r));
    r.mem = (cmn__mem){test_alloc_realloc, &r.alloc};
    saratoga__sentlog_init(&r.log, &r.mem, 1u << 18, 1000);
    cmn__ranges_init(&r.missing, &r.mem, 1000);
    assert_true(ops->size <= sizeof(r.cong));
    cong_init(&r.cong.cc, ops, S, (double)INFINITY, 0, R);
    *state = &r;
    return 0;
}

static int teardown(void **state) {
    struct rig *r = *state;
    saratoga__sentlog_free(&r->log);
    cmn__ranges_free(&r->missing);
    assert_int_equal(r->alloc.blocks, 0);
    return 0;
}

/* Transmission d leaves at 12.5 d ms; each tenth asks. */
static void send(struct rig *r, uint64_t offset, bool again) {
    uint64_t d = r->log.ring.tail;
    saratoga__sent x = {.offset = offset,
                        .timestamp = 1000 * d,
                        .at = d * STEP,
                        .len = S,
                        .asks = d % 10 == 0,
                        .again = again};
    assert_int_equal(saratoga__sentlog_add(&r->log, &x), d);
}

static void send_new(struct rig *r, uint64_t first, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        send(r, first + i * S, false);
    }
}

static void miss(struct rig *r, uint64_t offset) {
    assert_int_equal(cmn__ranges_add(&r->missing, offset, offset + S, NULL), 0);
}

static saratoga__cycle status(struct rig *r, uint64_t d, uint64_t irt) {
    const saratoga__path path = {.rtt = R, .symmetry = 0.65, .mss = S};
    const saratoga__sent *asked = saratoga__sentlog_at(&r->log, d);
    struct cong_ack ack = {.now = (cong_time)asked->at + R,
                           .rtt = R,
                           .min_rtt = R,
                           .srtt = R,
                           .limited = true};
    saratoga__cycle c;
    assert_true(
        saratoga__sentlog_cycle(&r->log, d, irt, &r->missing, &path, &c));
    ack.p = c.p;
    ack.x_recv = c.x_recv;
    ack.acked = c.acked;
    ack.lost = c.lost;
    r->cong.cc.ops->ack(&r->cong.cc, &ack);
    cmn__ranges_clear(&r->missing);
    return c;
}

#define assert_near(x, want) \
    assert_true(fabs((x) - (want)) <= 1e-5 * fabs(want))

TEST(stfrc_1_cycles_and_loss_events_of_the_worked_example) {
    struct rig *r = *state;
    saratoga__cycle c;
    send_new(r, 0, 20);
    miss(r, 3000);
    miss(r, 6000);
    c = status(r, 10, 10000);
    assert_int_equal(c.first, 1);
    assert_int_equal(c.last, 10);
    assert_int_equal(c.lost_packets, 2);
    assert_int_equal(r->log.stfrc.events, 1);
    assert_near(c.p, 0.0174583);
    assert_near(c.x_recv, 57142.9);
    assert_near(r->log.stfrc.history.interval[0], 7.0);
    assert_near(r->log.stfrc.history.interval[1], 57.2794);
    assert_near(r->cong.cc.pacing_rate, 57142.9);

    send_new(r, 20000, 1);
    send(r, 3000, true);
    send(r, 6000, true);
    send_new(r, 21000, 7);
    miss(r, 3000);
    miss(r, 15000);
    miss(r, 25000);
    c = status(r, 30, 28000); /* the answer to 20 was lost */
    assert_int_equal(c.first, 11);
    assert_int_equal(c.last, 30);
    assert_int_equal(c.lost_packets, 3);
    assert_int_equal(r->log.stfrc.events, 3);
    assert_near(c.p, 0.0369097);
    assert_near(c.x_recv, 71428.6);
    assert_near(r->log.stfrc.history.interval[0], 3.0);
    assert_near(r->log.stfrc.history.interval[1], 12.0);
    assert_near(r->log.stfrc.history.interval[2], 12.0);
    assert_near(r->cong.cc.pacing_rate, 33813.2);

    send_new(r, 28000, 10);
    send_new(r, 38000, 1);
    send(r, 3000, true);
    send(r, 15000, true);
    send(r, 25000, true);
    send_new(r, 39000, 6);
    miss(r, 3000); /* old news */
    miss(r, 15000);
    miss(r, 25000);
    miss(r, 32000);
    c = status(r, 40, 38000);
    assert_int_equal(c.first, 31);
    assert_int_equal(c.lost_packets, 1);
    assert_int_equal(r->log.stfrc.events, 3);
    assert_near(c.p, 0.0369097);
    assert_near(c.x_recv, 78571.4);
    assert_near(r->log.stfrc.history.interval[0], 13.0);
    assert_near(r->cong.cc.pacing_rate, 33813.2);
}

struct run {
    bool again;
    uint64_t offset;
    uint64_t first;
    uint64_t last;
};

/* The runs that the ring stands for. */
static size_t runs_of(const saratoga__sentlog *log, struct run *run) {
    size_t n = 0;
    for (uint64_t d = log->ring.head; d < log->ring.tail; d++) {
        const saratoga__sent *x = saratoga__sentlog_at(log, d);
        const struct run *last = n > 0 ? &run[n - 1] : NULL;
        bool fresh = n == 0 || saratoga__sentlog_at(log, d - 1)->asks;
        if (!fresh && !x->again && !last->again &&
            x->offset == last->offset + (d - last->first) * S) {
            run[n - 1].last = d;
        } else {
            run[n++] = (struct run){x->again, x->offset, d, d};
        }
    }
    return n;
}

TEST(stfrc_2_runs_of_new_data_and_of_repairs) {
    struct rig *r = *state;
    static const struct run want[] = {
        {false, 0, 1, 10},      {false, 10000, 11, 20}, {false, 20000, 21, 21},
        {true, 3000, 22, 22},   {true, 6000, 23, 23},   {false, 21000, 24, 30},
        {false, 28000, 31, 40}, {false, 38000, 41, 41}, {true, 3000, 42, 42},
        {true, 15000, 43, 43},  {true, 25000, 44, 44},  {false, 39000, 45, 50},
    };
    struct run run[64];
    send_new(r, 0, 21);
    send(r, 3000, true);
    send(r, 6000, true);
    send_new(r, 21000, 18);
    send(r, 3000, true);
    send(r, 15000, true);
    send(r, 25000, true);
    send_new(r, 39000, 6);
    assert_int_equal(runs_of(&r->log, run), 12);
    for (size_t i = 0; i < 12; i++) {
        assert_int_equal(run[i].again, want[i].again);
        assert_int_equal(run[i].offset, want[i].offset);
        assert_int_equal(run[i].first, want[i].first);
        assert_int_equal(run[i].last, want[i].last);
    }
}

TEST(an_echo_names_its_transmission) {
    struct rig *r = *state;
    send_new(r, 0, 30);
    assert_int_equal(saratoga__sentlog_by_timestamp(&r->log, 7000, 7000, 1), 7);
    assert_int_equal(saratoga__sentlog_by_timestamp(&r->log, 7001, 7999, 1), 0);
    /* Whole seconds: the one that ends at the answer's time. */
    assert_int_equal(saratoga__sentlog_by_timestamp(&r->log, 5000, 9999, 6000),
                     6);
    assert_int_equal(saratoga__sentlog_by_end(&r->log, 20000), 20);
    assert_int_equal(saratoga__sentlog_by_end(&r->log, 19000), 0);
    assert_int_equal(saratoga__sentlog_by_time(&r->log, 3 * STEP + 1), 3);
    assert_int_equal(saratoga__sentlog_by_time(&r->log, 1), 0);
}

TEST(repairs_under_way_are_not_sent_again) {
    struct rig *r = *state;
    cmn__range x;
    send_new(r, 0, 10);
    send(r, 3000, true);
    saratoga__sentlog_answered(&r->log, 10);
    assert_false(saratoga__sentlog_due(&r->log, 3000, 3000 + S, &x));
    assert_true(saratoga__sentlog_due(&r->log, 5000, 5000 + S, &x));
    assert_true(x.start == 5000 && x.end == 5000 + S);
    /* On both sides of it. */
    assert_true(saratoga__sentlog_due(&r->log, 2000, 3000 + 2 * S, &x));
    assert_true(x.start == 2000 && x.end == 3000);
    assert_true(saratoga__sentlog_due(&r->log, x.end, 3000 + 2 * S, &x));
    assert_true(x.start == 3000 + S && x.end == 3000 + 2 * S);
    assert_false(saratoga__sentlog_due(&r->log, x.end, x.end, &x));
    /* An answer to the repair speaks of it. */
    saratoga__sentlog_answered(&r->log, 11);
    assert_true(saratoga__sentlog_due(&r->log, 3000, 3000 + S, &x));
    assert_true(x.start == 3000 && x.end == 3000 + S);
}

TEST(the_log_keeps_no_more_than_it_may) {
    struct rig *r = *state;
    r->log.max = 16;
    send_new(r, 0, 100);
    assert_int_equal(cmn__ring_len(&r->log.ring), 16);
    assert_int_equal(r->log.flight, 16 * S);
    saratoga__sentlog_give_up(&r->log);
    assert_int_equal(r->log.flight, 0);
    assert_int_equal(r->log.done, 100);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(stfrc_1_cycles_and_loss_events_of_the_worked_example),
        T(stfrc_2_runs_of_new_data_and_of_repairs),
        T(an_echo_names_its_transmission),
        T(repairs_under_way_are_not_sent_again),
        T(the_log_keeps_no_more_than_it_may),
    };
    return cmocka_run_group_tests_name("sent log", tests, NULL, NULL);
}

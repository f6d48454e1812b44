/* SPDX-License-Identifier: MPL-2.0 */
/* Hostile input from a peer, and unusual sizes. */
#include <stdlib.h>

#include "internal/common/ranges.h"
#include "tests/simnet/saratoga/pass.h"
#include "tests/simnet/saratoga/raw.h"
#include "tests/support/alloc.h"

#define HUGE_SIZE (UINT64_C(1) << 40)
#define HOLES 100000u
#define PACKETS UINT64_C(120000)
#define STEP (HUGE_SIZE / (HOLES + 1))

static const char *const whole_get[] = {
    META_D, "23000000 00000007 0000 30313233",
    "23000000 00000007 0004 34353637", "23018000 00000007 0008 3839"};

static struct raw *counted(struct test_alloc *a) {
    saratoga_config c;
    saratoga_config_init(&c);
    c.status_packets = 2000;
    c.allocator = (saratoga_allocator){test_alloc_realloc, a};
    return raw_new(&c);
}

static void put64(uint8_t *p, uint64_t x) {
    for (int i = 7; i >= 0; i--) {
        p[i] = (uint8_t)x;
        x >>= 8;
    }
}

static struct raw *huge_receiver(struct test_alloc *a, struct xfer **x) {
    struct raw *r = counted(a);
    *x = raw_get(r, "d", NULL, 7);
    raw_hex(r,
            "22800000 00000007 8080 0000010000000000 00000001 00000001 6400");
    return r;
}

/* The work of a huge file is done by nobody. */
static void forget_work(struct raw *r) {
    saratoga_work w;
    while (saratoga_engine_next_work(r->h->sim.engine, &w) > 0) {
        (void)saratoga_engine_work_done(
            r->h->sim.engine, w.id,
            w.type == SARATOGA_WORK_READ ? (int64_t)w.len : 0, host_now(r->h));
    }
}

/* DATA with a 64-bit offset and two octets. */
static void feed(struct raw *r, uint64_t offset, bool asks) {
    uint8_t p[18] = {0x23, (uint8_t)(asks ? 0x81 : 0x80), 0, 0, 0, 0, 0, 7};
    put64(p + 8, offset);
    saratoga_engine_recv(r->h->sim.engine, &r->peer, p, sizeof(p),
                         host_now(r->h));
    forget_work(r);
}

/* The linker puts these in front of the functions that they are named after:
 * how much is done about holes is how often these are called. */
static uint64_t steps;

int __real_cmn__ranges_add(cmn__ranges *r, uint64_t start, uint64_t end,
                           uint64_t *added);
int __wrap_cmn__ranges_add(cmn__ranges *r, uint64_t start, uint64_t end,
                           uint64_t *added);
int __real_cmn__ranges_sub(cmn__ranges *r, uint64_t start, uint64_t end,
                           uint64_t *removed);
int __wrap_cmn__ranges_sub(cmn__ranges *r, uint64_t start, uint64_t end,
                           uint64_t *removed);
bool __real_cmn__ranges_next(const cmn__ranges *r, uint64_t x, cmn__range *out);
bool __wrap_cmn__ranges_next(const cmn__ranges *r, uint64_t x, cmn__range *out);
bool __real_cmn__ranges_near(const cmn__ranges *r, cmn__ranges_hint *hint,
                             uint64_t x, cmn__range *out);
bool __wrap_cmn__ranges_near(const cmn__ranges *r, cmn__ranges_hint *hint,
                             uint64_t x, cmn__range *out);

int __wrap_cmn__ranges_add(cmn__ranges *r, uint64_t start, uint64_t end,
                           uint64_t *added) {
    steps++;
    return __real_cmn__ranges_add(r, start, end, added);
}

int __wrap_cmn__ranges_sub(cmn__ranges *r, uint64_t start, uint64_t end,
                           uint64_t *removed) {
    steps++;
    return __real_cmn__ranges_sub(r, start, end, removed);
}

bool __wrap_cmn__ranges_next(const cmn__ranges *r, uint64_t x,
                             cmn__range *out) {
    steps++;
    return __real_cmn__ranges_next(r, x, out);
}

bool __wrap_cmn__ranges_near(const cmn__ranges *r, cmn__ranges_hint *hint,
                             uint64_t x, cmn__range *out) {
    steps++;
    return __real_cmn__ranges_near(r, hint, x, out);
}

TEST(a_hundred_thousand_holes_in_a_huge_file) {
    struct test_alloc a = {0};
    struct test_alloc b = {0};
    struct xfer *x;
    struct raw *r = huge_receiver(&a, &x);
    struct raw *s = counted(&b);
    struct disk_file *f = host_make_file(s->h, "d", 10, 1);
    saratoga_options o;
    uint64_t holes = 0;
    size_t first;
    for (uint64_t i = 1; i <= HOLES; i++) {
        feed(r, i * STEP, false);
    }
    r->seen = r->n;
    first = r->n;
    feed(r, HUGE_SIZE - 2, true);
    steps = 0;
    host_pump(r->h);
    assert_in_range(steps, HOLES, 2 * HOLES); /* one look a hole */
    for (size_t i = first; i < r->n; i++) {
        holes += (r->sent[i].len - 24) / 16;
        assert_int_equal(r->sent[i].bytes[1] & 2, 2); /* in parts */
    }
    assert_int_equal(holes, HOLES + 1);
    assert_true(a.peak < 32u << 20);

    saratoga_options_init(&o);
    o.rate_bps = 1000;
    o.timestamps = SARATOGA_TS_OFF;
    s->h->checksum = SARATOGA_NONE;
    s->h->answer_options = &o;
    f->size = HUGE_SIZE;
    s->h->disk_delay = SEC; /* never read */
    raw_hex(s, GET_D);
    steps = 0;
    for (size_t i = first; i < r->n; i++) {
        saratoga_engine_recv(s->h->sim.engine, &s->peer, r->sent[i].bytes,
                             r->sent[i].len, 0);
    }
    /* Found, kept twice, found again, to be sent. */
    assert_in_range(steps, HOLES, 5 * HOLES);
    assert_int_equal(host_stats(s->h, s->h->xfers).holes_reported, HOLES + 1);
    assert_true(b.peak < 32u << 20);
    f->size = 10;
    forget_work(s);
    s->h->n_pending = 0;
    forget_work(r);
    raw_free(r);
    raw_free(s);
}

/* Half of PACKETS small packets are lost before the first answer comes. */
TEST(tens_of_thousands_of_holes_are_repaired) {
    struct plan p = {200e6, 0, 20 * SEC, 0.5, 0, 3};
    saratoga_config cfg;
    saratoga_options o;
    struct world w;
    struct xfer *x;
    saratoga_config_init(&cfg);
    cfg.status_packets = 2000;
    saratoga_options_init(&o);
    o.rate_bps = 100000000;
    o.payload = 16;
    o.inactivity = 3600 * SEC;
    cfg.transfer = &o;
    w = world_new(&p, &cfg, &cfg);
    (void)host_make_file(w.sat, "f", 16 * PACKETS, 1);
    x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
    steps = 0;
    world_run(&w, 59 * SEC); /* the first answers are all in */
    assert_true(x->host->sim.sent_packets > PACKETS * 3 / 2);
    /* Some tens a packet for both sides; with each part of a list looked at
     * anew for all holes or repairs it is a thousand
     * and more. */
    assert_in_range(steps, PACKETS, 100 * PACKETS);
    world_finish(&w, x, 3600 * SEC);
    assert_int_equal(x->end.error, 0);
    assert_true(host_same(x->file, host_find_file(w.ground, "f")));
    world_free(&w);
}

TEST(a_status_that_lists_every_hole_is_cheap) {
    struct test_alloc a = {0};
    struct raw *r = counted(&a);
    saratoga_options o;
    size_t before;
    saratoga_options_init(&o);
    o.rate_bps = 1000000;
    r->h->answer_options = &o;
    (void)host_make_file(r->h, "d", 5000, 1);
    raw_hex(r, GET_D);
    raw_wait(r, 100 * MSEC);
    before = a.peak;
    raw_hex(r, "24800000 00000007 0000000000000000 ffffffffffffffff"
               " 0000000000000000 ffffffffffffffff");
    raw_hex(r, "24000000 00000007 ffff ffff");
    raw_hex(r, "24000000 00000007 0000 1388 1388 ffff 0010 0001");
    raw_hex(r, "24c00000 00000007 ffffffffffffffffffffffffffffffff"
               " ffffffffffffffffffffffffffffffff");
    raw_wait(r, SEC);
    assert_true(a.peak <= before + 4096);
    assert_false(r->h->xfers->done);
    raw_free(r);
}

/* The whole get with one octet of one packet changed: the file is right or not
 * there. */
static void play_get(const struct hex *pkt) {
    struct raw *r = raw_new(NULL);
    struct xfer *x = raw_get(r, "d", NULL, 7);
    for (int i = 0; i < 4; i++) {
        raw_recv(r, pkt[i].b, pkt[i].len);
    }
    raw_wait(r, 60 * SEC);
    assert_true(x->done);
    if (x->committed && x->end.verified) {
        assert_int_equal(x->file->size, 10);
        assert_memory_equal(x->file->data, "0123456789", 10);
    }
    raw_free(r);
}

TEST(every_bit_flipped_in_a_get) {
    struct hex pkt[4];
    for (int i = 0; i < 4; i++) {
        pkt[i] = unhex(whole_get[i]);
    }
    play_get(pkt);
    for (int i = 0; i < 4; i++) {
        for (size_t bit = 0; bit < 8 * pkt[i].len; bit++) {
            pkt[i].b[bit / 8] ^= (uint8_t)(1u << bit % 8);
            play_get(pkt);
            pkt[i].b[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

TEST(every_cut_of_a_get) {
    struct hex pkt[4];
    for (int i = 0; i < 4; i++) {
        pkt[i] = unhex(whole_get[i]);
    }
    for (int i = 0; i < 4; i++) {
        size_t len = pkt[i].len;
        for (pkt[i].len = 0; pkt[i].len < len; pkt[i].len++) {
            play_get(pkt);
        }
    }
}

TEST(every_bit_flipped_in_a_status) {
    static const char *const status[] = {
        "24000000 00000007 0004 000a 0004 0007",
        "24080000 00000007 00000000000000000000000000000004 0004 000a 00040007",
        "24010000 00000007 000a 000a", "24010000 00000007 0000 0000"};
    for (int i = 0; i < 4; i++) {
        struct hex p = unhex(status[i]);
        for (size_t bit = 0; bit < 8 * p.len; bit++) {
            struct raw *r = raw_new(NULL);
            saratoga_options o;
            saratoga_options_init(&o);
            o.rate_bps = 1000000;
            o.payload = 4;
            r->h->answer_options = &o;
            (void)host_make_file(r->h, "d", 10, 1);
            raw_hex(r, GET_D);
            raw_wait(r, 50 * MSEC);
            p.b[bit / 8] ^= (uint8_t)(1u << bit % 8);
            raw_recv(r, p.b, p.len);
            p.b[bit / 8] ^= (uint8_t)(1u << bit % 8);
            raw_wait(r, 60 * SEC);
            assert_true(r->h->xfers->done);
            raw_free(r);
        }
    }
}

TEST(metadata_that_change_end_the_session) {
    struct raw *r = raw_new(NULL);
    struct xfer *x = raw_get(r, "d", NULL, 7);
    raw_hex(r, whole_get[0]);
    raw_hex(r, "22000042 00000007 781e5e245d69b566979b86e28d23f2c7 8000 000b"
               " 21c86fea 21c86fea 6400");
    assert_true(x->done);
    assert_int_equal(x->end.error, SARATOGA_ERR_CHANGED);
    raw_free(r);
}

TEST(peers_with_the_same_id_do_not_meet) {
    struct raw *r = raw_new(NULL);
    struct xfer *x = raw_get(r, "d", NULL, 7);
    saratoga_pktinfo peer = r->peer;
    for (int i = 0; i < 4; i++) { /* somebody else's blind put */
        r->peer = (saratoga_pktinfo){.host = 55, .path = sim_address(54, 7)};
        raw_hex(r, i == 1 ? "23000000 00000007 0000 41414141" : whole_get[i]);
        r->peer = peer;
        raw_hex(r, whole_get[i]);
    }
    assert_true(x->done && x->end.verified);
    assert_memory_equal(x->file->data, "0123456789", 10);
    raw_free(r);
}

TEST(a_failure_from_elsewhere_ends_nothing) {
    struct raw *r = raw_new(NULL);
    struct xfer *x = raw_get(r, "d", NULL, 7);
    saratoga_pktinfo peer = r->peer;
    r->peer.host = 55;
    raw_hex(r, "24010001 00000007 0000 0000");
    assert_false(x->done);
    r->peer = peer;
    raw_hex(r, "24010001 00000007 0000 0000");
    assert_true(x->done);
    raw_free(r);
}

TEST(a_poll_may_overtake_the_first_octets_of_a_stream) {
    struct raw *r = raw_new(NULL);
    struct xfer *x = raw_get(r, "t", NULL, 7);
    raw_hex(r, "22300000 00000007 8200 0000 00000000 00000000 7400");
    raw_hex(r, "23310000 00000007 0004");
    raw_hex(r, "23300000 00000007 0000 30313233");
    assert_int_equal(x->file->size, 4);
    assert_memory_equal(x->file->data, "0123", 4);
    raw_free(r);
}

TEST(floods_cost_bounded_memory_and_few_answers) {
    struct test_alloc a = {0};
    struct raw *r = counted(&a);
    struct hex beacon = unhex("204f0000 7361742d31");
    uint8_t request[] = {0x21, 0x8f, 0, 1, 0, 0, 0, 0, 'x', 0};
    for (int i = 0; i < 20000; i++) { /* nobody looks at events meanwhile */
        saratoga_engine_recv(r->h->sim.engine, &r->peer, beacon.b, beacon.len,
                             0);
    }
    assert_true(a.peak < 2u << 20);
    r->h->refuse = true;
    r->h->refuse_status = SARATOGA_NOT_FOUND;
    for (uint32_t i = 1; i < 20000; i++) {
        request[4] = (uint8_t)(i >> 8);
        request[5] = (uint8_t)i;
        saratoga_engine_recv(r->h->sim.engine, &r->peer, request,
                             sizeof(request), 0);
    }
    host_pump(r->h);
    assert_true(r->n < 64 + 64 + 32); /* sessions of a host, and strays */
    assert_true(a.peak < 4u << 20);
    raw_free(r);
}

/* Unused refusals do not accumulate. */
TEST(after_a_long_silence_refusals_are_as_few_as_ever) {
    uint8_t request[] = {0x21, 0x8f, 0, 9, 0, 0, 0, 0, 'x', 0};
    struct raw *r = raw_new(NULL);
    for (int i = 0; i < 2; i++) {
        raw_wait(r, 1000 * SEC);
        r->n = 0;
        for (uint8_t id = 1; id < 200; id++) {
            request[7] = id;
            raw_recv(r, request, sizeof(request));
        }
        assert_int_equal(r->n,
                         20); /* a second's, saratoga_config::error_rate */
    }
    raw_free(r);
}

TEST(a_status_is_never_answered) {
    struct raw *r = raw_new(NULL);
    raw_hex(r, "24000000 00000007 0004 000a 0004 0007");
    raw_hex(r, "24010006 00000007 0000 0000");
    raw_wait(r, SEC);
    assert_silent(r);
    raw_free(r);
}

TEST(memory_may_end_at_any_moment) {
    for (uint64_t at = 1; at < 60; at++) {
        struct test_alloc a = {.fail_at = at};
        saratoga_config c;
        saratoga_engine *n = NULL;
        uint8_t seed[SARATOGA_SEED_LEN] = {1};
        saratoga_pktinfo peer = {.host = 1, .path = 1};
        saratoga_config_init(&c);
        c.allocator = (saratoga_allocator){test_alloc_realloc, &a};
        if (saratoga_engine_new(&n, &c, seed, 0) == 0) {
            saratoga_event ev;
            for (int i = 0; i < 4; i++) {
                struct hex p = unhex(whole_get[i]);
                saratoga_work w;
                saratoga_engine_recv(n, &peer, p.b, p.len, 0);
                while (saratoga_engine_next_event(n, &ev) > 0) {
                    if (ev.type == SARATOGA_EVENT_REQUEST) {
                        (void)saratoga_transfer_accept(n, ev.handle, NULL, 0);
                    }
                }
                while (saratoga_engine_next_work(n, &w) > 0) {
                    (void)saratoga_engine_work_done(n, w.id, 0, 0);
                }
            }
            saratoga_engine_on_timeout(n, 60 * SEC);
        }
        saratoga_engine_free(n);
        assert_int_equal(a.blocks, 0);
    }
}

int main(void) {
#define T(f) cmocka_unit_test(f)
    const struct CMUnitTest tests[] = {
        T(a_hundred_thousand_holes_in_a_huge_file),
        T(tens_of_thousands_of_holes_are_repaired),
        T(a_status_that_lists_every_hole_is_cheap),
        T(every_bit_flipped_in_a_get),
        T(every_cut_of_a_get),
        T(every_bit_flipped_in_a_status),
        T(metadata_that_change_end_the_session),
        T(peers_with_the_same_id_do_not_meet),
        T(a_failure_from_elsewhere_ends_nothing),
        T(a_poll_may_overtake_the_first_octets_of_a_stream),
        T(floods_cost_bounded_memory_and_few_answers),
        T(after_a_long_silence_refusals_are_as_few_as_ever),
        T(a_status_is_never_answered),
        T(memory_may_end_at_any_moment),
    };
    return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}

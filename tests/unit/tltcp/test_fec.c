/* SPDX-License-Identifier: MPL-2.0 */
/* The erasure code, and what a receiver does with repair symbols of honest and
 * other peers. */

#include "internal/common/rng.h"
#include "libtltcp/engine/chunk.h"
#include "libtltcp/engine/fec_receiver.h"
#include "libtltcp/engine/fec_sender.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

#define SIZE 40u
#define BUFFER ((size_t)1 << 18)

static cmn__rng rng;

static uint32_t below(uint32_t n) {
    return (uint32_t)cmn__rng_below(&rng, n);
}

static int begin(void **state) {
    (void)state;
    cmn__rng_seed(&rng, 7);
    return 0;
}

static void fill(uint8_t *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        p[i] = (uint8_t)below(256);
    }
}

/* Different numbers below `of`, ascending. */
static void choose(uint8_t *out, unsigned n, unsigned of) {
    unsigned found = 0;
    for (unsigned i = 0; i < of && found < n; i++) {
        if (below(of - i) < n - found) {
            out[found++] = (uint8_t)i;
        }
    }
}

TEST(any_symbols_make_good_as_many) {
    static uint8_t data[TLTCP__FEC_DATA * SIZE];
    static uint8_t damaged[TLTCP__FEC_DATA * SIZE];
    static uint8_t all[TLTCP__FEC_REPAIR * SIZE];
    static uint8_t some[TLTCP__FEC_REPAIR * SIZE];
    const cmn__mem mem = cmn__mem_default();
    tltcp__fec_room room = {.mem = &mem};
    for (int round = 0; round < 500; round++) {
        unsigned k = round == 0 ? TLTCP__FEC_DATA : 1 + below(TLTCP__FEC_DATA);
        unsigned most = k < TLTCP__FEC_REPAIR ? k : TLTCP__FEC_REPAIR;
        unsigned n = round == 0 ? most : 1 + below(most);
        uint8_t missing[TLTCP__FEC_REPAIR];
        uint8_t index[TLTCP__FEC_REPAIR];
        fill(data, k * SIZE);
        assert_true(
            tltcp__fec_encode(&room, data, k, SIZE, all, TLTCP__FEC_REPAIR));
        choose(missing, n, k);
        choose(index, n, TLTCP__FEC_REPAIR);
        memcpy(damaged, data, k * SIZE);
        for (unsigned i = 0; i < n; i++) {
            fill(damaged + missing[i] * SIZE, SIZE);
            memcpy(some + i * SIZE, all + index[i] * SIZE, SIZE);
        }
        assert_true(tltcp__fec_decode(
            &room,
            &(tltcp__fec_block){damaged, k, SIZE, missing, some, index, n}));
        assert_memory_equal(damaged, data, k * SIZE);
    }
    tltcp__fec_room_free(&room);
}

/* A vector to check other implementations by: see docs/protocols/tltcp.md. */
TEST(the_code_is_the_documented_one) {
    uint8_t data[3] = {1, 2, 3};
    uint8_t repair[2];
    const cmn__mem mem = cmn__mem_default();
    tltcp__fec_room room = {.mem = &mem};
    assert_true(tltcp__fec_encode(&room, data, 3, 1, repair, 2));
    tltcp__fec_room_free(&room);
    assert_int_equal(repair[0], 0x4d);
    assert_int_equal(repair[1], 0x45);
}

/* What a room keeps for the next block is of no use to blocks of another size,
 * nor after a repair. */
TEST(a_room_serves_blocks_of_any_size_in_any_order) {
    static uint8_t data[8 * SIZE];
    uint8_t missing[1] = {2};
    uint8_t index[1] = {1};
    const cmn__mem mem = cmn__mem_default();
    tltcp__fec_room kept = {.mem = &mem};
    fill(data, sizeof(data));
    for (unsigned i = 0; i < 60; i++) {
        unsigned k = 3 + i / 2 % 5; /* a block is followed by its like, too */
        unsigned n = 2 + i / 8 % 3;
        uint8_t repair[4 * SIZE];
        uint8_t expected[4 * SIZE];
        tltcp__fec_room fresh = {.mem = &mem};
        k = i % 3 == 0 ? 3 : k;
        assert_true(tltcp__fec_encode(&kept, data, k, SIZE, repair, n));
        assert_true(tltcp__fec_encode(&fresh, data, k, SIZE, expected, n));
        assert_memory_equal(repair, expected, n * SIZE);
        if (i % 4 == 3) {
            assert_true(tltcp__fec_decode(
                &kept, &(tltcp__fec_block){data, k, SIZE, missing,
                                           repair + SIZE, index, 1}));
        }
        tltcp__fec_room_free(&fresh);
    }
    tltcp__fec_room_free(&kept);
}

/* ---- how much ---- */

static unsigned repairs_for(uint8_t cls, double loss, tltcp_time budget,
                            tltcp_time round, uint8_t mode) {
    const cmn__mem mem = cmn__mem_default();
    static const uint8_t data[12000];
    tltcp__section s = {.end = sizeof(data), .cls = cls, .due = 1000 + budget};
    cmn__bytes buf;
    tltcp__fec_sender r;
    unsigned n;
    cmn__bytes_init(&buf, &mem);
    assert_int_equal(cmn__bytes_reserve(&buf, 0, 0, s.end), 0);
    cmn__bytes_put(&buf, 0, data, sizeof(data));
    tltcp__fec_sender_init(&r, &mem, mode);
    r.on = true;
    r.room = 1200;
    r.loss = loss;
    r.round = round;
    tltcp__fec_sender_protect(&r, 0, &s, 1000, false);
    n = r.maker != NULL ? r.maker->set[0].repairs : 0;
    tltcp__fec_sender_free(&r);
    cmn__bytes_free(&buf);
    return n;
}

TEST(repair_follows_loss_class_and_time) {
    const tltcp_time ms = TLTCP_MS;
    unsigned b = repairs_for(TL_CLASS_DISPOSABLE, 0.02, 100 * ms, 600 * ms, 0);
    unsigned p = repairs_for(TL_CLASS_REFERENCE, 0.02, 100 * ms, 600 * ms, 0);
    unsigned i = repairs_for(TL_CLASS_KEY, 0.02, 100 * ms, 600 * ms, 0);
    assert_true(0 < b && b < p && p <= i && i <= 5);
    /* no loss, or time to repeat it: none */
    assert_int_equal(repairs_for(TL_CLASS_KEY, 0, 100 * ms, 600 * ms, 0), 0);
    assert_int_equal(repairs_for(TL_CLASS_KEY, 0.02, 600 * ms, 100 * ms, 0), 0);
    /* once to repeat: less */
    assert_in_range(repairs_for(TL_CLASS_KEY, 0.02, 150 * ms, 100 * ms, 0), 1,
                    i - 1);
    /* reliable sections are repeated as long as it takes */
    assert_int_equal(
        repairs_for(TL_CLASS_KEY, 0.02, TLTCP_TIME_NEVER - 1000, 100 * ms, 0),
        0);
    assert_true(repairs_for(TL_CLASS_KEY, 0, 600 * ms, 100 * ms, TLTCP_FEC_ON) >
                0);
    /* beyond help */
    assert_int_equal(repairs_for(TL_CLASS_KEY, 0.6, 100 * ms, 600 * ms, 0), 0);
}

/* A section that expires while its first block leaves costs no more symbols.
 */
TEST(symbols_are_made_block_by_block) {
    enum { WIDE = 3 * TLTCP__FEC_DATA };
    static uint8_t data[WIDE * SIZE];
    static uint8_t repair[TLTCP__FEC_REPAIR * SIZE];
    const cmn__mem mem = cmn__mem_default();
    tltcp__section s = {.start = 7, .end = 7 + sizeof(data), .due = 1000};
    const uint64_t second = s.start + sizeof(data) / 3;
    tltcp__fec_room room = {.mem = &mem};
    tltcp__fec_symbol x;
    tltcp__fec_sender f;
    const tltcp__fec_set *t;
    cmn__bytes buf;
    fill(data, sizeof(data));
    cmn__bytes_init(&buf, &mem);
    assert_int_equal(cmn__bytes_reserve(&buf, s.start, s.start, s.end), 0);
    cmn__bytes_put(&buf, s.start, data, sizeof(data));
    tltcp__fec_sender_init(&f, &mem, TLTCP_FEC_ON);
    f.on = true;
    f.room = SIZE;
    tltcp__fec_sender_protect(&f, 5, &s, 1000, false);
    t = tltcp__fec_sender_set(&f, 0);
    assert_true(tltcp__fec_sender_protects(&f, 5));
    assert_int_equal(t->blocks, 3);
    assert_int_equal(t->made, 0);
    tltcp__fec_sender_reach(&f, 4, s.start, &buf); /* another section */
    assert_int_equal(t->made, 0);
    tltcp__fec_sender_reach(&f, 5, s.start, &buf);
    tltcp__fec_sender_reach(&f, 5, second - 1, &buf);
    assert_int_equal(t->made, 1);
    assert_false(tltcp__fec_sender_next(t, second - 1, &x));
    assert_true(tltcp__fec_sender_next(t, second, &x));
    assert_true(x.start == s.start && x.end == second && x.index == 0);
    assert_true(tltcp__fec_encode(&room, data, TLTCP__FEC_DATA, SIZE, repair,
                                  t->repairs));
    assert_memory_equal(x.symbol, repair, SIZE);
    tltcp__fec_sender_reach(&f, 5, second, &buf);
    assert_int_equal(t->made, 2);
    tltcp__fec_room_free(&room);
    tltcp__fec_sender_free(&f);
    cmn__bytes_free(&buf);
}

/* ---- a receiver ---- */

static struct {
    struct test_alloc alloc;
    cmn__mem mem;
    tltcp__counters stats;
    tltcp__reasm r;
    tltcp__fec_receiver *b;
} t;

static void open_receiver(void) {
    memset(&t, 0, sizeof(t));
    t.mem = (cmn__mem){test_alloc_realloc, &t.alloc};
    tltcp__reasm_init(&t.r, &t.mem, BUFFER, 64, false, &t.stats);
    t.b = tltcp__fec_receiver_new(&t.mem, BUFFER / 2);
    assert_non_null(t.b);
}

static void close_receiver(void) {
    tltcp__fec_receiver_free(t.b);
    tltcp__reasm_free(&t.r);
    assert_int_equal(t.alloc.blocks, 0);
}

TEST(a_block_survives_that_part_of_it_was_read) {
    static uint8_t data[10 * SIZE];
    uint8_t repair[2 * SIZE];
    uint8_t out[10 * SIZE];
    struct tltcp_segment seg;
    struct tltcp_meta meta;
    tltcp_buf buf = {out, sizeof(out)};
    open_receiver();
    fill(data, sizeof(data));
    assert_true(tltcp__fec_encode(&t.b->tables, data, 10, SIZE, repair, 2));
    tltcp__reasm_keep(&t.r); /* an earlier REPAIR came */
    for (unsigned i = 0; i < 10; i++) {
        if (i != 4 && i != 9) {
            assert_int_equal(
                tltcp__reasm_on_data(&t.r, i * SIZE, data + i * SIZE, SIZE, 0,
                                     i == 0 ? TLTCP__DATA_START : 0),
                0);
        }
    }
    assert_int_equal(tltcp__reasm_read(&t.r, &buf, &seg, &meta), 4 * SIZE);
    for (uint8_t i = 0; i < 2; i++) {
        const tltcp__repair_in in = {.end = sizeof(data),
                                     .symbol = repair + i * SIZE,
                                     .size = SIZE,
                                     .index = i,
                                     .flags =
                                         TLTCP__DATA_START | TLTCP__DATA_END};
        assert_int_equal(tltcp__fec_receiver_on_repair(t.b, &t.r, &in), 0);
    }
    buf = (tltcp_buf){out, sizeof(out)};
    assert_int_equal(tltcp__reasm_read(&t.r, &buf, &seg, &meta), 6 * SIZE);
    assert_memory_equal(out, data + 4 * SIZE, 6 * SIZE);
    assert_true((seg.flags & TL_SECTION_END) != 0);
    assert_int_equal(t.stats.bytes_rebuilt, 2 * SIZE);
    assert_int_equal(t.b->blocks, 0);
    assert_int_equal(t.b->reported, 2);
    close_receiver();
}

TEST(hostile_repairs_cost_bounded_memory) {
    static uint8_t junk[1400];
    open_receiver();
    fill(junk, sizeof(junk));
    for (int i = 0; i < 20000; i++) {
        uint64_t start = below(BUFFER);
        tltcp__repair_in in = {.start = start,
                               .end = start + 1 + below(60000),
                               .section = below(64),
                               .symbol = junk,
                               .size = 1 + below(sizeof(junk)),
                               .index = (uint8_t)below(40),
                               .flags = (uint8_t)below(4)};
        uint64_t at = below(BUFFER - 2000);
        (void)tltcp__fec_receiver_on_repair(t.b, &t.r, &in);
        assert_true(t.b->bytes <= BUFFER / 2);
        assert_true(t.b->blocks <= TLTCP__FEC_RECEIVER_BLOCKS);
        if (tltcp__reasm_on_data(&t.r, at, junk, 1 + below(1400), below(64),
                                 0) == 0) {
            (void)tltcp__fec_receiver_on_data(t.b, &t.r, at, at + 1400);
        }
    }
    assert_true(t.alloc.blocks < 2000);
    close_receiver();
}

/* A packet of a hundred bytes makes a listener hold a hundred thousand, which
 * its limit of memory must know. */
TEST(what_rebuilding_takes_is_known_before) {
    static const uint8_t junk[TLTCP__FEC_DATA] = {1};
    size_t before;
    tltcp__repair_in in = {.end = sizeof(junk), .symbol = junk, .size = 1};
    open_receiver();
    assert_int_equal(tltcp__reasm_on_data(&t.r, 0, junk,
                                          sizeof(junk) - TLTCP__FEC_REPAIR, 0,
                                          TLTCP__DATA_START),
                     0);
    before = t.alloc.live;
    for (in.index = 0; in.index < TLTCP__FEC_REPAIR; in.index++) {
        size_t wants = tltcp__fec_receiver_wants(t.b, &in);
        size_t held = t.alloc.live;
        assert_int_equal(tltcp__fec_receiver_on_repair(t.b, &t.r, &in), 0);
        assert_true(t.alloc.live <= held + wants);
    }
    assert_int_equal(t.stats.bytes_rebuilt, TLTCP__FEC_REPAIR);
    assert_true(tltcp__fec_receiver_held(t.b) > 100000);
    assert_int_equal(t.alloc.live, before + tltcp__fec_receiver_held(t.b));
    tltcp__fec_receiver_trim(t.b);
    assert_int_equal(tltcp__fec_receiver_held(t.b), 0);
    assert_true(t.alloc.live <= before);
    close_receiver();
}

TEST(impossible_repairs_are_errors) {
    static const uint8_t symbol[8] = {0};
    tltcp__repair_in in = {
        .end = 80, .symbol = symbol, .size = 8, .index = TLTCP__FEC_REPAIR};
    open_receiver();
    assert_int_equal(tltcp__fec_receiver_on_repair(t.b, &t.r, &in),
                     TLTCP_ERR_PROTOCOL);
    in.index = 0;
    in.end = 8 * (TLTCP__FEC_DATA + 1);
    assert_int_equal(tltcp__fec_receiver_on_repair(t.b, &t.r, &in),
                     TLTCP_ERR_PROTOCOL);
    in.start = BUFFER;
    in.end = BUFFER + 80;
    assert_int_equal(tltcp__fec_receiver_on_repair(t.b, &t.r, &in),
                     TLTCP_ERR_FLOW);
    assert_int_equal(t.b->blocks, 0);
    close_receiver();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(any_symbols_make_good_as_many, begin),
        cmocka_unit_test_setup(the_code_is_the_documented_one, begin),
        cmocka_unit_test_setup(a_room_serves_blocks_of_any_size_in_any_order,
                               begin),
        cmocka_unit_test_setup(repair_follows_loss_class_and_time, begin),
        cmocka_unit_test_setup(symbols_are_made_block_by_block, begin),
        cmocka_unit_test_setup(a_block_survives_that_part_of_it_was_read,
                               begin),
        cmocka_unit_test_setup(hostile_repairs_cost_bounded_memory, begin),
        cmocka_unit_test_setup(what_rebuilding_takes_is_known_before, begin),
        cmocka_unit_test_setup(impossible_repairs_are_errors, begin),
    };
    return cmocka_run_group_tests_name("fec", tests, NULL, NULL);
}

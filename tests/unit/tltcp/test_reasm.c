/* SPDX-License-Identifier: MPL-2.0 */
/* When a reader is woken. */
#include <stdlib.h>

#include "libtltcp/engine/chunk.h"
#include "libtltcp/engine/reasm.h"
#include "tests/support/cmocka.h"

#define LIMIT ((size_t)1 << 20)

struct reader {
    cmn__mem mem;
    tltcp__counters stats;
    tltcp__reasm r;
};

static struct reader t;
static uint8_t data[100000];

static void begin(size_t limit) {
    memset(&t, 0, sizeof(t));
    t.mem = cmn__mem_default();
    tltcp__reasm_init(&t.r, &t.mem, limit, 16, false, &t.stats);
}

static void arrive(uint64_t seq, size_t len, uint64_t section, unsigned flags) {
    assert_int_equal(tltcp__reasm_on_data(&t.r, seq, data, len, section, flags),
                     0);
}

static void read_piece(size_t len) {
    tltcp_buf buf = {data, len};
    struct tltcp_segment segment;
    struct tltcp_meta meta;

    assert_int_equal(tltcp__reasm_read(&t.r, &buf, &segment, &meta), len);
}

TEST(a_reader_is_woken_by_the_end_of_a_section) {
    begin(LIMIT);
    assert_false(tltcp__reasm_section_ready(&t.r));
    arrive(0, 1000, 0, TLTCP__DATA_START);
    assert_true(tltcp__reasm_readable(&t.r));
    assert_false(tltcp__reasm_section_ready(&t.r));
    arrive(1000, 1000, 0, TLTCP__DATA_END);
    assert_true(tltcp__reasm_section_ready(&t.r));
    read_piece(500);
    assert_true(tltcp__reasm_section_ready(&t.r)); /* the rest of it */
    read_piece(1500);
    assert_false(tltcp__reasm_section_ready(&t.r));
    tltcp__reasm_free(&t.r);
}

TEST(a_reader_is_woken_by_a_gap) {
    begin(LIMIT);
    arrive(0, 1000, 0, TLTCP__DATA_START);
    arrive(2000, 1000, 1, TLTCP__DATA_START);
    assert_false(tltcp__reasm_section_ready(&t.r)); /* it may be repaired */
    assert_int_equal(tltcp__reasm_on_update(&t.r, 2000, 1), 0);
    assert_true(tltcp__reasm_section_ready(&t.r));
    read_piece(1000);
    assert_true(tltcp__reasm_section_ready(&t.r));
    read_piece(1000);
    assert_false(tltcp__reasm_section_ready(&t.r));
    tltcp__reasm_free(&t.r);
}

TEST(a_reader_is_woken_by_much_of_a_long_section) {
    begin(LIMIT);
    arrive(0, 65535, 0, TLTCP__DATA_START);
    assert_false(tltcp__reasm_section_ready(&t.r));
    arrive(65535, 1, 0, 0);
    assert_true(tltcp__reasm_section_ready(&t.r));
    tltcp__reasm_free(&t.r);
}

TEST(a_section_longer_than_the_buffer_wakes_its_reader) {
    begin(8192);
    arrive(0, 2047, 0, TLTCP__DATA_START);
    assert_false(tltcp__reasm_section_ready(&t.r));
    arrive(2047, 1, 0, 0);
    assert_true(tltcp__reasm_section_ready(&t.r));
    tltcp__reasm_free(&t.r);
}

TEST(a_reader_is_woken_by_the_end_of_the_stream) {
    begin(LIMIT);
    assert_int_equal(tltcp__reasm_on_fin(&t.r, 0, 0), 0);
    assert_true(tltcp__reasm_section_ready(&t.r));
    tltcp__reasm_free(&t.r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_is_woken_by_the_end_of_a_section),
        cmocka_unit_test(a_reader_is_woken_by_a_gap),
        cmocka_unit_test(a_reader_is_woken_by_much_of_a_long_section),
        cmocka_unit_test(a_section_longer_than_the_buffer_wakes_its_reader),
        cmocka_unit_test(a_reader_is_woken_by_the_end_of_the_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

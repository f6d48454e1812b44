/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/common/rng.h"
#include "internal/common/wire.h"
#include "tests/support/cmocka.h"

TEST(fields_are_big_endian) {
    const uint8_t expected[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
                                0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 'x'};
    uint8_t buf[16];
    cmn__writer w = cmn__writer_of(buf, sizeof(buf));
    cmn__reader r = cmn__reader_of(expected, sizeof(expected));
    cmn__put8(&w, 0x01);
    cmn__put16(&w, 0x0203);
    cmn__put32(&w, 0x04050607);
    cmn__put64(&w, UINT64_C(0x08090a0b0c0d0e0f));
    cmn__put_bytes(&w, "x", 1);
    assert_false(w.bad);
    assert_int_equal(cmn__writer_left(&w), 0);
    assert_memory_equal(buf, expected, sizeof(expected));
    assert_int_equal(cmn__get8(&r), 0x01);
    assert_int_equal(cmn__get16(&r), 0x0203);
    assert_int_equal(cmn__get32(&r), 0x04050607);
    assert_int_equal(cmn__get64(&r), UINT64_C(0x08090a0b0c0d0e0f));
    assert_int_equal(*cmn__get_bytes(&r, 1), 'x');
    assert_false(r.bad);
}

TEST(a_read_past_the_end_gives_zero_and_is_remembered) {
    const uint8_t buf[3] = {1, 2, 3};
    cmn__reader r = cmn__reader_of(buf, sizeof(buf));
    assert_int_equal(cmn__get16(&r), 0x0102);
    assert_int_equal(cmn__get16(&r), 0);
    assert_true(r.bad);
    assert_int_equal(cmn__get8(&r), 0); /* what is left stays unread */
    assert_null(cmn__get_bytes(&r, 1));
}

static void
a_write_past_the_end_writes_nothing_and_is_remembered(void **state) {
    uint8_t buf[4] = {9, 9, 9, 9};
    cmn__writer w = cmn__writer_of(buf, 3);
    (void)state;
    cmn__put16(&w, 0x0102);
    cmn__put16(&w, 0x0304);
    assert_true(w.bad);
    cmn__put8(&w, 7);
    cmn__put_bytes(&w, "a", 1);
    assert_memory_equal(buf, "\1\2\11\11", 4);
}

TEST(nothing_can_be_read_or_written_in_no_bytes) {
    cmn__reader r = cmn__reader_of("", 0);
    cmn__writer w = cmn__writer_of(NULL, 0);
    assert_non_null(cmn__get_bytes(&r, 0));
    cmn__put_bytes(&w, NULL, 0);
    assert_false(w.bad);
    cmn__put8(&w, 0);
    assert_true(w.bad);
    (void)cmn__get8(&r);
    assert_true(r.bad);
}

TEST(a_32_bit_number_widens_to_the_nearest_64_bit_one) {
    cmn__rng g;
    cmn__rng_seed(&g, 4);
    for (int i = 0; i < 100000; i++) {
        uint64_t near = cmn__rng_next(&g) >> (1 + cmn__rng_below(&g, 31));
        uint64_t off = cmn__rng_below(&g, UINT64_C(1) << 31);
        uint64_t up = near + off;
        assert_int_equal(cmn__widen((uint32_t)up, near), up);
        if (near >= off) {
            assert_int_equal(cmn__widen((uint32_t)(near - off), near),
                             near - off);
        }
    }
    assert_int_equal(cmn__widen(5, UINT64_C(0xfffffff0)),
                     UINT64_C(0x100000005));
    assert_int_equal(cmn__widen(UINT32_C(0xfffffff0), UINT64_C(0x100000005)),
                     UINT64_C(0xfffffff0));
    /* Nothing lies below zero: a number far above is meant. */
    assert_int_equal(cmn__widen(UINT32_C(0xffffffff), 3), UINT64_C(0xffffffff));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_big_endian),
        cmocka_unit_test(a_read_past_the_end_gives_zero_and_is_remembered),
        cmocka_unit_test(a_write_past_the_end_writes_nothing_and_is_remembered),
        cmocka_unit_test(nothing_can_be_read_or_written_in_no_bytes),
        cmocka_unit_test(a_32_bit_number_widens_to_the_nearest_64_bit_one),
    };
    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}

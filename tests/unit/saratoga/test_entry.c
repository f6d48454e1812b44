/* SPDX-License-Identifier: MPL-2.0 */
#include <saratoga/entry.h>

#include "tests/unit/saratoga/hex.h"

static const char RECORD[] =
    "8000 0006 21c86fea 21c86fea 612e74787400"
    "8100 0000 21c86fea 21c86fea 73756200"
    "8080 0000000140000000 21c86fea 21c86fea 6269672e72617700";

TEST(a_record_is_read_entry_by_entry_and_written_alike) {
    struct hex h = unhex(RECORD);
    static const char *const name[] = {"a.txt", "sub", "big.raw"};
    static const uint64_t size[] = {6, 0, UINT64_C(5) << 30};
    uint8_t out[2048];
    size_t at = 0;
    size_t written = 0;
    for (int i = 0; i < 3; i++) {
        saratoga_entry e;
        size_t n = saratoga_entry_read(h.b + at, h.len - at, &e);
        assert_true(n > 0);
        assert_string_equal(e.path, name[i]);
        assert_int_equal(e.size, size[i]);
        assert_int_equal(e.directory, i == 1);
        at += n;
        n = saratoga_entry_write(&e, SARATOGA_64_BIT, out + written,
                                 sizeof(out) - written);
        assert_true(n > 0);
        written += n;
    }
    assert_int_equal(at, h.len);
    assert_octets(out, written, RECORD);
}

TEST(entries_too_large_for_the_requester_are_left_out) {
    saratoga_entry e = {.size = 65536, .path = "x"};
    uint8_t out[64];
    assert_int_equal(
        saratoga_entry_write(&e, SARATOGA_16_BIT, out, sizeof(out)), 0);
    assert_true(saratoga_entry_write(&e, SARATOGA_32_BIT, out, sizeof(out)) >
                0);
    assert_int_equal(saratoga_entry_write(&e, SARATOGA_32_BIT, out, 9), 0);
}

TEST(sizes_of_any_width_are_skipped) {
    struct hex h = unhex("80c0 00000000000000010000000000000000 00000000"
                         " 00000000 6100 0000 8000 0001 00000000 00000000"
                         " 6200");
    saratoga_entry e;
    size_t n = saratoga_entry_read(h.b, h.len, &e);
    assert_true(e.huge);
    assert_int_equal(n, 2 + 16 + 8 + 2 + 2); /* with its padding */
    assert_true(saratoga_entry_read(h.b + n, h.len - n, &e) > 0);
    assert_string_equal(e.path, "b");
    assert_false(e.huge);
}

TEST(a_cut_record_has_no_entry) {
    struct hex h = unhex(RECORD);
    saratoga_entry e;
    for (size_t n = 0; n < 18; n++) {
        assert_int_equal(saratoga_entry_read(h.b, n, &e), 0);
    }
    assert_int_equal(saratoga_entry_read(h.b, 18, &e), 18);
}

TEST(times_count_from_2000_as_the_draft_does) {
    assert_int_equal(saratoga_time_from_posix(1513468800, false), 0x21C86FEA);
    assert_int_equal(saratoga_time_from_posix(1513468800, true), 0x21C87000);
    assert_int_equal(saratoga_time_to_posix(0x21C86FEA, false), 1513468800);
    assert_int_equal(saratoga_time_to_posix(0x21C87000, true), 1513468800);
    assert_int_equal(saratoga_time_from_posix(0, false), 0);
    assert_int_equal(saratoga_time_from_posix(INT64_MAX, false), UINT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_read_entry_by_entry_and_written_alike),
        cmocka_unit_test(entries_too_large_for_the_requester_are_left_out),
        cmocka_unit_test(sizes_of_any_width_are_skipped),
        cmocka_unit_test(a_cut_record_has_no_entry),
        cmocka_unit_test(times_count_from_2000_as_the_draft_does),
    };
    return cmocka_run_group_tests_name("entries", tests, NULL, NULL);
}

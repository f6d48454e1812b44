/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "internal/settings/units.h"
#include "tests/support/cmocka.h"
#include "tools/common/address.h"

TEST(rates_are_in_powers_of_a_thousand) {
    double bps = 0;
    assert_null(units_rate("2mbit", &bps));
    assert_float_equal(bps, 2e6, 0);
    assert_null(units_rate("1.5Gbit/s", &bps));
    assert_float_equal(bps, 1.5e9, 0);
    assert_null(units_rate("64000", &bps));
    assert_float_equal(bps, 64e3, 0);
}

TEST(rates_in_other_words_are_refused_and_change_nothing) {
    static const char *const wrong[] = {
        "",    "mbit", "2mbps", "2 mbit", "-1mbit", "+1mbit",
        "inf", "0x10", "nan",   "1e999",  "2mbitx", "2MB",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        double bps = 7;
        assert_non_null(units_rate(wrong[i], &bps));
        assert_float_equal(bps, 7, 0);
    }
}

TEST(times_need_a_unit_unless_they_are_zero) {
    uint64_t ns = 7;
    assert_non_null(units_time("40", &ns));
    assert_int_equal(ns, 7);
    assert_null(units_time("0", &ns));
    assert_int_equal(ns, 0);
    assert_null(units_time("1.5ms", &ns));
    assert_int_equal(ns, 1500000);
    assert_null(units_time("2min", &ns));
    assert_int_equal(ns, UINT64_C(120000000000));
    assert_null(units_time("2h", &ns));
    assert_int_equal(ns, UINT64_C(7200000000000));
    assert_non_null(units_time("1e30s", &ns));
}

TEST(rates_that_no_counter_holds_are_refused) {
    double bps = 7;
    assert_null(units_rate("0", &bps));
    assert_null(units_rate("1", &bps));
    assert_null(units_rate("1000000gbit", &bps));
    assert_non_null(units_rate("1000001gbit", &bps));
    assert_non_null(units_rate("1e308gbit", &bps));
    assert_non_null(units_rate("1e-300", &bps));
    assert_float_equal(bps, 1e15, 0);
}

TEST(milliseconds_may_go_without_a_unit) {
    uint32_t ms = 0;
    assert_null(units_ms("200", &ms));
    assert_int_equal(ms, 200);
    assert_null(units_ms("0.2s", &ms));
    assert_int_equal(ms, 200);
    assert_non_null(units_ms("two", &ms));
    assert_non_null(units_ms("100000000", &ms));
}

TEST(sizes_know_thousands_and_1024s) {
    uint64_t bytes = 0;
    assert_null(units_size("50kB", &bytes));
    assert_int_equal(bytes, 50000);
    assert_null(units_size("50KiB", &bytes));
    assert_int_equal(bytes, 51200);
    assert_null(units_size("1500", &bytes));
    assert_int_equal(bytes, 1500);
    assert_non_null(units_size("-1", &bytes));
    assert_non_null(units_size("50k b", &bytes));
}

TEST(probabilities_end_at_one) {
    double p = 0;
    assert_null(units_probability("2.5%", &p));
    assert_float_equal(p, 0.025, 1e-12);
    assert_null(units_probability("1", &p));
    assert_float_equal(p, 1, 0);
    assert_non_null(units_probability("101%", &p));
    assert_non_null(units_probability("1.01", &p));
}

TEST(counts_hold_to_their_range) {
    uint64_t n = 7;
    assert_null(units_count("18446744073709551615", 0, UINT64_MAX, &n));
    assert_true(n == UINT64_MAX);
    assert_non_null(units_count("18446744073709551616", 0, UINT64_MAX, &n));
    assert_non_null(units_count("0", 1, 5, &n));
    assert_non_null(units_count("6", 1, 5, &n));
    assert_non_null(units_count("3x", 1, 5, &n));
    assert_non_null(units_count("-3", 0, 5, &n));
}

TEST(addresses_are_taken_apart) {
    struct hostport hp;
    assert_null(address_split("192.0.2.7:5000", &hp));
    assert_string_equal(hp.host, "192.0.2.7");
    assert_string_equal(hp.port, "5000");
    assert_null(address_split("[2001:db8::1]:0", &hp));
    assert_string_equal(hp.host, "2001:db8::1");
    assert_null(address_split(":5000", &hp));
    assert_string_equal(hp.host, "");
}

TEST(a_zone_may_be_escaped) {
    static const char *const hosts[][2] = {
        {"[fe80::1%25eth0]:1", "fe80::1%eth0"},
        {"[fe80::1%2525]:1", "fe80::1%25"},
        {"[fe80::1%25]:1", "fe80::1%25"}, /* interface 25 */
        {"[fe80::1%eth0]:1", "fe80::1%eth0"},
    };
    struct hostport hp;
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        assert_null(address_split(hosts[i][0], &hp));
        assert_string_equal(hp.host, hosts[i][1]);
    }
}

TEST(wrong_addresses_are_refused) {
    static const char *const wrong[] = {
        "",        "host",     "host:",   "host:x",  "host:65536",
        "::1:500", "[::1:500", "host:5 ", "host:-1", "[]x:1"};
    struct hostport hp;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_non_null(address_split(wrong[i], &hp));
    }
}

TEST(an_address_survives_being_text) {
    struct hostport hp;
    struct address a;
    struct address b;
    char text[ADDRESS_TEXT_MAX];
    static const char *const addresses[] = {"127.0.0.1:5000", "[::1]:65535"};
    for (int i = 0; i < 2; i++) {
        assert_null(address_split(addresses[i], &hp));
        assert_null(address_resolve(&hp, false, &a));
        address_text(&a, text);
        assert_string_equal(text, addresses[i]);
        assert_true(address_equal(&a, &a));
        assert_null(address_split(addresses[1 - i], &hp));
        assert_null(address_resolve(&hp, false, &b));
        assert_false(address_equal(&a, &b));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_in_powers_of_a_thousand),
        cmocka_unit_test(rates_in_other_words_are_refused_and_change_nothing),
        cmocka_unit_test(times_need_a_unit_unless_they_are_zero),
        cmocka_unit_test(rates_that_no_counter_holds_are_refused),
        cmocka_unit_test(milliseconds_may_go_without_a_unit),
        cmocka_unit_test(sizes_know_thousands_and_1024s),
        cmocka_unit_test(probabilities_end_at_one),
        cmocka_unit_test(counts_hold_to_their_range),
        cmocka_unit_test(addresses_are_taken_apart),
        cmocka_unit_test(a_zone_may_be_escaped),
        cmocka_unit_test(wrong_addresses_are_refused),
        cmocka_unit_test(an_address_survives_being_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

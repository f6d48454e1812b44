/* SPDX-License-Identifier: MPL-2.0 */
/* Checksums, options, texts, the table of sessions. */
#include <saratoga/config.h>
#include <saratoga/digest.h>
#include <saratoga/engine.h>
#include <saratoga/transfer.h>

#include "internal/common/mem.h"
#include "libsaratoga/engine/digest.h"
#include "libsaratoga/engine/table.h"
#include "tests/unit/saratoga/hex.h"

static void assert_sum(uint32_t type, const char *want) {
    uint8_t f[5000];
    uint8_t out[SARATOGA_CHECKSUM_MAX];
    saratoga_digest *d = saratoga_digest_new(type);
    for (size_t i = 0; i < sizeof(f); i++) {
        f[i] = (uint8_t)(i % 251);
    }
    assert_non_null(d);
    assert_int_equal(saratoga_digest_update(d, f, 1234), 0);
    assert_int_equal(saratoga_digest_update(d, f + 1234, sizeof(f) - 1234), 0);
    assert_int_equal(saratoga_digest_final(d, out), 0);
    assert_octets(out, saratoga_digest_len(type), want);
    saratoga_digest_free(d);
}

TEST(checksums_of_the_file_of_the_document) {
    assert_sum(SARATOGA_MD5, "046b3239eaade30920069f171518d956");
    assert_sum(SARATOGA_SHA1, "e6937aa016bc06eda81d3b227fffde825d881ce5");
    assert_sum(SARATOGA_CRC32C, "83f68e3a");
    assert_null(saratoga_digest_new(SARATOGA_NONE));
    assert_null(saratoga_digest_new(7));
}

TEST(the_crc_of_ieee_is_another_one) {
    uint8_t out[4];
    saratoga_digest *d = saratoga_digest_new(SARATOGA_CRC32_IEEE);
    assert_int_equal(saratoga_digest_update(d, "123456789", 9), 0);
    assert_int_equal(saratoga_digest_final(d, out), 0);
    assert_octets(out, 4, "cbf43926");
    saratoga_digest_free(d);
}

TEST(keyed_ids_are_stable_and_differ) {
    const uint8_t key[16] = {1, 2, 3};
    const uint8_t other[16] = {1, 2, 4};
    uint32_t id = saratoga__keyed_id(key, "sat", SARATOGA_GET, "a");
    assert_int_equal(id, saratoga__keyed_id(key, "sat", SARATOGA_GET, "a"));
    assert_int_not_equal(id, saratoga__keyed_id(key, "sat", SARATOGA_GET, "b"));
    assert_int_not_equal(id, saratoga__keyed_id(key, "sat", SARATOGA_PUT, "a"));
    assert_int_not_equal(id, saratoga__keyed_id(key, "tas", SARATOGA_GET, "a"));
    assert_int_not_equal(id,
                         saratoga__keyed_id(other, "sat", SARATOGA_GET, "a"));
}

static void put64(uint8_t *to, uint64_t x) {
    for (int i = 0; i < 8; i++) {
        to[i] = (uint8_t)(x >> (56 - 8 * i));
    }
}

/* The Id of a node's first request. */
static uint32_t first_id(const uint8_t *seed) {
    saratoga_request q;
    saratoga_handle h;
    saratoga_engine *n;
    saratoga_stats st;
    saratoga_stats_init(&st);
    assert_int_equal(saratoga_engine_new(&n, NULL, seed, 0), 0);
    saratoga_request_init(&q);
    q.type = SARATOGA_GET;
    q.path = "a";
    assert_int_equal(saratoga_transfer_start(n, &q, &h, 0), 0);
    assert_int_equal(saratoga_transfer_get_stats(n, h, &st, 0), 0);
    saratoga_engine_free(n);
    return st.id;
}

/* Seeds that bring the generator of random numbers, whose outputs others see
 * and can reckon on with, into the same state. */
TEST(random_ids_do_not_follow_from_random_numbers) {
    const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
    uint8_t one[SARATOGA_SEED_LEN] = {0};
    uint8_t other[SARATOGA_SEED_LEN] = {0};
    put64(one + 24, 7);
    put64(other + 16, 1);
    put64(other + 24, k ^ 7);
    assert_int_equal(first_id(one), first_id(one));
    assert_int_not_equal(first_id(one), first_id(other));
}

TEST(every_error_and_status_has_a_text_of_its_own) {
    for (int e = 0; e >= SARATOGA_ERR_LAST; e--) {
        assert_string_not_equal(saratoga_strerror(e), "unknown error");
    }
    assert_string_equal(saratoga_strerror(1), "unknown error");
    assert_string_equal(saratoga_strerror(SARATOGA_ERR_LAST - 1),
                        "unknown error");
    for (unsigned s = 0; s <= SARATOGA_STATUS_LAST; s++) {
        assert_string_not_equal(saratoga_status_text(s),
                                saratoga_status_text(255));
    }
    for (unsigned d = SARATOGA_DENIED_REQUEST; d <= SARATOGA_DENIED_LAST;
         d += 0x100) {
        assert_string_not_equal(saratoga_status_text(5 | d),
                                saratoga_status_text(5));
        assert_string_equal(saratoga_status_text(4 | d),
                            saratoga_status_text(255));
    }
    assert_string_equal(saratoga_status_text(0xFF05), saratoga_status_text(5));
}

TEST(bad_options_are_named) {
    saratoga_options o;
    saratoga_config c;
    char why[SARATOGA_WHY_MAX];
    saratoga_options_init(&o);
    assert_int_equal(saratoga_options_check(&o, why), 0);
    o.congestion = "warp";
    assert_int_equal(saratoga_options_check(&o, why), SARATOGA_ERR_ALGORITHM);
    assert_non_null(strstr(why, "stfrc"));
    o.congestion = "open";
    assert_int_equal(saratoga_options_check(&o, why), SARATOGA_ERR_INVAL);
    assert_non_null(strstr(why, "rate_bps"));
    o.rate_bps = 1;
    assert_int_equal(saratoga_options_check(&o, why), 0);
    o.copies = 0;
    assert_int_equal(saratoga_options_check(&o, why), SARATOGA_ERR_INVAL);
    saratoga_config_init(&c);
    assert_int_equal(saratoga_config_check(&c, why), 0);
    c.mtu = 100;
    assert_int_equal(saratoga_config_check(&c, why), SARATOGA_ERR_INVAL);
    assert_non_null(strstr(why, "mtu"));
    saratoga_config_init(&c);
    c.eid = "s\xc3\xa1t";
    assert_int_equal(saratoga_config_check(&c, why), 0);
    c.eid = "s\xe1t";
    assert_int_equal(saratoga_config_check(&c, why), SARATOGA_ERR_INVAL);
    assert_non_null(strstr(why, "UTF-8"));
    saratoga_config_init(&c);
    c.auth_key = (const uint8_t *)"short";
    c.auth_key_len = 5;
    assert_int_equal(saratoga_config_check(&c, why), SARATOGA_ERR_INVAL);
    assert_non_null(strstr(why, "auth_key"));
    c.struct_size = 0; /* saratoga_config_init() forgotten */
    assert_int_equal(saratoga_config_check(&c, why), SARATOGA_ERR_INVAL);
    assert_non_null(strstr(why, "saratoga_config_init()"));
    o.struct_size = 0;
    assert_int_equal(saratoga_options_check(&o, why), SARATOGA_ERR_INVAL);
    assert_non_null(strstr(why, "saratoga_options_init()"));
}

TEST(profiles_match_their_peers) {
    saratoga_options o;
    saratoga_options_init(&o);
    assert_int_equal(saratoga_options_set_profile(&o, SARATOGA_NASA_PERL), 0);
    assert_true(o.half_open_holes && o.wide_entries);
    assert_int_equal(o.timestamps, SARATOGA_TS_OFF);
    saratoga_options_init(&o);
    assert_int_equal(saratoga_options_set_profile(&o, SARATOGA_VALLONA), 0);
    assert_true(o.well_known_port && !o.half_open_holes);
    assert_int_equal(saratoga_options_set_profile(&o, 9), SARATOGA_ERR_INVAL);
}

TEST(the_table_finds_its_entries) {
    enum { N = 1000 };
    cmn__mem mem = cmn__mem_default();
    saratoga__table t;
    uint64_t handle[N];
    uint32_t index[N];
    static char dummy[N];
    saratoga__table_init(&t, &mem, N, 99);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < N; i++) {
            saratoga__key k = {i / 4, i, i % 2 == 0};
            assert_int_equal(
                saratoga__table_add(&t, (struct saratoga__session *)&dummy[i],
                                    &k, &index[i], &handle[i]),
                0);
        }
        assert_int_equal(saratoga__table_of_host(&t, 3), 4);
        for (uint32_t i = 0; i < N; i++) {
            saratoga__key k = {i / 4, i, i % 2 == 0};
            assert_ptr_equal(saratoga__table_by_key(&t, &k), &dummy[i]);
            assert_ptr_equal(saratoga__table_by_handle(&t, handle[i]),
                             &dummy[i]);
            k.sends = !k.sends;
            assert_null(saratoga__table_by_key(&t, &k));
        }
        for (uint32_t i = 0; i < N; i++) {
            saratoga__key k = {i / 4, i, i % 2 == 0};
            saratoga__table_remove(&t, index[i], &k);
            assert_null(saratoga__table_by_key(&t, &k));
            assert_null(saratoga__table_by_handle(&t, handle[i]));
        }
    }
    saratoga__table_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_of_the_file_of_the_document),
        cmocka_unit_test(the_crc_of_ieee_is_another_one),
        cmocka_unit_test(keyed_ids_are_stable_and_differ),
        cmocka_unit_test(random_ids_do_not_follow_from_random_numbers),
        cmocka_unit_test(every_error_and_status_has_a_text_of_its_own),
        cmocka_unit_test(bad_options_are_named),
        cmocka_unit_test(profiles_match_their_peers),
        cmocka_unit_test(the_table_finds_its_entries),
    };
    return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Packets sealed as libcrypto's records against packets sealed step by step. */
#include <string.h>

#include <openssl/err.h>

#include "internal/secure/record.h"
#include "internal/secure/seal.h"
#include "tests/support/cmocka.h"

#define TEXT 200u

static const uint8_t key[SEC__KEY_LEN] = {9, 8, 7};

struct packet {
    uint8_t header[SEC__RECORD_AD_LEN];
    uint8_t text[TEXT + SEC__TAG_LEN];
};

static struct packet packet_of(uint64_t n) {
    struct packet p;
    for (size_t i = 0; i < sizeof(p.header); i++) {
        p.header[i] = i < 9 ? (uint8_t)(i * 17) : (uint8_t)(n >> 8 * (12 - i));
    }
    memset(p.text, (int)(n & 0xff), sizeof(p.text));
    return p;
}

static struct packet sealed_in_steps(sec__cipher *c, uint64_t n, size_t len) {
    struct packet p = packet_of(n);
    uint8_t nonce[SEC__NONCE_LEN];
    sec__aead_nonce(SEC__AES_GCM, n, nonce);
    assert_true(sec__aead_seal(c, nonce, p.header, sizeof(p.header), p.text,
                               len, p.text));
    return p;
}

static const uint64_t numbers[] = {0,
                                   1,
                                   2,
                                   9,
                                   255,
                                   256,
                                   65510,
                                   65511,
                                   65536,
                                   UINT32_MAX - 99,
                                   UINT64_C(0x123456789abcdef)};

#define COUNT (sizeof(numbers) / sizeof(numbers[0]))

TEST(a_record_matches_its_steps) {
    sec__cipher *c = sec__aead_new(SEC__AES_GCM, key, true);
    sec__cipher *steps = sec__aead_new(SEC__AES_GCM, key, true);
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t len = 0; len <= TEXT; len += 25) {
            struct packet expected = sealed_in_steps(steps, numbers[i], len);
            struct packet p = packet_of(numbers[i]);
            assert_true(sec__record_fits(p.header));
            assert_true(sec__record_begin(c, numbers[i]));
            assert_true(sec__record_seal(c, numbers[i], p.header, p.text, len));
            assert_memory_equal(&p, &expected, sizeof(p));
        }
    }
    sec__cipher_free(c);
    sec__cipher_free(steps);
}

static void
a_record_opens_what_the_steps_sealed_and_nothing_else(void **state) {
    sec__cipher *c = sec__aead_new(SEC__AES_GCM, key, false);
    sec__cipher *steps = sec__aead_new(SEC__AES_GCM, key, true);
    uint8_t room[SEC__RECORD_LEAD + TEXT + SEC__TAG_LEN];
    uint8_t *out = room + SEC__RECORD_LEAD;
    (void)state;
    assert_true(sec__record_begin(c, 0));
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t n = numbers[i];
        struct packet p = sealed_in_steps(steps, n, TEXT);
        struct packet plain = packet_of(n);
        size_t len = sizeof(p.text);
        assert_true(sec__record_open(c, n, p.header, p.text, len, out));
        assert_memory_equal(out, plain.text, TEXT);
        assert_false(sec__record_open(c, n + 1, p.header, p.text, len, out));
        p.text[i] ^= 1;
        assert_false(sec__record_open(c, n, p.header, p.text, len, out));
        p.text[i] ^= 1;
        p.header[i] ^= 1;
        assert_false(sec__record_open(c, n, p.header, p.text, len, out));
        p.header[i] ^= 1;
        assert_true(sec__record_open(c, n, p.header, p.text, len, out));
    }
    sec__cipher_free(c);
    sec__cipher_free(steps);
}

TEST(lengths_that_would_wrap_do_not_fit) {
    for (uint64_t n = 65500; n < 65536; n++) {
        struct packet p = packet_of(n);
        assert_int_equal(sec__record_fits(p.header), n <= 65511);
    }
}

TEST(a_record_with_the_nonce_of_another_never_leaves) {
    sec__cipher *c = sec__aead_new(SEC__AES_GCM, key, true);
    struct packet p = packet_of(7);
    assert_false(sec__record_seal(c, 7, p.header, p.text, TEXT)); /* no begin */
    assert_true(sec__record_begin(c, 6));
    assert_false(sec__record_seal(c, 7, p.header, p.text, TEXT));
    p = packet_of(7); /* the number behind it is ready now */
    assert_true(sec__record_seal(c, 7, p.header, p.text, TEXT));
    sec__cipher_free(c);
}

/* All of the values that do not fit, and numbers that are left out. */
TEST(seventy_thousand_packets_are_sealed_as_in_steps) {
    cmn__mem mem = cmn__mem_default();
    sec__seal *a = sec__seal_new(&mem, SEC__AES_GCM, key, key, 0, 0);
    sec__seal *b = sec__seal_new(&mem, SEC__AES_GCM, key, key, TEXT + 16, 0);
    sec__cipher *steps = sec__aead_new(SEC__AES_GCM, key, true);
    for (uint64_t n = 0; n < 70000; n += n % 300 == 5 ? 2 : 1) {
        struct packet expected = sealed_in_steps(steps, n, TEXT);
        struct packet p = packet_of(n);
        assert_true(
            sec__seal_close(a, n, p.header, sizeof(p.header), p.text, TEXT));
        assert_memory_equal(&p, &expected, sizeof(p));
        assert_true(sec__seal_open(b, 0, n, p.header, sizeof(p.header), p.text,
                                   sizeof(p.text), b->plain));
        assert_int_equal(b->plain[TEXT - 1], n & 0xff);
    }
    sec__cipher_free(steps);
    sec__seal_free(a, &mem);
    sec__seal_free(b, &mem);
}

static void seal_one(sec__seal *s, uint64_t n) {
    struct packet p = packet_of(n);
    assert_true(
        sec__seal_close(s, n, p.header, sizeof(p.header), p.text, TEXT));
}

/* Two keys ahead of the peer, the one bit that tells them apart is useless. */
TEST(keys_are_confirmed_by_packets_of_their_own) {
    cmn__mem mem = cmn__mem_default();
    sec__seal *s = sec__seal_new(&mem, SEC__AES_GCM, key, key, 0, 0);
    seal_one(s, 10);
    sec__seal_on_acked(s, 10);
    sec__seal_renew(s);
    assert_int_equal(sec__seal_phase(s), 1);
    seal_one(s, 11);
    sec__seal_renew(s);
    sec__seal_on_acked(s, 10); /* of the keys before */
    assert_true(sec__seal_waits(s));
    assert_int_equal(sec__seal_phase(s), 1);
    sec__seal_on_acked(s, 11);
    assert_false(sec__seal_waits(s));
    assert_int_equal(sec__seal_phase(s), 0);
    sec__seal_free(s, &mem);
}

static bool opens(sec__seal *s, uint8_t phase, uint64_t n,
                  const struct packet *p) {
    return sec__seal_open(s, phase, n, p->header, sizeof(p->header), p->text,
                          sizeof(p->text), s->plain);
}

/* An application that does TLS in the same thread would take what is left there
 * for a failure of its own. */
TEST(forged_packets_leave_no_error_of_libcrypto_behind) {
    cmn__mem mem = cmn__mem_default();
    for (uint8_t suite = SEC__AES_GCM; suite <= SEC__CHACHA_POLY; suite++) {
        sec__seal *s = sec__seal_new(&mem, suite, key, key, TEXT + 16, 0);
        struct packet p = packet_of(1);
        uint8_t elsewhere[TEXT];
        for (uint8_t phase = 0; phase < 2; phase++) {
            assert_false(opens(s, phase, 1, &p));
            assert_false(sec__seal_open(s, phase, 1, p.header, sizeof(p.header),
                                        p.text, sizeof(p.text), elsewhere));
        }
        assert_int_equal(ERR_peek_error(), 0);
        ERR_raise(ERR_LIB_USER, 1); /* the application's own stays */
        assert_false(opens(s, 0, 1, &p));
        assert_int_equal(ERR_GET_LIB(ERR_get_error()), ERR_LIB_USER);
        ERR_clear_error();
        sec__seal_free(s, &mem);
    }
}

#define PUT (3 * SEC__SEAL_BATCH + 1)

/* However many are put before, and with whichever cipher. */
TEST(packets_put_are_sealed_as_one_by_one) {
    cmn__mem mem = cmn__mem_default();
    for (uint8_t suite = SEC__AES_GCM; suite <= SEC__CHACHA_POLY; suite++) {
        sec__seal *a = sec__seal_new(&mem, suite, key, key, 0, 0);
        sec__seal *b = sec__seal_new(&mem, suite, key, key, 0, 0);
        struct packet p[PUT];
        for (size_t count = 0; count <= PUT; count++) {
            for (size_t i = 0; i < count; i++) {
                p[i] = packet_of(i);
                assert_true(sec__seal_put(a, i, p[i].header, TEXT));
            }
            assert_true(sec__seal_flush(a));
            for (size_t i = 0; i < count; i++) {
                struct packet q = packet_of(i);
                assert_true(sec__seal_close(b, i, q.header, sizeof(q.header),
                                            q.text, TEXT));
                assert_memory_equal(&p[i], &q, sizeof(q));
            }
        }
        sec__seal_free(a, &mem);
        sec__seal_free(b, &mem);
    }
}

/* Where the cipher can read from elsewhere: the text there does not change. */
TEST(a_packet_sealed_from_elsewhere_is_the_same) {
    cmn__mem mem = cmn__mem_default();
    for (uint8_t suite = SEC__AES_GCM; suite <= SEC__CHACHA_POLY; suite++) {
        sec__seal *a = sec__seal_new(&mem, suite, key, key, 0, 0);
        sec__seal *b = sec__seal_new(&mem, suite, key, key, 0, 0);
        for (uint64_t pn = 0; pn < 5; pn++) {
            const struct packet from = packet_of(pn);
            struct packet p = from;
            struct packet q = from;
            memset(p.text, 0, sizeof(p.text));
            if (!sec__seal_puts_from(a)) {
                assert_false(
                    sec__seal_put_from(a, pn, p.header, from.text, TEXT));
                continue;
            }
            assert_true(sec__seal_put_from(a, pn, p.header, from.text, TEXT));
            assert_true(sec__seal_put(b, pn, q.header, TEXT));
            assert_true(sec__seal_flush(b));
            assert_memory_equal(&p, &q, sizeof(q));
            assert_memory_equal(from.text, packet_of(pn).text, TEXT);
            assert_int_equal(a->sealed, b->sealed);
        }
        sec__seal_free(a, &mem);
        sec__seal_free(b, &mem);
    }
}

/* Their headers name the keys. */
TEST(packets_put_before_new_keys_are_sealed_with_the_old) {
    cmn__mem mem = cmn__mem_default();
    sec__seal *a = sec__seal_new(&mem, SEC__AES_GCM, key, key, 0, 0);
    sec__seal *b = sec__seal_new(&mem, SEC__AES_GCM, key, key, TEXT + 16, 0);
    struct packet p[2] = {packet_of(1), packet_of(2)};
    seal_one(a, 0);
    sec__seal_on_acked(a, 0);
    assert_int_equal(sec__seal_phase(a), 0);
    assert_true(sec__seal_put(a, 1, p[0].header, TEXT));
    sec__seal_renew(a);
    assert_int_equal(sec__seal_phase(a), 1);
    assert_true(sec__seal_put(a, 2, p[1].header, TEXT));
    assert_true(sec__seal_flush(a));
    assert_true(opens(b, 0, 1, &p[0]));
    assert_true(opens(b, 1, 2, &p[1]));
    sec__seal_free(a, &mem);
    sec__seal_free(b, &mem);
}

TEST(only_little_text_is_left_out_for_speed) {
    for (size_t len = 0; len < 9000; len++) {
        size_t text = sec__record_text(len);
        assert_in_range(text, len < 31 ? 0 : len - 31, len);
        assert_int_equal(text % 16, 0);
        assert_true(len % 96 > 31 || text % 96 == 0);
        assert_int_equal(sec__record_text(text), text);
    }
}

TEST(a_sealing_failure_is_reported) {
    cmn__mem mem = cmn__mem_default();
    for (uint8_t suite = SEC__AES_GCM; suite <= SEC__CHACHA_POLY; suite++) {
        sec__seal *s = sec__seal_new(&mem, suite, key, key, 0, 0);
        struct packet p = packet_of(1);
        sec__packet_key_free(s->tx);
        s->tx = sec__packet_key_new(suite, key, false); /* seals nothing */
        /* at once or later */
        assert_false(sec__seal_put(s, 1, p.header, TEXT) && sec__seal_flush(s));
        assert_false(sec__seal_flush(s)); /* nor is it forgotten */
        sec__seal_free(s, &mem);
    }
}

TEST(a_missing_cipher_is_reported) {
    assert_null(sec__cipher_new("AES-512-GCM", key, sizeof(key), true));
    /* there is one, but not for keys of this length */
    assert_null(sec__cipher_new("AES-256-GCM", key, sizeof(key) - 1, true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_matches_its_steps),
        cmocka_unit_test(a_record_opens_what_the_steps_sealed_and_nothing_else),
        cmocka_unit_test(lengths_that_would_wrap_do_not_fit),
        cmocka_unit_test(a_record_with_the_nonce_of_another_never_leaves),
        cmocka_unit_test(seventy_thousand_packets_are_sealed_as_in_steps),
        cmocka_unit_test(keys_are_confirmed_by_packets_of_their_own),
        cmocka_unit_test(forged_packets_leave_no_error_of_libcrypto_behind),
        cmocka_unit_test(packets_put_are_sealed_as_one_by_one),
        cmocka_unit_test(a_packet_sealed_from_elsewhere_is_the_same),
        cmocka_unit_test(packets_put_before_new_keys_are_sealed_with_the_old),
        cmocka_unit_test(only_little_text_is_left_out_for_speed),
        cmocka_unit_test(a_sealing_failure_is_reported),
        cmocka_unit_test(a_missing_cipher_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

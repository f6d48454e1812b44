/* SPDX-License-Identifier: MPL-2.0 */
/* AES-256-GCM by ipsec-mb: published vectors, and libcrypto beside it. */
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "internal/secure/aead.h"
#include "internal/secure/gcm.h"
#include "internal/secure/packet_key.h"
#include "tests/support/cmocka.h"

#define TEXT_MAX 2100u
#define AD_MAX 40u
#define MARGIN 16u

/* Test cases 13 to 16 of McGrew and Viega, "The Galois/Counter Mode of
 * Operation (GCM)", which NIST publishes with SP 800-38D. */
struct vector {
    const char *key;
    const char *nonce;
    const char *ad;
    const char *text;
    const char *sealed; /* the tag behind it */
};

#define ZEROS "00000000000000000000000000000000"
#define KEY "feffe9928665731c6d6a8f9467308308"
#define NONCE "cafebabefacedbaddecaf888"
#define PLAIN                                                          \
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72" \
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
#define SEALED                                                         \
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa" \
    "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"

static const struct vector vectors[] = {
    {ZEROS ZEROS, "000000000000000000000000", "", "",
     "530f8afbc74536b9a963b4f1c4cb738b"},
    {ZEROS ZEROS, "000000000000000000000000", "", ZEROS,
     "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"},
    {KEY KEY, NONCE, "", PLAIN "1aafd255",
     SEALED "898015adb094dac5d93471bdec1a502270e3cc6c"},
    {KEY KEY, NONCE, "feedfacedeadbeeffeedfacedeadbeefabaddad2", PLAIN,
     SEALED "76fc6ece0f4e1768cddf8853bb2d551b"},
};

static size_t bytes_of(const char *hex, uint8_t *out) {
    size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++) {
        char two[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        out[i] = (uint8_t)strtoul(two, NULL, 16);
    }
    return n;
}

static bool is_missing(void) {
    if (!sec__gcm_available()) {
        print_message("no ipsec-mb, or no instructions for it\n");
    }
    return !sec__gcm_available();
}

static void check_vector(const struct vector *v) {
    uint8_t key[SEC__KEY_LEN];
    uint8_t nonce[SEC__NONCE_LEN];
    uint8_t ad[AD_MAX];
    uint8_t text[100];
    uint8_t expected[100];
    uint8_t out[100];
    size_t ad_len = bytes_of(v->ad, ad);
    size_t len = bytes_of(v->text, text);
    size_t sealed = bytes_of(v->sealed, expected);
    sec__gcm *seal;
    sec__gcm *open;
    assert_int_equal(bytes_of(v->key, key), sizeof(key));
    assert_int_equal(bytes_of(v->nonce, nonce), sizeof(nonce));
    assert_int_equal(sealed, len + SEC__TAG_LEN);
    seal = sec__gcm_new(key, true);
    open = sec__gcm_new(key, false);
    assert_true(seal != NULL && open != NULL);
    assert_true(sec__gcm_seal(seal, nonce, ad, ad_len, text, len, out));
    assert_memory_equal(out, expected, sealed);
    assert_true(sec__gcm_open(open, nonce, ad, ad_len, expected, sealed, out));
    assert_memory_equal(out, text, len);
    sec__gcm_free(seal);
    sec__gcm_free(open);
}

TEST(the_published_vectors_come_out) {
    if (is_missing()) {
        skip();
    }
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        check_vector(&vectors[i]);
    }
}

static uint64_t dice = 1;

static uint64_t rolled(uint64_t below) {
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (dice >> 33) % below;
}

static void fill(uint8_t *p, size_t len) {
    for (size_t i = 0; i < len; i++) {
        p[i] = (uint8_t)rolled(256);
    }
}

/* One packet of any length by both, in both directions. */
static void compare_one(const uint8_t *key) {
    uint8_t nonce[SEC__NONCE_LEN];
    uint8_t ad[AD_MAX];
    uint8_t text[TEXT_MAX];
    uint8_t one[TEXT_MAX + SEC__TAG_LEN + MARGIN];
    uint8_t other[TEXT_MAX + SEC__TAG_LEN + MARGIN];
    size_t len = (size_t)rolled(TEXT_MAX);
    size_t ad_len = (size_t)rolled(AD_MAX);
    sec__gcm *seal = sec__gcm_new(key, true);
    sec__gcm *open = sec__gcm_new(key, false);
    sec__cipher *c = sec__aead_new(SEC__AES_GCM, key, true);
    fill(nonce, sizeof(nonce));
    fill(ad, ad_len);
    fill(text, len);
    memset(one, 7, sizeof(one));
    memset(other, 7, sizeof(other));
    memcpy(one, text, len);
    assert_true(sec__gcm_seal(seal, nonce, ad, ad_len, one, len, one));
    assert_true(sec__aead_seal(c, nonce, ad, ad_len, text, len, other));
    assert_memory_equal(one, other, sizeof(one)); /* and nothing behind it */
    assert_true(sec__gcm_open(open, nonce, ad, ad_len, other,
                              len + SEC__TAG_LEN, other));
    assert_memory_equal(other, text, len);
    sec__cipher_free(c);
    sec__gcm_free(seal);
    sec__gcm_free(open);
}

TEST(random_packets_come_out_as_libcrypto_seals_them) {
    uint8_t key[SEC__KEY_LEN];
    if (is_missing()) {
        skip();
    }
    for (int i = 0; i < 3000; i++) {
        fill(key, sizeof(key));
        compare_one(key);
    }
}

static bool is_zero(const uint8_t *p, size_t len) {
    size_t i = 0;
    while (i < len && p[i] == 0) {
        i++;
    }
    return i == len;
}

TEST(one_wrong_bit_anywhere_is_refused_and_nothing_of_the_text_shown) {
    static const uint8_t key[SEC__KEY_LEN] = {5};
    uint8_t part[3][64 + SEC__TAG_LEN] = {{0}}; /* nonce, data, text */
    const size_t bits[3] = {8 * SEC__NONCE_LEN, 8 * 13, 8 * sizeof(part[2])};
    uint8_t out[64];
    sec__gcm *seal;
    sec__gcm *open;
    if (is_missing()) {
        skip();
    }
    seal = sec__gcm_new(key, true);
    open = sec__gcm_new(key, false);
    memset(part[2], 'x', 64);
    assert_true(
        sec__gcm_seal(seal, part[0], part[1], 13, part[2], 64, part[2]));
    for (int p = 0; p < 3; p++) {
        for (size_t bit = 0; bit < bits[p]; bit++) {
            part[p][bit / 8] ^= (uint8_t)(1u << bit % 8);
            memset(out, 1, sizeof(out));
            assert_false(sec__gcm_open(open, part[0], part[1], 13, part[2],
                                       sizeof(part[2]), out));
            assert_true(is_zero(out, sizeof(out)));
            part[p][bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    assert_true(sec__gcm_open(open, part[0], part[1], 13, part[2],
                              sizeof(part[2]), out));
    sec__gcm_free(seal);
    sec__gcm_free(open);
}

TEST(a_key_works_in_its_direction_only) {
    static const uint8_t key[SEC__KEY_LEN] = {6};
    uint8_t text[64] = {0};
    sec__gcm *seal;
    sec__gcm *open;
    if (is_missing()) {
        skip();
    }
    seal = sec__gcm_new(key, true);
    open = sec__gcm_new(key, false);
    assert_false(sec__gcm_seal(open, key, NULL, 0, text, 16, text));
    assert_false(sec__gcm_open(seal, key, NULL, 0, text, 32, text));
    sec__gcm_free(seal);
    sec__gcm_free(open);
    sec__gcm_free(NULL);
}

/* ---- wiping: what is given back is looked at first ---- */

static const uint8_t secret[SEC__KEY_LEN] = "a key that must not stay behind";
static unsigned given_back;

static void *take(size_t len, const char *file, int line) {
    (void)file, (void)line;
    size_t *p = calloc(1, len + MARGIN);
    if (p == NULL) {
        return NULL;
    }
    *p = len;
    return (uint8_t *)p + MARGIN;
}

static void give(void *p, const char *file, int line) {
    uint8_t *start = p;
    size_t len;
    (void)file, (void)line;
    if (p == NULL) {
        return;
    }
    memcpy(&len, start - MARGIN, sizeof(len));
    for (size_t i = 0; i + sizeof(secret) <= len; i++) {
        assert_memory_not_equal(start + i, secret, sizeof(secret));
    }
    given_back++;
    free(start - MARGIN);
}

static void *take_again(void *p, size_t len, const char *file, int line) {
    void *fresh = take(len, file, line);
    if (fresh != NULL && p != NULL) {
        size_t old;
        memcpy(&old, (uint8_t *)p - MARGIN, sizeof(old));
        memcpy(fresh, p, old < len ? old : len);
        give(p, file, line);
    }
    return fresh;
}

TEST(keys_of_packets_are_wiped_before_their_memory_is_given_back) {
    unsigned before;
    for (uint8_t suite = SEC__AES_GCM; suite <= SEC__CHACHA_POLY; suite++) {
        for (int seal = 0; seal < 2; seal++) {
            sec__packet_key *k = sec__packet_key_new(suite, secret, seal == 1);
            assert_non_null(k);
            before = given_back;
            sec__packet_key_free(k);
            assert_in_range(given_back, before + 2, before + 4);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_vectors_come_out),
        cmocka_unit_test(random_packets_come_out_as_libcrypto_seals_them),
        cmocka_unit_test(
            one_wrong_bit_anywhere_is_refused_and_nothing_of_the_text_shown),
        cmocka_unit_test(a_key_works_in_its_direction_only),
        cmocka_unit_test(
            keys_of_packets_are_wiped_before_their_memory_is_given_back),
    };
    if (CRYPTO_set_mem_functions(take, take_again, give) != 1) {
        return 1;
    }
    return cmocka_run_group_tests_name("gcm", tests, NULL, NULL);
}

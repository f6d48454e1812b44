/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "internal/secure/curve.h"
#include "internal/secure/noise.h"
#include "internal/secure/seal.h"
#include "tests/support/cmocka.h"

#define HEX_MAX 400
#define BYTES_MAX 200

/* One published run of the pattern, as far as it was read. */
struct run {
    uint8_t prologue[BYTES_MAX], psk[BYTES_MAX];
    uint8_t e[2][BYTES_MAX]; /* initiator's, responder's */
    uint8_t s[BYTES_MAX];    /* responder's */
    uint8_t hash[BYTES_MAX];
    size_t prologue_len;
    uint8_t suite;
    unsigned messages;
    sec__noise side[2];
    uint8_t key[2][SEC__KEY_LEN];
    uint64_t sent[2];
};

static size_t bytes_of(const char *hex, uint8_t *out) {
    size_t n = 0;
    unsigned x;
    while (n < BYTES_MAX && sscanf(hex + 2 * n, "%2x", &x) == 1) {
        out[n++] = (uint8_t)x;
    }
    return n;
}

static void start(struct run *r) {
    uint8_t public_key[SEC__KEY_LEN];
    assert_true(sec__curve_public(r->s, public_key));
    for (int i = 0; i < 2; i++) {
        const sec__noise_terms t = {.psk = r->psk,
                                    .prologue = r->prologue,
                                    .prologue_len = r->prologue_len,
                                    .public_key = public_key,
                                    .secret_key = i == 1 ? r->s : NULL,
                                    .e = r->e[i],
                                    .suite = r->suite};
        assert_true(sec__noise_init(&r->side[i], &t));
    }
}

static void handshake_message(struct run *r, const uint8_t *payload, size_t len,
                              const uint8_t *expected, size_t expected_len) {
    bool second = r->messages == 1;
    uint8_t out[BYTES_MAX];
    uint8_t back[BYTES_MAX];
    assert_int_equal(expected_len, len + SEC__NOISE_OVERHEAD);
    assert_true(sec__noise_write(&r->side[second], second, payload, len, out));
    assert_memory_equal(out, expected, expected_len);
    out[expected_len - 1] ^= 1;
    assert_false(
        sec__noise_read(&r->side[!second], second, out, expected_len, back));
    assert_true(sec__noise_read(&r->side[!second], second, expected,
                                expected_len, back));
    assert_memory_equal(back, payload, len);
    if (second) {
        assert_memory_equal(r->side[0].h, r->hash, SEC__KEY_LEN);
        assert_true(sec__noise_split(&r->side[0], r->key[0], r->key[1]));
    }
}

static void transport_message(struct run *r, const uint8_t *payload, size_t len,
                              const uint8_t *expected, size_t expected_len) {
    unsigned from = r->messages % 2;
    uint8_t out[BYTES_MAX];
    assert_int_equal(expected_len, len + SEC__TAG_LEN);
    assert_true(sec__aead_seal_once(r->suite, r->key[from], r->sent[from]++,
                                    NULL, 0, payload, len, out));
    assert_memory_equal(out, expected, expected_len);
}

static void take_line(struct run *r, const char *key, const char *a,
                      const char *b) {
    uint8_t payload[BYTES_MAX];
    uint8_t text[BYTES_MAX];
    if (strcmp(key, "name") == 0) {
        memset(r, 0, sizeof(*r));
        r->suite =
            strstr(a, "AESGCM") != NULL ? SEC__AES_GCM : SEC__CHACHA_POLY;
    } else if (strcmp(key, "prologue") == 0) {
        r->prologue_len = bytes_of(a, r->prologue);
    } else if (strcmp(key, "psk") == 0) {
        (void)bytes_of(a, r->psk);
    } else if (strcmp(key, "resp_static") == 0) {
        (void)bytes_of(a, r->s);
    } else if (strcmp(key, "init_ephemeral") == 0) {
        (void)bytes_of(a, r->e[0]);
    } else if (strcmp(key, "resp_ephemeral") == 0) {
        (void)bytes_of(a, r->e[1]);
    } else if (strcmp(key, "hash") == 0) {
        (void)bytes_of(a, r->hash);
        start(r);
    } else {
        size_t len = bytes_of(a, payload);
        size_t text_len = bytes_of(b, text);
        (r->messages < 2 ? handshake_message
                         : transport_message)(r, payload, len, text, text_len);
        r->messages++;
    }
}

TEST(the_published_vectors_come_out) {
    FILE *f = fopen(NOISE_VECTORS, "r");
    char line[2 * HEX_MAX + 40];
    char key[32];
    char a[HEX_MAX];
    char b[HEX_MAX];
    struct run r;
    unsigned messages = 0;
    assert_non_null(f);
    while (fgets(line, sizeof(line), f) != NULL) {
        if (line[0] != '#' && sscanf(line, "%31s %399s %399s", key, a, b) > 1) {
            take_line(&r, key, a, b);
            messages += strcmp(key, "message") == 0;
        }
    }
    (void)fclose(f);
    assert_int_equal(messages, 12);
}

static const uint8_t header[13] = {1, 2, 3};

/* A sealed packet on its way. */
struct sealed {
    uint8_t text[64];
    uint64_t pn;
    uint8_t phase;
};

static struct sealed seal_one(sec__seal *s, uint64_t pn, char what) {
    struct sealed p = {.pn = pn, .phase = sec__seal_phase(s)};
    p.text[0] = (uint8_t)what;
    assert_true(sec__seal_close(s, pn, header, sizeof(header), p.text, 1));
    return p;
}

static bool opens(sec__seal *s, const struct sealed *p, char what) {
    return sec__seal_open(s, p->phase, p->pn, header, sizeof(header), p->text,
                          1 + SEC__TAG_LEN, s->plain) &&
           s->plain[0] == (uint8_t)what;
}

struct ends {
    cmn__mem mem;
    sec__seal *a, *b;
};

static int make_ends(void **state) {
    static struct ends e;
    static const uint8_t one[SEC__KEY_LEN] = {1};
    static const uint8_t two[SEC__KEY_LEN] = {2};
    e.mem = cmn__mem_default();
    e.a = sec__seal_new(&e.mem, SEC__AES_GCM, one, two, 64, 3);
    e.b = sec__seal_new(&e.mem, SEC__AES_GCM, two, one, 64, 3);
    *state = &e;
    return e.a == NULL || e.b == NULL;
}

static int free_ends(void **state) {
    struct ends *e = *state;
    sec__seal_free(e->a, &e->mem);
    sec__seal_free(e->b, &e->mem);
    return 0;
}

TEST(a_changed_packet_does_not_open) {
    const struct ends *e = *state;
    struct sealed p = seal_one(e->a, 7, 'x');
    struct sealed forged = p;
    assert_true(opens(e->b, &p, 'x'));
    forged.text[0] ^= 1;
    assert_false(opens(e->b, &forged, 'x'));
    forged = p;
    forged.pn++;
    assert_false(opens(e->b, &forged, 'x'));
    forged = p;
    forged.phase ^= 1;
    assert_false(opens(e->b, &forged, 'x'));
    assert_true(opens(e->b, &p, 'x')); /* and what was tried left no trace */
}

/* Seals one that opens at the other end and is acknowledged. */
static void pass(sec__seal *from, sec__seal *to, uint64_t pn, char letter) {
    struct sealed p = seal_one(from, pn, letter);
    assert_true(opens(to, &p, letter));
    sec__seal_on_acked(from, pn);
}

static void
keys_change_in_both_directions_and_old_packets_still_open(void **state) {
    const struct ends *e = *state;
    struct sealed late;
    struct sealed p;
    uint64_t pn = 0;
    late = seal_one(e->a, pn++, 'o'); /* stays on its way */
    while (e->a->tx_phase == 0) {
        pass(e->a, e->b, pn++, 'l');
        (void)sec__seal_phase(e->a);
    }
    p = seal_one(e->a, pn, 'n');
    assert_int_equal(p.phase, 1);
    assert_true(opens(e->b, &p, 'n'));
    assert_true(opens(e->b, &late, 'o')); /* overtaken */
    p = seal_one(e->b, 0, 'r');
    assert_int_equal(p.phase, 0);
    assert_true(opens(e->a, &p, 'r'));
    sec__seal_on_acked(e->b, 0);
    p = seal_one(e->b, 1, 'r');
    assert_int_equal(p.phase, 1); /* the other side has followed */
    assert_true(opens(e->a, &p, 'r'));
}

/* Both ends change keys by themselves at the same time, and all that one of
 * them sends with its new keys is lost. */
TEST(keys_are_at_most_one_generation_ahead) {
    const struct ends *e = *state;
    struct sealed p;
    for (uint64_t pn = 0; pn < 4; pn++) {
        pass(e->a, e->b, pn, 'a');
        pass(e->b, e->a, pn, 'b');
    }
    for (uint64_t pn = 4; pn < 40; pn++) {
        pass(e->b, e->a, pn, 'b');
        p = seal_one(e->a, pn, 'a');
    }
    assert_true(opens(e->b, &p, 'a'));
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, make_ends, free_ends)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_vectors_come_out),
        T(a_changed_packet_does_not_open),
        T(keys_change_in_both_directions_and_old_packets_still_open),
        T(keys_are_at_most_one_generation_ahead),
    };
    return cmocka_run_group_tests_name("noise", tests, NULL, NULL);
}

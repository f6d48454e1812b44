/* SPDX-License-Identifier: MPL-2.0 */
/* How often the bytes of a frame are copied between application and kernel. */
#include <stdatomic.h>
#include <stdlib.h>

#include "internal/secure/gcm.h"
#include "tests/loopback/lo.h"

/* Copies of headers and records are shorter. */
#define LONG ((size_t)512)
#define FRAME ((size_t)100000)
#define FRAMES 20
#define ROUNDS 5

static _Atomic uint64_t copied;

static void note(size_t len) {
    if (len >= LONG) {
        atomic_fetch_add(&copied, len);
    }
}

void *__real_memcpy(void *to, const void *from, size_t len);
void *__wrap_memcpy(void *to, const void *from, size_t len);
void *__real_memmove(void *to, const void *from, size_t len);
void *__wrap_memmove(void *to, const void *from, size_t len);
void *__real___memcpy_chk(void *to, const void *from, size_t len, size_t room);
void *__wrap___memcpy_chk(void *to, const void *from, size_t len, size_t room);
void *__real___memmove_chk(void *to, const void *from, size_t len, size_t room);
void *__wrap___memmove_chk(void *to, const void *from, size_t len, size_t room);

void *__wrap_memcpy(void *to, const void *from, size_t len) {
    note(len);
    return __real_memcpy(to, from, len);
}

void *__wrap_memmove(void *to, const void *from, size_t len) {
    note(len);
    return __real_memmove(to, from, len);
}

void *__wrap___memcpy_chk(void *to, const void *from, size_t len, size_t room) {
    note(len);
    return __real___memcpy_chk(to, from, len, room);
}

void *__wrap___memmove_chk(void *to, const void *from, size_t len,
                           size_t room) {
    note(len);
    return __real___memmove_chk(to, from, len, room);
}

static void send_frame(tltcp_socket *s, uint8_t *head, uint8_t *body) {
    struct iovec parts[] = {{head, FRAME / 4}, {body, FRAME - FRAME / 4}};
    tltcp_section section = {
        .data = parts, .count = 2, .deadline = TLTCP_TIME_NEVER};

    assert_int_equal(tltcp_send(s, &section, 1, 0), FRAME);
}

static void receive_frame(tltcp_socket *s, uint8_t *room) {
    size_t at = 0;

    while (at < FRAME) {
        tltcp_piece piece = {.data = room + at, .len = FRAME - at};
        size_t count = 1;
        ssize_t rv = tltcp_recv(s, &piece, &count, 0);

        assert_true(rv > 0);
        at += (size_t)rv;
    }
}

static uint64_t bytes_sent(tltcp_socket *s) {
    tltcp_stats st;

    tltcp_stats_init(&st);
    assert_int_equal(tltcp_get_stats(s, &st), 0);
    return st.bytes_sent;
}

/* Carries frames; returns the copies of a byte in hundredths, where those that
 * were sent again cost more. */
static uint64_t copies_of(struct lo *l, uint8_t *in, uint8_t *out) {
    uint64_t before = bytes_sent(l->client);
    uint64_t sent;

    copied = 0;
    for (int i = 0; i < FRAMES; i++) {
        send_frame(l->client, in, in + FRAME / 4);
        receive_frame(l->server, out);
        assert_true(lo_matches(out, FRAME, 0));
    }
    sent = bytes_sent(l->client) - before;
    assert_true(sent >= FRAMES * FRAME);
    return 100 * copied / sent;
}

/* Carries frames, at most so many times copied. */
static void expect_copies(struct lo *l, uint64_t most) {
    uint8_t *in = malloc(FRAME);
    uint8_t *out = malloc(FRAME);
    uint64_t copies = UINT64_MAX;

    assert_non_null(in);
    assert_non_null(out);
    lo_fill(in, FRAME, 0);
    lo_pair(l);
    /* A buffer that grows copies what it holds. */
    for (int i = 0; i < ROUNDS && copies > most; i++) {
        copies = copies_of(l, in, out);
    }
    assert_in_range(copies, 200, most); /* the counter counts, and no more */
    free(in);
    free(out);
}

TEST(a_frame_is_copied_twice_at_each_end) {
    expect_copies(*state, 405);
}

/* The cipher reads most of it from the send queue. libcrypto's does not. */
TEST(a_sealed_frame_is_copied_once_by_its_sender) {
    static const uint8_t key[32] = {1};
    struct lo *l = *state;

    l->config.key = key;
    l->config.key_len = sizeof(key);
    expect_copies(l, sec__gcm_available() ? 345 : 505);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(a_frame_is_copied_twice_at_each_end, ipv4),
        LO_TEST(a_frame_is_copied_twice_at_each_end, no_gso),
        LO_TEST(a_frame_is_copied_twice_at_each_end, plain),
        LO_TEST(a_sealed_frame_is_copied_once_by_its_sender, ipv4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

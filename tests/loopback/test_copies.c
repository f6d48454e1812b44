/* SPDX-License-Identifier: MPL-2.0 */
/* How often the bytes of a frame are copied between application and kernel. */
#include <stdatomic.h>
#include <stdlib.h>

#include "internal/secure/gcm.h"
#include "tests/loopback/lo.h"

/* Copies of headers and records are shorter. */
#define LONG ((size_t)512)
#define FRAME ((size_t)100000)
#define LARGE ((size_t)1000000)
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

static void send_frame(tltcp_socket *s, uint8_t *in, size_t len) {
    struct iovec parts[] = {{in, len / 4}, {in + len / 4, len - len / 4}};
    tltcp_section section = {
        .data = parts, .count = 2, .deadline = TLTCP_TIME_NEVER};

    assert_int_equal(tltcp_send(s, &section, 1, 0), len);
}

static void receive_frame(tltcp_socket *s, uint8_t *room, size_t len) {
    size_t at = 0;

    while (at < len) {
        tltcp_piece piece = {.data = room + at, .len = len - at};
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
static uint64_t copies_of(struct lo *l, uint8_t *in, uint8_t *out, size_t len) {
    uint64_t before = bytes_sent(l->client);
    uint64_t sent;

    copied = 0;
    for (int i = 0; i < FRAMES; i++) {
        send_frame(l->client, in, len);
        receive_frame(l->server, out, len);
        assert_true(lo_matches(out, len, 0));
    }
    sent = bytes_sent(l->client) - before;
    assert_true(sent >= FRAMES * len);
    return 100 * copied / sent;
}

/* Carries frames, at most so many times copied. */
static void expect_copies(struct lo *l, size_t len, uint64_t most) {
    uint8_t *in = malloc(len);
    uint8_t *out = malloc(len);
    uint64_t copies = UINT64_MAX;

    assert_non_null(in);
    assert_non_null(out);
    lo_fill(in, len, 0);
    lo_pair(l);
    /* A buffer that grows copies what it holds. */
    for (int i = 0; i < ROUNDS && copies > most; i++) {
        copies = copies_of(l, in, out, len);
    }
    assert_in_range(copies, 100, most); /* the counter counts, and no more */
    free(in);
    free(out);
}

TEST(a_frame_is_copied_twice_at_each_end) {
    expect_copies(*state, FRAME, 405);
}

TEST(bulk_data_is_copied_once_by_its_receiver) {
    expect_copies(*state, LARGE, 330);
}

static struct lo *sealed(struct lo *l) {
    static const uint8_t key[32] = {1};

    l->config.key = key;
    l->config.key_len = sizeof(key);
    return l;
}

/* The cipher reads most of it from the send queue. libcrypto's does not. */
TEST(a_sealed_frame_is_copied_once_by_its_sender) {
    expect_copies(sealed(*state), FRAME, sec__gcm_available() ? 345 : 505);
}

TEST(sealed_bulk_data_is_copied_once_at_each_end) {
    expect_copies(sealed(*state), LARGE, sec__gcm_available() ? 250 : 405);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        LO_TEST(a_frame_is_copied_twice_at_each_end, ipv4),
        LO_TEST(a_frame_is_copied_twice_at_each_end, no_gso),
        LO_TEST(a_frame_is_copied_twice_at_each_end, plain),
        LO_TEST(a_sealed_frame_is_copied_once_by_its_sender, ipv4),
        LO_TEST(bulk_data_is_copied_once_by_its_receiver, ipv4),
        LO_TEST(sealed_bulk_data_is_copied_once_at_each_end, ipv4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Frames on their way to a connection that has no room. */
#include <string.h>

#include "libtltcp/live/feed.h"
#include "libtltcp/live/tsfeed.h"
#include "tests/support/cmocka.h"
#include "tests/support/ts_mux.h"

#define PICTURE (1u << 20)
#define MANY 63 /* of them may wait, and one more */

/* The connection: what it answers, and what it was told of each section. */
static ssize_t answer;
static struct tltcp_meta told[2 * MANY];
static media_header sent[2 * MANY];
static size_t sections;
static struct feed f;

ssize_t tltcp_sendmsg(tltcp_socket *s, const struct msghdr *msg, int flags) {
    struct cmsghdr *c = CMSG_FIRSTHDR(msg);
    size_t payload;
    (void)s;
    (void)flags;
    if (answer < 0) {
        return answer;
    }
    while (c != NULL && c->cmsg_type != TL_META) {
        c = CMSG_NXTHDR((struct msghdr *)(uintptr_t)msg, c);
    }
    assert_non_null(c);
    memcpy(&told[sections], CMSG_DATA(c), sizeof(told[0]));
    (void)media__header_parse(&sent[sections++], msg->msg_iov[0].iov_base,
                              msg->msg_iov[0].iov_len, &payload);
    return (ssize_t)msg->msg_iov[0].iov_len;
}

tltcp_time tltcp_now(void) {
    return 1;
}

int tltcp_next_event(tltcp_socket *s, tltcp_event *ev, int timeout_ms) {
    (void)s;
    (void)ev;
    (void)timeout_ms;
    return 0;
}

static void push(char kind, size_t len) {
    static uint8_t bytes[2 * PICTURE];
    const media_frame what = {.key = kind == 'I',
                              .closed_gop = kind == 'I',
                              .frame_class = kind == 'I' ? MEDIA_CLASS_KEY
                                             : kind == 'B'
                                                 ? MEDIA_CLASS_DISPOSABLE
                                                 : MEDIA_CLASS_REFERENCE};
    const struct feed_frame frame = {
        .payload = bytes, .len = len, .what = &what, .stream = 1};
    assert_true(feed_push(&f, &frame));
}

static void begin(void) {
    const struct feed_settings s = {.latency_ms = 100};
    memset(&f, 0, sizeof(f));
    assert_int_equal(feed_init(&f, &s), 0);
    sections = 0;
    answer = 0;
}

static uint64_t held_back(int reason) {
    return f.ledger.held_back[reason];
}

TEST(what_refers_to_a_frame_without_room_is_given_up) {
    begin();
    answer = TLTCP_ERR_AGAIN;
    push('I', PICTURE);
    for (int i = 1; i < MANY; i++) {
        push('P', PICTURE);
    }

    push('P', 2 * PICTURE);
    assert_int_equal(held_back(MEDIA_DROP_OVERFLOW), 1);
    push('P', 100);
    push('B', 100);
    assert_int_equal(held_back(MEDIA_DROP_DEPENDS), 2);
    push('I', 100);
    push('P', 100);
    answer = 0;
    feed_run(&f);
    assert_int_equal(sections, MANY + 2);
    assert_int_equal(told[MANY - 1].depends, 1); /* what waited goes on */
    assert_int_equal(told[MANY].section_class, TL_CLASS_KEY);
    assert_int_equal(told[MANY + 1].depends, 1);
    assert_true(feed_free(&f));
}

TEST(so_is_what_refers_to_a_frame_that_is_too_big) {
    begin();
    push('I', 100);
    answer = TLTCP_ERR_TOO_BIG;
    push('P', PICTURE);
    answer = 0;
    push('P', 100);
    push('B', 100);
    push('I', 100);
    push('P', 100);
    assert_int_equal(held_back(MEDIA_DROP_OVERFLOW), 1);
    assert_int_equal(held_back(MEDIA_DROP_DEPENDS), 2);
    assert_int_equal(sections, 3);
    assert_int_equal(told[1].section_class, TL_CLASS_KEY);
    assert_int_equal(told[2].depends, 1);
    assert_true(feed_free(&f));
}

/* Pictures of a transport stream, 40 ms apart, each with a clock reference: a
 * letter of what is sent for each, 'c' for tables and clock references. */
static void send_pictures(const char *kinds, char *got) {
    static struct stream s;
    struct tsfeed t;
    uint64_t now = 1000000000;
    assert_true(tsfeed_init(&t));
    begin_stream(&s);
    tsfeed_attach(&t, &f);
    assert_true(tsfeed_push(&t, s.data, s.len, now));
    for (uint64_t i = 0; kinds[i]; i++) {
        s.len = 0;
        add_clocked_picture(&s, i * 3600, kinds[i] == 'P');
        now += 40000000;
        assert_true(tsfeed_push(&t, s.data, s.len, now));
    }
    tsfeed_flush(&t);
    tsfeed_free(&t);
    for (size_t i = 0; i < sections; i++) {
        if (sent[i].kind == MEDIA_KIND_FRAME) {
            *got++ = "?c?PB?"[sent[i].frame_class];
        }
    }
    *got = '\0';
}

TEST(clocks_go_on_beside_pictures_that_may_be_given_up) {
    char got[32];
    begin();
    send_pictures("PBBBBP", got);
    assert_string_equal(got, "ccPBcBBcBP");
    assert_true(feed_free(&f));
}

TEST(only_what_others_need_counts_as_a_reference) {
    static const uint32_t refs[] = {0, 1, 1, 1, 2};
    char got[32];
    uint32_t n = 0;
    begin();
    send_pictures("PBBPP", got);
    for (size_t i = 0; i < sections; i++) {
        if (sent[i].kind == MEDIA_KIND_FRAME &&
            sent[i].frame_class != MEDIA_CLASS_HEADER) {
            assert_int_equal(sent[i].number, n);
            assert_int_equal(sent[i].refs, refs[n++]);
        }
    }
    assert_int_equal(n, 5);
    assert_true(feed_free(&f));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_refers_to_a_frame_without_room_is_given_up),
        cmocka_unit_test(so_is_what_refers_to_a_frame_that_is_too_big),
        cmocka_unit_test(clocks_go_on_beside_pictures_that_may_be_given_up),
        cmocka_unit_test(only_what_others_need_counts_as_a_reference),
    };
    return cmocka_run_group_tests_name("feed", tests, NULL, NULL);
}

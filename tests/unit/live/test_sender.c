/* SPDX-License-Identifier: MPL-2.0 */
/* Frames on their way to a connection that has no room. */
#include <string.h>

#include "internal/media/stream/drop.h"
#include "internal/media/stream/ts.h"
#include "libtltcp/live/section.h"
#include "tests/support/cmocka.h"
#include "tests/support/ts_mux.h"

#define PICTURE (1u << 20)
#define MANY 63 /* of them may wait, and one more */

/* The connection: what it answers, and what it got with each section. */
static ssize_t answer;
static struct tltcp_meta metas[2 * MANY];
static tltcp_time deadlines[2 * MANY];
static media_header sent[2 * MANY];
static size_t sections;
static tltcp_live_sender *f;
static tltcp_event events[8];
static size_t first_event, last_event;
static const char *rejected;
static int callocs_left = -1; /* until there is no memory; -1: enough */

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size) {
    if (callocs_left == 0) {
        return NULL;
    }
    callocs_left -= callocs_left > 0;
    return __real_calloc(count, size);
}

ssize_t tltcp_send(tltcp_socket *s, const tltcp_section *section, size_t count,
                   int flags) {
    size_t len = section->data->iov_len;
    size_t payload;
    (void)s;
    (void)flags;
    assert_int_equal(count, 1);
    if (answer < 0 && (answer != TLTCP_ERR_TOO_BIG || len > 1)) {
        return answer;
    }
    metas[sections] = section->meta;
    deadlines[sections] = section->deadline;
    (void)media__header_parse(&sent[sections++], section->data->iov_base, len,
                              &payload);
    return (ssize_t)len;
}

tltcp_time tltcp_now(void) {
    return 1;
}

int tltcp_next_event(tltcp_socket *s, tltcp_event *ev, int timeout_ms) {
    (void)s;
    (void)timeout_ms;
    if (first_event == last_event) {
        return TLTCP_ERR_AGAIN;
    }
    *ev = events[first_event++];
    return 1;
}

int tltcp_close(tltcp_socket *s, int linger_ms) {
    (void)s;
    (void)linger_ms;
    return 0;
}

int tltcp_reject(tltcp_socket *s, const char *reason) {
    (void)s;
    assert_null(rejected);
    rejected = reason;
    return 0;
}

static void push(char kind, size_t len) {
    const media_header h = {.kind = MEDIA_KIND_FRAME};
    uint8_t *payload;
    tltcp_live_section *s = tltcp__live_section_new(&h, false, len, &payload);
    assert_non_null(s);
    memset(payload, 0, len);
    s->timed.frame.key = s->timed.frame.closed_gop = kind == 'I';
    s->timed.frame.frame_class = kind == 'I'   ? MEDIA_CLASS_KEY
                                 : kind == 'B' ? MEDIA_CLASS_DISPOSABLE
                                               : MEDIA_CLASS_REFERENCE;
    s->timed.stream = 1;
    s->timed.arrival = 1;
    assert_true(tltcp_live_sender_push(f, s) >= 0);
    (void)tltcp_live_sender_run(f);
    tltcp_live_section_unref(s);
}

static void begin(void) {
    static int socket;
    f = tltcp_live_sender_new((tltcp_socket *)(void *)&socket, NULL, NULL,
                              NULL);
    assert_non_null(f);
    sections = 0;
    answer = 0;
    first_event = last_event = 0;
}

static uint64_t held_back(int reason) {
    tltcp_live_stats s;
    tltcp_live_stats_init(&s);
    tltcp_live_sender_add_stats(f, &s);
    return s.dropped[reason];
}

/* The connection's report about a section. */
static void fate(uint64_t section, uint32_t kind, uint32_t cause) {
    events[last_event++] = (tltcp_event){.type = TLTCP_EVENT_FATE,
                                         .section = section,
                                         .fate = kind,
                                         .cause = cause};
    (void)tltcp_live_sender_run(f);
}

TEST(dependents_of_a_frame_without_room_are_given_up) {
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
    (void)tltcp_live_sender_run(f);
    assert_int_equal(sections, MANY + 2);
    assert_int_equal(metas[MANY - 1].depends, 1); /* what waited goes on */
    assert_int_equal(metas[MANY].section_class, TL_CLASS_KEY);
    assert_int_equal(metas[MANY + 1].depends, 1);
    tltcp_live_sender_free(f);
}

TEST(a_section_waits_while_there_is_no_memory_to_note_its_fate) {
    begin();
    callocs_left = 0;
    push('I', 100);
    push('P', 100);
    assert_int_equal(sections, 0);
    callocs_left = -1;
    (void)tltcp_live_sender_run(f);
    assert_int_equal(sections, 2);
    assert_false(tltcp_live_sender_is_idle(f));
    fate(0, TLTCP_FATE_DELIVERED, 0);
    fate(1, TLTCP_FATE_DELIVERED, 0);
    assert_true(tltcp_live_sender_is_idle(f));
    tltcp_live_sender_free(f);
}

static void count_section(void *user, tltcp_live_section *section) {
    (void)section;
    ++*(unsigned *)user;
}

TEST(a_format_that_found_no_memory_can_be_set_again) {
    unsigned sections_made = 0;
    tltcp_live_stream *t =
        tltcp_live_stream_new(0, count_section, &sections_made);
    tltcp_live_format format;
    tltcp_live_frame frame;
    assert_non_null(t);
    tltcp_live_format_init(&format);
    format.codec = "mpegts";
    tltcp_live_frame_init(&frame);
    frame.data = "G";
    frame.len = 1;
    for (int n = 0; n < 2; n++) {
        callocs_left = n;
        assert_int_equal(tltcp_live_stream_set_format(t, &format),
                         TLTCP_ERR_NOMEM);
        (void)tltcp_live_stream_write(t, &frame);
    }
    callocs_left = -1;
    assert_int_equal(tltcp_live_stream_set_format(t, &format), 0);
    assert_int_equal(tltcp_live_stream_write(t, &frame), 0);
    assert_int_equal(tltcp_live_stream_flush(t, NULL), 0);
    tltcp_live_stream_free(t);
}

TEST(the_connection_learns_that_a_frame_was_too_big) {
    begin();
    push('I', 100);
    answer = TLTCP_ERR_TOO_BIG;
    push('P', PICTURE);
    answer = 0;
    push('P', 100);
    assert_int_equal(sections, 3);
    assert_int_equal(metas[1].section_class, TL_CLASS_REFERENCE);
    assert_int_equal(metas[1].depends, 1);
    assert_int_equal(deadlines[1], 1); /* obsolete, so lost at once */
    assert_int_equal(metas[2].depends, 1);
    fate(1, TLTCP_FATE_UNSENT, TLTCP_CAUSE_DEADLINE);
    fate(2, TLTCP_FATE_UNSENT, TLTCP_CAUSE_DEPENDS);
    assert_int_equal(held_back(MEDIA_DROP_OVERFLOW), 1);
    assert_int_equal(held_back(MEDIA_DROP_DEPENDS), 1);
    tltcp_live_sender_free(f);
}

TEST(a_connection_without_memory_is_tried_again) {
    begin();
    answer = TLTCP_ERR_NOMEM;
    push('I', 100);
    assert_int_equal(sections, 0);
    answer = 0;
    (void)tltcp_live_sender_run(f);
    assert_int_equal(sections, 1);
    tltcp_live_sender_free(f);
}

static void on_section(void *user, tltcp_live_section *s) {
    (void)user;
    assert_int_equal(tltcp_live_sender_push(f, s), 1);
    (void)tltcp_live_sender_run(f);
}

/* Pictures of a transport stream, 40 ms apart, each with a clock reference: a
 * letter of what is sent for each, 'c' for tables and clock references. */
static void send_pictures(const char *kinds) {
    static struct stream s;
    tltcp_live_stream *t = tltcp_live_stream_new(0, on_section, NULL);
    uint64_t now = 1000000000;
    assert_non_null(t);
    begin_stream(&s);
    assert_int_equal(tltcp_live_stream_write_ts(t, s.data, s.len, now), 0);
    for (uint64_t i = 0; kinds[i]; i++) {
        s.len = 0;
        add_clocked_picture(&s, i * 3600, kinds[i] == 'P');
        now += 40000000;
        assert_int_equal(tltcp_live_stream_write_ts(t, s.data, s.len, now), 0);
    }
    assert_int_equal(tltcp_live_stream_flush(t, NULL), 0);
    tltcp_live_stream_free(t);
}

static const char *frames_sent(void) {
    static char got[2 * MANY + 1];
    size_t n = 0;
    for (size_t i = 0; i < sections; i++) {
        if (sent[i].kind == MEDIA_KIND_FRAME) {
            got[n++] = "?c?PB?"[sent[i].frame_class];
        }
    }
    got[n] = '\0';
    return got;
}

TEST(clocks_go_on_beside_pictures_that_may_be_given_up) {
    begin();
    send_pictures("PBBBBP");
    assert_string_equal(frames_sent(), "ccPBcBBcBP");
    tltcp_live_sender_free(f);
}

TEST(only_frames_that_others_need_count_as_references) {
    static const uint32_t refs[] = {0, 1, 1, 1, 2};
    uint32_t n = 0;
    begin();
    send_pictures("PBBPP");
    for (size_t i = 0; i < sections; i++) {
        if (sent[i].kind == MEDIA_KIND_FRAME &&
            sent[i].frame_class != MEDIA_CLASS_HEADER) {
            assert_int_equal(sent[i].number, n);
            assert_int_equal(sent[i].refs, refs[n++]);
        }
    }
    assert_int_equal(n, 5);
    tltcp_live_sender_free(f);
}

TEST(the_clock_of_a_lost_reference_is_sent_after_all) {
    begin();
    send_pictures("PB");
    assert_string_equal(frames_sent(), "ccPB");
    fate(3, TLTCP_FATE_EXPIRED, TLTCP_CAUSE_DEADLINE); /* P, behind CONFIG */
    assert_string_equal(frames_sent(), "ccPBc");
    fate(4, TLTCP_FATE_EXPIRED, TLTCP_CAUSE_DEADLINE);
    assert_string_equal(frames_sent(), "ccPBc");
    tltcp_live_sender_free(f);
}

TEST(an_unsent_section_has_a_cause) {
    begin();
    push('I', 100);
    push('P', 100);
    push('B', 100);
    fate(0, TLTCP_FATE_UNSENT, TLTCP_CAUSE_DEADLINE);
    fate(1, TLTCP_FATE_UNSENT, TLTCP_CAUSE_DEPENDS);
    fate(2, TLTCP_FATE_UNSENT, TLTCP_CAUSE_YIELDED);
    assert_int_equal(held_back(MEDIA_DROP_LATE), 1);
    assert_int_equal(held_back(MEDIA_DROP_DEPENDS), 1);
    assert_int_equal(held_back(MEDIA_DROP_YIELDED), 1);
    assert_true(tltcp_live_sender_is_idle(f));
    tltcp_live_sender_free(f);
}

TEST(who_is_cut_off_hears_why_and_what_waits_is_given_up) {
    begin();
    push('I', 100);
    answer = TLTCP_ERR_AGAIN;
    push('P', 100);
    tltcp_live_sender_reject(f, "enough");
    assert_string_equal(rejected, "enough");
    assert_true(tltcp_live_sender_is_closed(f));
    assert_true(tltcp_live_sender_is_idle(f));
    assert_int_equal(held_back(MEDIA_DROP_LATE), 1);
    tltcp_live_sender_reject(f, "again"); /* nobody is there to hear it */
    tltcp_live_sender_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dependents_of_a_frame_without_room_are_given_up),
        cmocka_unit_test(
            a_section_waits_while_there_is_no_memory_to_note_its_fate),
        cmocka_unit_test(a_format_that_found_no_memory_can_be_set_again),
        cmocka_unit_test(the_connection_learns_that_a_frame_was_too_big),
        cmocka_unit_test(a_connection_without_memory_is_tried_again),
        cmocka_unit_test(clocks_go_on_beside_pictures_that_may_be_given_up),
        cmocka_unit_test(only_frames_that_others_need_count_as_references),
        cmocka_unit_test(the_clock_of_a_lost_reference_is_sent_after_all),
        cmocka_unit_test(an_unsent_section_has_a_cause),
        cmocka_unit_test(who_is_cut_off_hears_why_and_what_waits_is_given_up),
    };
    return cmocka_run_group_tests_name("sender", tests, NULL, NULL);
}

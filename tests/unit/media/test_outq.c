/* SPDX-License-Identifier: MPL-2.0 */
#include "media/deadline.h"
#include "media/outq.h"
#include "media/plan.h"
#include "media/reftrack.h"
#include "tests/support/cmocka.h"
#include "tests/unit/media/clip.h"

#define MS INT64_C(1000000)
#define MBIT UINT64_C(1000000)

static media_item item_of(char kind, size_t bytes, int64_t arrival,
                          int64_t due) {
    media_item item = {.bytes = bytes,
                       .arrival = arrival,
                       .due = due,
                       .deadline = due,
                       .user = (void *)(uintptr_t)(unsigned char)kind};

    item.frame.key = kind == 'I';
    item.frame.frame_class = kind == 'I'   ? MEDIA_CLASS_KEY
                             : kind == 'P' ? MEDIA_CLASS_REFERENCE
                             : kind == 'B' ? MEDIA_CLASS_DISPOSABLE
                             : kind == 'A' ? MEDIA_CLASS_AUDIO
                                           : MEDIA_CLASS_HEADER;
    return item;
}

static void push(media_outq *q, char kind, size_t bytes, int64_t due) {
    media_item item = item_of(kind, bytes, 0, due);

    assert_true(media__outq_push(q, &item));
}

static media_next ask(media_outq *q, const media_link *link, int64_t now) {
    media_next next;

    media__outq_next(q, link, now, &next);
    return next;
}

/* Asks once: the letter of what is sent, '-' and the letter of what is dropped,
 * "" when there is nothing to do. */
static void expect(media_outq *q, const media_link *link, int64_t now,
                   const char *expected) {
    media_next next = ask(q, link, now);
    char got[3] = "";

    if (next.verdict != MEDIA_WAIT) {
        char *at = got;
        if (next.verdict == MEDIA_DROP) {
            *at++ = '-';
        }
        *at = (char)(uintptr_t)next.item.user;
    }
    assert_string_equal(got, expected);
}

static const media_link unknown = {0};
static const media_link two_mbit = {.rate_bps = 2 * MBIT};

static media_outq *make(int policy) {
    media_outq *q = media__outq_new(policy, 64, 1 << 20);

    assert_non_null(q);
    return q;
}

static void frames_leave_in_the_order_they_came(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);

    (void)state;
    push(q, 'I', 100, 500 * MS);
    push(q, 'P', 100, 500 * MS);
    push(q, 'B', 100, 500 * MS);
    assert_int_equal(media__outq_items(q), 3);
    assert_int_equal(media__outq_bytes(q), 300);
    expect(q, &unknown, 0, "I");
    expect(q, &unknown, 0, "P");
    expect(q, &unknown, 0, "B");
    expect(q, &unknown, 0, "");
    assert_int_equal(media__outq_bytes(q), 0);
    media__outq_free(q, NULL, NULL);
}

static void
decisions_wait_until_the_connection_has_little_to_send(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);
    media_link busy = {.unsent = 20000, .rate_bps = 2 * MBIT};

    (void)state;
    push(q, 'P', 100, 500 * MS);
    media_next next = ask(q, &busy, 0);
    assert_int_equal(next.verdict, MEDIA_WAIT);
    assert_in_range(next.when, 1, 20 * MS);
    expect(q, &two_mbit, next.when, "P");
    assert_int_equal(ask(q, &two_mbit, 0).when, MEDIA_NEVER);
    media__outq_free(q, NULL, NULL);
}

static media_link with_unsent(size_t unsent) {
    return (media_link){.unsent = unsent, .rate_bps = 2 * MBIT};
}

/* The estimate may be too low; what must not be is that the path stands idle
 * between two looks. */
static void a_connection_that_ran_dry_gets_more_at_once(void **state) {
    media_outq *q = make(MEDIA_DROP_SECTION);
    media_link little = with_unsent(5000);
    media_link none = with_unsent(0);
    media_link more = with_unsent(9000);

    (void)state;
    for (int i = 0; i < 4; i++) {
        push(q, 'P', 100, 500 * MS);
    }
    expect(q, &little, 0, "");
    expect(q, &none, 0, "P"); /* it had run dry */
    expect(q, &little, 0, "P");
    expect(q, &more, 0, "");
    expect(q, &little, 0, "P"); /* it had not: back to less, step by step */
    expect(q, &little, 0, "");
    media__outq_free(q, NULL, NULL);
}

static void obsolete_frames_are_dropped(void **state) {
    media_outq *q = make(MEDIA_DROP_SECTION);

    (void)state;
    push(q, 'B', 100, 500 * MS);
    push(q, 'P', 100, 501 * MS);
    assert_int_equal(ask(q, &unknown, 501 * MS).reason, MEDIA_DROP_LATE);
    assert_int_equal(ask(q, &unknown, 501 * MS).reason, MEDIA_DROP_LATE);
    media__outq_free(q, NULL, NULL);
}

static void
a_disposable_frame_that_cannot_be_there_in_time_is_not_begun(void **state) {
    media_outq *q = make(MEDIA_DROP_SECTION);
    media_link slow = {.rate_bps = 2 * MBIT, .delay = 50 * MS};

    (void)state;
    push(q, 'B', 25000, 149 * MS); /* takes 100 ms, and 50 ms on the way */
    push(q, 'B', 25000, 151 * MS);
    expect(q, &slow, 0, "-B");
    expect(q, &slow, 0, "B");
    media__outq_free(q, NULL, NULL);
}

static void what_others_need_is_tried_up_to_its_deadline(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);

    (void)state;
    push(q, 'P', 25000, 50 * MS);
    expect(q, &two_mbit, 0, "P");
    media__outq_free(q, NULL, NULL);
}

static void frames_that_need_a_lost_one_go_with_it(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);

    (void)state;
    push(q, 'P', 100, 10 * MS);
    push(q, 'B', 100, 500 * MS);
    push(q, 'A', 100, 500 * MS);
    push(q, 'H', 100, MEDIA_NEVER);
    push(q, 'P', 100, 500 * MS);
    push(q, 'I', 100, 500 * MS);
    push(q, 'P', 100, 500 * MS);
    assert_int_equal(ask(q, &unknown, 20 * MS).reason, MEDIA_DROP_LATE);
    assert_int_equal(ask(q, &unknown, 20 * MS).reason, MEDIA_DROP_DEPENDS);
    expect(q, &unknown, 20 * MS, "A");
    expect(q, &unknown, 20 * MS, "H");
    assert_int_equal(ask(q, &unknown, 20 * MS).reason, MEDIA_DROP_DEPENDS);
    expect(q, &unknown, 20 * MS, "I");
    expect(q, &unknown, 20 * MS, "P");
    media__outq_free(q, NULL, NULL);
}

static void a_loss_on_the_way_counts_like_one_in_the_queue(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);

    (void)state;
    push(q, 'P', 100, 500 * MS);
    media_next sent = ask(q, &unknown, 0);
    push(q, 'P', 100, 500 * MS);
    assert_true(media__outq_on_lost(q, &sent.item));
    expect(q, &unknown, 0, "-P");
    media__outq_free(q, NULL, NULL);
}

static void a_loss_before_the_newest_key_frame_harms_nobody(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);
    media_item old = item_of('P', 100, 10 * MS, 900 * MS);
    media_item key = item_of('I', 100, 20 * MS, 900 * MS);

    (void)state;
    media__outq_push(q, &old);
    media__outq_push(q, &key);
    media_next sent = ask(q, &unknown, 20 * MS);
    expect(q, &unknown, 20 * MS, "I");
    assert_false(media__outq_on_lost(q, &sent.item));
    push(q, 'P', 100, 900 * MS);
    expect(q, &unknown, 20 * MS, "P");
    media__outq_free(q, NULL, NULL);
}

static void a_lost_disposable_frame_is_no_loss_for_others(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);
    media_item b = item_of('B', 100, 0, 10 * MS);

    (void)state;
    assert_false(media__outq_on_lost(q, &b));
    push(q, 'P', 100, 500 * MS);
    expect(q, &unknown, 0, "P");
    media__outq_free(q, NULL, NULL);
}

static void until_keyframe_stops_at_any_lost_picture(void **state) {
    media_outq *q = make(MEDIA_DROP_UNTIL_KEYFRAME);

    (void)state;
    push(q, 'B', 100, 10 * MS);
    push(q, 'P', 100, 500 * MS);
    push(q, 'A', 100, 500 * MS);
    push(q, 'I', 100, 500 * MS);
    expect(q, &unknown, 20 * MS, "-B");
    expect(q, &unknown, 20 * MS, "-P");
    expect(q, &unknown, 20 * MS, "A");
    expect(q, &unknown, 20 * MS, "I");
    media__outq_free(q, NULL, NULL);
}

static void section_drops_nothing_but_what_is_late(void **state) {
    media_outq *q = make(MEDIA_DROP_SECTION);

    (void)state;
    push(q, 'P', 100, 10 * MS);
    push(q, 'B', 100, 500 * MS);
    push(q, 'P', 100, 500 * MS);
    expect(q, &unknown, 20 * MS, "-P");
    expect(q, &unknown, 20 * MS, "B");
    expect(q, &unknown, 20 * MS, "P");
    media__outq_free(q, NULL, NULL);
}

static void
who_joins_in_the_middle_waits_for_a_key_frame_but_not_for_ever(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);

    (void)state;
    media__outq_wait_key(q, 0, 0);
    push(q, 'P', 100, 500 * MS);
    push(q, 'I', 100, 500 * MS);
    expect(q, &unknown, 1, "-P");
    expect(q, &unknown, 1, "I");
    media__outq_wait_key(q, 0, 0);
    push(q, 'P', 100, MEDIA_NEVER);
    expect(q, &unknown, 11000 * MS, "P");
    media__outq_free(q, NULL, NULL);
}

static void
pictures_before_an_open_key_frame_go_with_what_they_need(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);
    media_item open = item_of('I', 100, 0, 580 * MS);
    media_item closed = open;

    (void)state;
    closed.frame.closed_gop = true;
    for (int i = 0; i < 3; i++) {
        if (i > 0) {
            push(q, 'P', 100, -1);
            expect(q, &unknown, 0, "-P");
        }
        media__outq_push(q, i == 2 ? &closed : &open);
        push(q, 'B', 100, 540 * MS);
        push(q, 'P', 100, 700 * MS);
        push(q, 'B', 100, 660 * MS);
        expect(q, &unknown, 0, "I");
        expect(q, &unknown, 0, i == 1 ? "-B" : "B");
        expect(q, &unknown, 0, "P");
        expect(q, &unknown, 0, "B");
    }
    media__outq_free(q, NULL, NULL);
}

static void a_stream_whose_frames_stand_alone_has_no_key_frames(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);
    media_item item = item_of('B', 100, 0, 500 * MS);

    (void)state;
    media__outq_wait_key(q, 0, 0);
    item.frame.frame_class = MEDIA_CLASS_OTHER;
    media__outq_push(q, &item);
    push(q, 'B', 100, 500 * MS);
    expect(q, &unknown, 1, "B");
    expect(q, &unknown, 1, "B");
    media__outq_free(q, NULL, NULL);
}

static void a_recovery_point_ends_the_wait_too(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);
    media_item item = item_of('P', 100, 0, 500 * MS);

    (void)state;
    media__outq_wait_key(q, 0, 0);
    item.frame.recovery = true;
    media__outq_push(q, &item);
    push(q, 'P', 100, 500 * MS);
    expect(q, &unknown, 1, "P");
    expect(q, &unknown, 1, "P");
    media__outq_free(q, NULL, NULL);
}

static void a_disposable_frame_yields_to_a_reference_behind_it(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);

    (void)state;
    push(q, 'B', 12500, 200 * MS); /* 50 ms at 2 Mbit/s */
    push(q, 'P', 25000, 120 * MS); /* 100 ms, due in 120 */
    assert_int_equal(ask(q, &two_mbit, 0).reason, MEDIA_DROP_YIELDED);
    expect(q, &two_mbit, 0, "P");
    media__outq_free(q, NULL, NULL);
}

static void it_does_not_yield_while_there_is_time_for_both(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);

    (void)state;
    push(q, 'B', 12500, 200 * MS);
    push(q, 'P', 25000, 310 * MS); /* half of it stays in reserve */
    expect(q, &two_mbit, 0, "B");
    media__outq_free(q, NULL, NULL);
}

static void it_does_not_yield_while_the_path_was_never_filled(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);
    media_link growing = {.rate_bps = 2 * MBIT, .growing = true};

    (void)state;
    push(q, 'B', 12500, 200 * MS);
    push(q, 'P', 25000, 120 * MS);
    expect(q, &growing, 0, "B");
    media__outq_free(q, NULL, NULL);
}

static void the_smaller_of_two_disposable_frames_is_kept(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);

    (void)state;
    push(q, 'B', 15000, 200 * MS); /* 60 ms */
    push(q, 'B', 10000, 200 * MS); /* 40 ms */
    push(q, 'P', 25000, 300 * MS); /* 100 ms: room for 50 in half the time */
    expect(q, &two_mbit, 0, "-B");
    media_next next = ask(q, &two_mbit, 0);
    assert_int_equal(next.verdict, MEDIA_SEND);
    assert_int_equal(next.item.bytes, 10000);
    media__outq_free(q, NULL, NULL);
}

/* References of 25000 bytes every 120 ms; a key frame of 100000 bytes (400 ms)
 * every 480 ms that must be there 440 ms after it comes. */
static void room_is_kept_for_the_key_frame_that_is_to_come(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);
    media_link link = {.rate_bps = 2 * MBIT};
    int64_t t = 1000 * MS;

    (void)state;
    for (int i = 0; i <= 7; i++, t += 120 * MS) {
        char kind = i % 4 ? 'P' : 'I';
        media_item item = item_of(kind, kind == 'I' ? 100000 : 2500, t,
                                  t + (kind == 'I' ? 440 : 320) * MS);
        media__outq_push(q, &item);
        expect(q, &link, t, kind == 'I' ? "I" : "P");
    }
    /* 110 ms before the next key frame: 200 ms of B would make it late */
    t -= 110 * MS;
    media_item b = item_of('B', 50000, t, t + 1000 * MS);
    media__outq_push(q, &b);
    expect(q, &link, t, "-B");
    b.bytes = 25000; /* 100 ms: it fits in before */
    media__outq_push(q, &b);
    expect(q, &link, t, "B");
    media__outq_free(q, NULL, NULL);
}

static void
a_reference_too_late_for_all_makes_way_for_the_key_frame(void **state) {
    media_outq *q = make(MEDIA_DROP_DEPENDENTS);
    media_item p = item_of('P', 65000, 0, 50 * MS);

    (void)state;
    p.deadline = 2000 * MS; /* worth trying for those behind it */
    media__outq_push(q, &p);
    push(q, 'B', 1000, 90 * MS);
    push(q, 'I', 1000, 500 * MS);
    expect(q, &two_mbit, 0, "-P");
    expect(q, &two_mbit, 0, "-B");
    expect(q, &two_mbit, 0, "I");
    media__outq_free(q, NULL, NULL);
}

static void a_full_queue_refuses_and_remembers(void **state) {
    media_outq *q = media__outq_new(MEDIA_DROP_DEPENDENTS, 2, 1000);
    media_item p = item_of('P', 600, 0, 500 * MS);

    (void)state;
    assert_true(media__outq_push(q, &p));
    assert_false(media__outq_push(q, &p)); /* bytes */
    expect(q, &unknown, 0, "P");
    push(q, 'P', 1, 500 * MS);
    expect(q, &unknown, 0, "-P"); /* needs the one that was refused */
    push(q, 'A', 1, 500 * MS);
    push(q, 'A', 1, 500 * MS);
    p.bytes = 1;
    assert_false(media__outq_push(q, &p)); /* items */
    media__outq_free(q, NULL, NULL);
}

static void one_frame_larger_than_the_queue_is_taken(void **state) {
    media_outq *q = media__outq_new(MEDIA_DROP_DEPENDENTS, 2, 1000);

    (void)state;
    push(q, 'I', 5000, 500 * MS);
    expect(q, &unknown, 0, "I");
    media__outq_free(q, NULL, NULL);
}

static void count_item(void *user, media_item *item) {
    (void)item;
    ++*(int *)user;
}

static void what_is_left_is_given_back(void **state) {
    media_outq *q = make(MEDIA_DROP_SECTION);
    int left = 0;

    (void)state;
    push(q, 'I', 1, 0);
    push(q, 'P', 1, 0);
    expect(q, &unknown, -1, "I");
    media__outq_free(q, count_item, &left);
    assert_int_equal(left, 1);
    media__outq_free(NULL, count_item, &left);
}

static void time_to_leave_is_exact_and_never_overflows(void **state) {
    (void)state;
    assert_int_equal(media__leave_time(250000, 2 * MBIT), 1000 * MS);
    assert_int_equal(media__leave_time(7, 24), INT64_C(7000000000) / 3);
    assert_true(media__leave_time(SIZE_MAX, 1) > 0);
    assert_true(media__leave_time(UINT32_MAX, 1) > 0);
    assert_int_equal(media__leave_time(1000, UINT64_MAX), 0);
}

/* ---- a clip over a link ---- */

static struct clip clip;
static int64_t arrived[CLIP_MAX]; /* -1: never */

struct result {
    int decodable;
    int on_time;
    int keys;
    int keys_on_time;
};

static void push_frame(media_outq *q, media_deadline *d, size_t i,
                       int64_t now) {
    const struct clip_frame *f = &clip.frames[i];
    media_times t = {f->pts, f->dts, CLIP_FRAME_NS, now};
    media_due due = media__deadline_next(d, &f->frame, &t, MEDIA_TIME_NONE);
    media_item item = {.frame = f->frame,
                       .bytes = f->bytes,
                       .arrival = now,
                       .due = due.due,
                       .deadline = due.deadline,
                       .user = (void *)i};

    media__outq_push(q, &item);
    arrived[i] = -1;
}

/* A link that sends `rate` bit/s, without any delay of its own. */
static void play(int policy, uint64_t rate, int64_t latency) {
    media_outq *q = media__outq_new(policy, 1024, 1 << 24);
    media_deadline d;
    int64_t grace = policy == MEDIA_DROP_SECTION ? 0 : 1000 * MS;
    int64_t free_at = 0;
    size_t i = 0;

    media__deadline_init(&d, MEDIA_DEADLINE_PTS, latency, grace, 0);
    for (int64_t now = 0; i < clip.count || media__outq_items(q); now += MS) {
        media_next next;
        while (i < clip.count && clip.frames[i].dts <= now) {
            push_frame(q, &d, i++, now);
        }
        do {
            int64_t busy = free_at > now ? free_at - now : 0;
            media_link link = {
                .unsent = (size_t)((uint64_t)busy / 1000 * rate / 8 / MBIT),
                .rate_bps = rate};
            media__outq_next(q, &link, now, &next);
            if (next.verdict == MEDIA_SEND) {
                free_at = now + busy + media__leave_time(next.item.bytes, rate);
                arrived[(size_t)next.item.user] =
                    free_at <= next.item.deadline ? free_at : -1;
            }
        } while (next.verdict != MEDIA_WAIT);
    }
    media__outq_free(q, NULL, NULL);
}

static struct result judge(int64_t latency) {
    struct result r = {0};
    media_reftrack t;

    media__reftrack_init(&t);
    for (size_t i = 0; i < clip.count; i++) {
        const struct clip_frame *f = &clip.frames[i];
        bool ok =
            media__reftrack_classified(&t, &f->frame, f->pts, arrived[i] >= 0);
        bool on_time = ok && arrived[i] <= f->pts + latency;
        r.decodable += ok;
        r.on_time += on_time;
        r.keys += ok && f->frame.key;
        r.keys_on_time += on_time && f->frame.key;
    }
    return r;
}

static struct result run(int policy, uint64_t rate, int64_t latency) {
    clip_make(&clip, 7);
    play(policy, rate, latency);
    return judge(latency);
}

static void an_ample_link_carries_every_frame(void **state) {
    (void)state;
    for (int policy = 0; policy <= MEDIA_DROP_UNTIL_KEYFRAME; policy++) {
        struct result r = run(policy, 4 * MBIT, 200 * MS);
        assert_int_equal(r.on_time, CLIP_MAX);
    }
}

/* 2.8 Mbit/s into 1.9: all I and P and the smallest B frames would be 484. */
static void
an_overloaded_link_keeps_key_frames_and_most_of_the_bound(void **state) {
    struct result r = run(MEDIA_DROP_DEPENDENTS, 19 * MBIT / 10, 200 * MS);

    (void)state;
    assert_int_equal(r.keys, 15);
    assert_in_range(r.on_time, 430, CLIP_MAX);
    struct result plain = run(MEDIA_DROP_SECTION, 19 * MBIT / 10, 200 * MS);
    assert_true(r.on_time > plain.on_time);
}

/* I and P alone are 1.4 Mbit/s. */
static void
where_references_are_too_many_the_end_of_each_gop_goes(void **state) {
    struct result r = run(MEDIA_DROP_DEPENDENTS, MBIT, 500 * MS);

    (void)state;
    assert_in_range(r.keys_on_time, 14, 15);
    assert_in_range(r.on_time, 100, CLIP_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_leave_in_the_order_they_came),
        cmocka_unit_test(
            decisions_wait_until_the_connection_has_little_to_send),
        cmocka_unit_test(a_connection_that_ran_dry_gets_more_at_once),
        cmocka_unit_test(obsolete_frames_are_dropped),
        cmocka_unit_test(
            a_disposable_frame_that_cannot_be_there_in_time_is_not_begun),
        cmocka_unit_test(what_others_need_is_tried_up_to_its_deadline),
        cmocka_unit_test(frames_that_need_a_lost_one_go_with_it),
        cmocka_unit_test(a_loss_on_the_way_counts_like_one_in_the_queue),
        cmocka_unit_test(a_loss_before_the_newest_key_frame_harms_nobody),
        cmocka_unit_test(a_lost_disposable_frame_is_no_loss_for_others),
        cmocka_unit_test(until_keyframe_stops_at_any_lost_picture),
        cmocka_unit_test(section_drops_nothing_but_what_is_late),
        cmocka_unit_test(
            who_joins_in_the_middle_waits_for_a_key_frame_but_not_for_ever),
        cmocka_unit_test(
            pictures_before_an_open_key_frame_go_with_what_they_need),
        cmocka_unit_test(a_stream_whose_frames_stand_alone_has_no_key_frames),
        cmocka_unit_test(a_recovery_point_ends_the_wait_too),
        cmocka_unit_test(a_disposable_frame_yields_to_a_reference_behind_it),
        cmocka_unit_test(it_does_not_yield_while_there_is_time_for_both),
        cmocka_unit_test(it_does_not_yield_while_the_path_was_never_filled),
        cmocka_unit_test(the_smaller_of_two_disposable_frames_is_kept),
        cmocka_unit_test(room_is_kept_for_the_key_frame_that_is_to_come),
        cmocka_unit_test(
            a_reference_too_late_for_all_makes_way_for_the_key_frame),
        cmocka_unit_test(a_full_queue_refuses_and_remembers),
        cmocka_unit_test(one_frame_larger_than_the_queue_is_taken),
        cmocka_unit_test(what_is_left_is_given_back),
        cmocka_unit_test(time_to_leave_is_exact_and_never_overflows),
        cmocka_unit_test(an_ample_link_carries_every_frame),
        cmocka_unit_test(
            an_overloaded_link_keeps_key_frames_and_most_of_the_bound),
        cmocka_unit_test(
            where_references_are_too_many_the_end_of_each_gop_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

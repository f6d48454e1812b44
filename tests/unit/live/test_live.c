/* SPDX-License-Identifier: MPL-2.0 */
/* libtltcp-live as its users have it, over the loopback. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/ts_mux.h"
#include "tests/unit/live/pair.h"
#include "tltcp/live_parts.h"

static void put(tltcp_live *l, unsigned stream, const char *text,
                uint32_t flags, int64_t pts) {
    tltcp_live_frame f;
    tltcp_live_frame_init(&f);
    f.stream = stream;
    f.data = text;
    f.len = strlen(text);
    f.flags = flags;
    f.pts = f.dts = pts;
    f.clock_offset = (int64_t)tltcp_now() - pts;
    f.tag = (uint64_t)pts + 7;
    assert_int_equal(tltcp_live_write(l, &f, FAR), 0);
}

/* --- Frames --------------------------------------------------------------- */

/* Each may have a megabyte, and there are 256 streams. */
TEST(descriptions_of_all_streams_take_a_limited_memory) {
    static uint8_t extradata[900000];
    struct pair p = open_pair("latency=2000");
    tltcp_live_frame f;
    tltcp_live_format format;
    tltcp_live_event ev;
    unsigned kept = 0;
    char url[64];
    int rc = TLTCP_ERR_AGAIN;
    await(p.out, TLTCP_LIVE_EVENT_CONNECTED, &ev); /* or the frame is let go */
    tltcp_live_format_init(&format);
    format.type = TLTCP_LIVE_DATA;
    format.codec = "bin";
    format.extradata = extradata;
    format.extradata_len = sizeof(extradata);
    for (unsigned i = 0; i < 12; i++) {
        assert_int_equal(tltcp_live_set_format(p.out, i, &format), 0);
    }
    put(p.out, 0, "data", 0, 1000);
    while (next(p.in, &f) == TLTCP_LIVE_READ_FORMAT) {
        kept++;
    }
    assert_int_equal(f.len, 4);
    assert_int_equal(kept, 9); /* 8 MiB */
    assert_int_equal(tltcp_live_get_format(p.in, 11, &format), TLTCP_ERR_INVAL);
    /* the next caller has as much */
    tltcp_live_close(p.out, 0);
    (void)snprintf(url, sizeof(url), "tltcp://127.0.0.1:%u?latency=2000",
                   port_of(p.in));
    p.out = open_live(TLTCP_LIVE_SEND, url);
    assert_int_equal(tltcp_live_set_format(p.out, 11, &format), 0);
    for (int i = 0; i < 200 && rc != TLTCP_LIVE_READ_FORMAT; i++) {
        put(p.out, 11, "data", 0, 1000);
        rc = tltcp_live_read(p.in, &f, 50);
    }
    assert_int_equal(rc, TLTCP_LIVE_READ_FORMAT);
    close_pair(&p);
}

TEST(frames_arrive_with_their_metadata) {
    struct pair p = open_pair("latency=2000");
    tltcp_live_frame f;
    tltcp_live_format format;
    tltcp_live_event ev;
    await(p.out, TLTCP_LIVE_EVENT_CONNECTING, &ev);
    describe(p.out, 0, TLTCP_LIVE_VIDEO, "theora");
    describe(p.out, 1, TLTCP_LIVE_AUDIO, "opus");
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FORMAT);
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FORMAT);
    tltcp_live_format_init(&format);
    assert_int_equal(tltcp_live_get_format(p.in, 0, &format), 0);
    assert_string_equal(format.codec, "theora");
    assert_int_equal(format.width, 320);
    assert_int_equal(format.latency_ms, 2000);
    assert_int_equal(tltcp_live_get_format(p.in, 2, &format), TLTCP_ERR_INVAL);

    put(p.out, 0, "key frame", TLTCP_LIVE_KEY, 1000);
    put(p.out, 1, "sound", 0, 2000);
    put(p.out, 0, "another", TLTCP_LIVE_DELTA, 3000);
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FRAME);
    assert_int_equal(f.len, 9);
    assert_memory_equal(f.data, "key frame", 9);
    assert_int_equal(f.frame_class, TL_CLASS_KEY);
    assert_int_equal(f.pts, 1000);
    assert_int_equal(f.tag, 1007);
    assert_true(f.complete);
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FRAME);
    assert_int_equal(f.stream, 1);
    assert_int_equal(f.frame_class, TL_CLASS_AUDIO);
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FRAME);
    assert_int_equal(f.frame_class, TL_CLASS_REFERENCE);
    assert_int_equal(f.number, 1);
    close_pair(&p);
}

TEST(frames_that_depend_on_one_that_is_too_big_are_dropped) {
    static char big[1 << 20];
    struct pair p = {.in = open_live(TLTCP_LIVE_RECEIVE,
                                     "tltcp://127.0.0.1:0?mode=listener")};
    char url[64];
    tltcp_live_options *o;
    tltcp_live_frame f;
    tltcp_live_event ev;
    (void)snprintf(url, sizeof(url), "tltcp://127.0.0.1:%u", port_of(p.in));
    o = options(url);
    tltcp_live_options_config(o)->send_buffer = sizeof(big) / 2;
    assert_int_equal(tltcp_live_open(&p.out, TLTCP_LIVE_SEND, o, why), 0);
    describe(p.out, 0, TLTCP_LIVE_VIDEO, "theora");
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FORMAT);
    memset(big, 'x', sizeof(big) - 1);
    put(p.out, 0, "key", TLTCP_LIVE_KEY, 1);
    put(p.out, 0, big, TLTCP_LIVE_DELTA, 2);
    put(p.out, 0, "needs it", TLTCP_LIVE_DELTA, 3);
    put(p.out, 0, "next key", TLTCP_LIVE_KEY, 4);
    await(p.out, TLTCP_LIVE_EVENT_DROP, &ev);
    assert_int_equal(ev.cause, TLTCP_LIVE_CAUSE_OVERFLOW);
    assert_int_equal(ev.tag, 2 + 7);
    await(p.out, TLTCP_LIVE_EVENT_DROP, &ev);
    assert_int_equal(ev.cause, TLTCP_LIVE_CAUSE_DEPENDS);
    assert_int_equal(ev.tag, 3 + 7);
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FRAME);
    assert_int_equal(f.tag, 1 + 7);
    do {
        assert_true(next(p.in, &f) > 0);
    } while (f.tag != 4 + 7);
    close_pair(&p);
}

TEST(it_can_be_asked_whether_a_picture_would_come_too_late) {
    struct pair p = open_pair("latency=2000");
    const size_t huge = UINT32_MAX / 2;
    tltcp_live_frame f;
    tltcp_live_event ev;
    assert_int_equal(tltcp_live_lateness(p.out, huge, tltcp_now() + TLTCP_S),
                     0); /* nothing is known yet */
    describe(p.out, 0, TLTCP_LIVE_VIDEO, "theora");
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FORMAT);
    for (int i = 0; i < 100; i++) {
        put(p.out, 0, "picture", TLTCP_LIVE_KEY, i);
    }
    await(p.out, TLTCP_LIVE_EVENT_RATE, &ev);
    assert_true(tltcp_live_lateness(p.out, huge, tltcp_now() + TLTCP_MS) > 0);
    assert_int_equal(
        tltcp_live_lateness(p.out, 100, tltcp_now() + 1000 * TLTCP_S), 0);
    assert_int_equal(tltcp_live_lateness(p.out, huge, TLTCP_TIME_NEVER), 0);
    close_pair(&p);
}

TEST(the_end_of_a_stream_is_reported_and_every_fate_is_known) {
    struct pair p = open_pair("latency=2000");
    tltcp_live_stats s;
    tltcp_live_frame f;
    tltcp_live_event ev;
    char json[4096];
    size_t len;
    describe(p.out, 0, TLTCP_LIVE_VIDEO, "theora");
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FORMAT);
    await(p.out, TLTCP_LIVE_EVENT_CONNECTED, &ev);
    assert_true(ev.address_len > 0);
    put(p.out, 0, "only", TLTCP_LIVE_KEY, 0);
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FRAME);
    assert_int_equal(tltcp_live_finish(p.out, FAR), 0);
    tltcp_live_stats_init(&s);
    assert_int_equal(tltcp_live_get_stats(p.out, &s), 0);
    assert_int_equal(s.classes[TL_CLASS_KEY].offered, 1);
    assert_int_equal(s.classes[TL_CLASS_KEY].delivered, 1);
    assert_int_equal(s.sections.delivered, 3); /* description, frame, end */
    assert_int_equal(s.queued_sections, 0);
    len = tltcp_live_stats_json(p.out, json, sizeof(json));
    assert_int_equal(len, strlen(json));
    assert_int_equal(tltcp_live_stats_json(p.out, NULL, 0), len);
    assert_non_null(strstr(json, "\"sections\":{\"offered\":3,"));
    assert_non_null(strstr(json, "\"peers\":[{\"rtt_ms\":"));
    tltcp_live_close(p.out, FAR);
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_END);
    tltcp_live_close(p.in, 0);
}

TEST(a_listener_sends_to_all_and_greets_new_callers) {
    tltcp_live *out = open_live(TLTCP_LIVE_SEND, "tltcp://127.0.0.1:0"
                                                 "?mode=listener&latency=2000");
    tltcp_live_frame f;
    tltcp_live_event ev;
    tltcp_live *in[2];
    char url[64];
    describe(out, 0, TLTCP_LIVE_VIDEO, "theora");
    (void)snprintf(url, sizeof(url), "tltcp://127.0.0.1:%u", port_of(out));
    for (int i = 0; i < 2; i++) {
        in[i] = open_live(TLTCP_LIVE_RECEIVE, url);
        assert_int_equal(next(in[i], &f), TLTCP_LIVE_READ_FORMAT);
        put(out, 0, "before", TLTCP_LIVE_KEY, 0);
    }
    await(out, TLTCP_LIVE_EVENT_KEY_WANTED, &ev); /* for the second one */
    assert_int_equal(next(in[0], &f), TLTCP_LIVE_READ_FRAME);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(next(in[i], &f), TLTCP_LIVE_READ_FRAME);
        assert_memory_equal(f.data, "before", 6);
    }
    tltcp_live_close(out, 0);
    tltcp_live_close(in[0], 0);
    tltcp_live_close(in[1], 0);
}

TEST(a_sender_calls_again_when_the_receiver_comes_back) {
    struct pair p = open_pair("latency=2000");
    char url[64];
    tltcp_live_frame f;
    tltcp_live_event ev;
    (void)snprintf(url, sizeof(url), "tltcp://127.0.0.1:%u?mode=listener",
                   port_of(p.in));
    describe(p.out, 0, TLTCP_LIVE_VIDEO, "theora");
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FORMAT);
    tltcp_live_close(p.in, 0);
    await(p.out, TLTCP_LIVE_EVENT_DISCONNECTED, &ev);
    assert_false(ev.final);
    p.in = open_live(TLTCP_LIVE_RECEIVE, url);
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FORMAT);
    close_pair(&p);
}

TEST(a_wrong_secret_is_an_event_with_its_cause) {
    tltcp_live *in =
        open_live(TLTCP_LIVE_RECEIVE, "tltcp://127.0.0.1:0?mode=listener"
                                      "&passphrase=the%20right%20one");
    tltcp_live_event ev;
    tltcp_live *out;
    char url[128];
    /* Emulated machines take seconds to make a key of a passphrase. */
    (void)snprintf(url, sizeof(url),
                   "tltcp://127.0.0.1:%u?passphrase=the%%20wrong%%20one"
                   "&connect-timeout=60000",
                   port_of(in));
    out = open_live(TLTCP_LIVE_SEND, url);
    await(out, TLTCP_LIVE_EVENT_REFUSED, &ev);
    assert_int_equal(ev.error, TLTCP_ERR_AUTH);
    assert_true(ev.final);
    assert_int_equal(tltcp_live_finish(out, FAR), TLTCP_ERR_AUTH);
    tltcp_live_close(out, 0);
    tltcp_live_close(in, 0);
}

TEST(waiting_can_be_interrupted) {
    tltcp_live *in =
        open_live(TLTCP_LIVE_RECEIVE, "tltcp://127.0.0.1:0?mode=listener");
    tltcp_live_frame f;
    tltcp_live_interrupt(in, true);
    assert_int_equal(next(in, &f), TLTCP_ERR_ABORTED);
    tltcp_live_interrupt(in, false);
    tltcp_live_frame_init(&f);
    assert_int_equal(tltcp_live_read(in, &f, 1), TLTCP_ERR_AGAIN);
    tltcp_live_close(in, 0);
}

TEST(frames_arrive_although_descriptors_for_waiting_are_lacking) {
    struct pair p = open_pair("latency=2000");
    int lowest = dup(STDIN_FILENO);
    struct rlimit before;
    struct rlimit tight;
    tltcp_live_event ev;
    tltcp_live_frame f;
    int fds[TLTCP_LIVE_FDS];
    tltcp_time when;
    int rc;
    assert_true(lowest >= 0);
    (void)close(lowest);
    await(p.out, TLTCP_LIVE_EVENT_CONNECTED, &ev);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    tight = before;
    tight.rlim_cur = (rlim_t)lowest;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    describe(p.out, 0, TLTCP_LIVE_VIDEO, "theora");
    rc = next(p.in, &f);
    (void)tltcp_live_fds(p.in, fds, &when);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(rc, TLTCP_LIVE_READ_FORMAT);
    assert_true(when < tltcp_now() + TLTCP_S);
    close_pair(&p);
}

TEST(waiting_for_room_ends_when_the_receiver_reads) {
    static char data[50000];
    tltcp_live *in =
        open_live(TLTCP_LIVE_RECEIVE, "tltcp://127.0.0.1:0?mode=listener");
    tltcp_live_options *o = tltcp_live_options_new();
    tltcp_live_event ev;
    tltcp_live *out;
    char url[64];
    (void)snprintf(url, sizeof(url), "tltcp://127.0.0.1:%u?deadline-mode=none",
                   port_of(in));
    assert_int_equal(tltcp_live_options_set_url(o, url, why), 0);
    tltcp_live_options_settings(o)->queue_bytes = 3 * sizeof(data);
    tltcp_live_options_config(o)->send_buffer = 2 * sizeof(data);
    assert_int_equal(tltcp_live_open(&out, TLTCP_LIVE_SEND, o, why), 0);
    assert_int_equal(tltcp_live_wait_room(in, 1, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_wait_room(out, sizeof(data), 0), 0);
    tltcp_live_event_init(&ev);
    while (tltcp_live_next_event(out, &ev, 0) != 1 ||
           ev.type != TLTCP_LIVE_EVENT_CONNECTED) {
        (void)tltcp_live_read_ts(in, data, sizeof(data), 1);
    }
    while (tltcp_live_wait_room(out, sizeof(data), 1) == 0) {
        assert_int_equal(tltcp_live_write_ts(out, data, sizeof(data), 0), 0);
    }
    while (tltcp_live_wait_room(out, sizeof(data), 0) == TLTCP_ERR_AGAIN) {
        assert_true(tltcp_live_read_ts(in, data, sizeof(data), FAR) > 0);
    }
    tltcp_live_interrupt(out, true);
    assert_int_equal(tltcp_live_wait_room(out, 1, -1), TLTCP_ERR_ABORTED);
    tltcp_live_close(out, 0);
    tltcp_live_close(in, 0);
}

/* --- Transport streams ---------------------------------------------------- */

static void read_all(tltcp_live *l, uint8_t *data, size_t len) {
    size_t have = 0;
    while (have < len) {
        ssize_t n = tltcp_live_read_ts(l, data + have, len - have, FAR);
        assert_true(n > 0);
        have += (size_t)n;
    }
}

/* The receiver accepts the call while it reads. */
static void await_connected(struct pair *p) {
    tltcp_live_event ev;
    uint8_t none;
    tltcp_live_event_init(&ev);
    while (tltcp_live_next_event(p->out, &ev, 0) != 1 ||
           ev.type != TLTCP_LIVE_EVENT_CONNECTED) {
        (void)tltcp_live_read_ts(p->in, &none, sizeof(none), 1);
    }
}

TEST(a_transport_stream_arrives_as_it_was) {
    static struct stream s;
    static uint8_t got[sizeof(s.data)];
    struct pair p = open_pair("latency=2000");
    tltcp_live_frame f;
    tltcp_live_frame_init(&f);
    assert_int_equal(tltcp_live_read(p.in, &f, 0), TLTCP_ERR_AGAIN);
    begin_stream(&s);
    add_picture(&s, 90000, true, 500);
    add_picture(&s, 93600, false, 300);
    await_connected(&p);
    assert_int_equal(tltcp_live_write_ts(p.out, s.data, s.len, FAR), 0);
    read_all(p.in, got, s.len);
    assert_memory_equal(got, s.data, s.len);
    close_pair(&p);
}

TEST(other_bytes_arrive_as_they_were_written) {
    struct pair p = open_pair("latency=2000");
    uint8_t got[5];
    await_connected(&p);
    assert_int_equal(tltcp_live_write_ts(p.out, "bytes", 5, FAR), 0);
    read_all(p.in, got, 5);
    assert_memory_equal(got, "bytes", 5);
    close_pair(&p);
}

/* Data without a header must not be taken for one. */
TEST(bytes_that_look_like_a_header_arrive_as_they_were_written) {
    static const char text[] = "PM, or what begins as headers of frames do, "
                               "for as long as one of them and more";
    struct pair p = open_pair("deadline-mode=none");
    tltcp_live_event ev;
    uint8_t got[sizeof(text)];
    (void)tltcp_live_read_ts(p.in, got, sizeof(got), 0);
    await(p.out, TLTCP_LIVE_EVENT_CONNECTED, &ev);
    assert_int_equal(tltcp_live_write_ts(p.out, text, sizeof(text), FAR), 0);
    assert_int_equal(tltcp_live_write_ts(p.out, text, 2, FAR), 0);
    assert_int_equal(tltcp_live_write_ts(p.out, text, 1, FAR), 0);
    read_all(p.in, got, sizeof(text));
    assert_memory_equal(got, text, sizeof(text));
    read_all(p.in, got, 3);
    assert_memory_equal(got, "PMP", 3);
    close_pair(&p);
}

TEST(a_receiver_that_is_to_take_one_sender_waits_for_no_other) {
    struct pair p;
    char url[64];
    uint8_t got[5];
    p.in = open_live(TLTCP_LIVE_RECEIVE,
                     "tltcp://127.0.0.1:0?mode=listener&auto-reconnect=no");
    (void)snprintf(url, sizeof(url), "tltcp://127.0.0.1:%u", port_of(p.in));
    p.out = open_live(TLTCP_LIVE_SEND, url);
    await_connected(&p);
    assert_int_equal(tltcp_live_write_ts(p.out, "bytes", 5, FAR), 0);
    read_all(p.in, got, 5);
    tltcp_live_close(p.out, FAR);
    assert_int_equal(tltcp_live_read_ts(p.in, got, sizeof(got), FAR), 0);
    assert_int_equal(tltcp_live_read_ts(p.in, got, sizeof(got), FAR),
                     TLTCP_ERR_CLOSED);
    tltcp_live_close(p.in, 0);
}

TEST(what_is_written_once_connected_is_never_let_go) {
    for (int i = 0; i < 300; i++) {
        struct pair p = open_pair("deadline-mode=none");
        tltcp_live_event ev;
        uint8_t got[5];
        (void)tltcp_live_read_ts(p.in, got, sizeof(got), 0);
        await(p.out, TLTCP_LIVE_EVENT_CONNECTED, &ev);
        assert_int_equal(tltcp_live_write_ts(p.out, "bytes", 5, FAR), 0);
        read_all(p.in, got, 5);
        close_pair(&p);
    }
}

/* What is left of a section is lost to tltcp_live_read_ts(). */
TEST(both_ways_of_reading_may_be_mixed) {
    struct pair p = open_pair("deadline-mode=none");
    tltcp_live_frame f;
    tltcp_live_event ev;
    uint8_t got[8];
    (void)tltcp_live_read_ts(p.in, got, sizeof(got), 0);
    await(p.out, TLTCP_LIVE_EVENT_CONNECTED, &ev);
    assert_int_equal(tltcp_live_write_ts(p.out, "first", 5, FAR), 0);
    assert_int_equal(tltcp_live_write_ts(p.out, "second", 6, FAR), 0);
    assert_int_equal(tltcp_live_write_ts(p.out, "third", 5, FAR), 0);
    assert_int_equal(tltcp_live_read_ts(p.in, got, 2, FAR), 2);
    assert_memory_equal(got, "fi", 2);
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FRAME);
    assert_int_equal(f.len, 6);
    assert_memory_equal(f.data, "second", 6);
    assert_int_equal(tltcp_live_read_ts(p.in, got, sizeof(got), FAR), 5);
    assert_memory_equal(got, "third", 5);
    close_pair(&p);
}

TEST(calls_for_the_other_direction_and_missing_data_are_refused) {
    struct pair p = open_pair("latency=100");
    tltcp_live_frame f;
    uint8_t got[8];
    tltcp_live_frame_init(&f);
    describe(p.out, 0, TLTCP_LIVE_VIDEO, "theora");
    f.len = 1; /* no data */
    assert_int_equal(tltcp_live_write(p.out, &f, 0), TLTCP_ERR_INVAL);
    f.data = "x";
    f.pts = INT64_C(1700000000000000000); /* since 1970: too large to read */
    assert_int_equal(tltcp_live_write(p.out, &f, 0), TLTCP_ERR_INVAL);
    f.pts = 0;
    f.arrived = TLTCP_TIME_NEVER;
    assert_int_equal(tltcp_live_write(p.out, &f, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_write(p.out, NULL, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_write(p.in, &f, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_write_ts(p.in, "x", 1, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_write_ts(p.out, NULL, 1, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_read(p.out, &f, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_read(p.in, NULL, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_read_ts(p.in, got, 0, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_read_ts(p.in, NULL, 1, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_read_ts(p.out, got, 1, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_finish(p.in, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_wait_room(p.in, 1, 0), TLTCP_ERR_INVAL);
    close_pair(&p);
}

TEST(a_live_object_needs_a_direction_and_a_connection) {
    tltcp_live_options *o = options("tltcp://127.0.0.1:7");
    tltcp_live *l;
    assert_int_equal(tltcp_live_open(&l, 77, o, NULL), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_open(NULL, TLTCP_LIVE_SEND, o, NULL),
                     TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_open_socket(&l, TLTCP_LIVE_SEND, NULL, NULL),
                     TLTCP_ERR_INVAL);
    assert_null(l);
    assert_int_equal(tltcp_live_open_socket(&l, 77, NULL, o), TLTCP_ERR_INVAL);
    assert_null(l);
}

/* A caller that ends its stream, and waits for the receiver's end. */
TEST(a_sender_hears_that_the_reader_could_not_store_the_end) {
    tltcp_live *in =
        open_live(TLTCP_LIVE_RECEIVE, "tltcp://127.0.0.1:0?mode=listener&"
                                      "auto-reconnect=no");
    tltcp_live_event ev;
    tltcp_socket *s;
    tltcp_event end = {.type = 0};
    char port[8];
    uint8_t got[5];
    struct iovec data = {(void *)(uintptr_t) "bytes", 5};
    tltcp_section section = {
        .data = &data, .count = 1, .deadline = TLTCP_TIME_NEVER};
    (void)snprintf(port, sizeof(port), "%u", port_of(in));
    assert_int_equal(tltcp_connect(&s, "127.0.0.1", port, NULL, FAR), 0);
    assert_int_equal(tltcp_send(s, &section, 1, 0), 5);
    assert_int_equal(tltcp_shutdown(s), 0);
    assert_int_equal(tltcp_live_read_ts(in, got, sizeof(got), FAR), 5);
    assert_int_equal(tltcp_live_read_ts(in, got, sizeof(got), FAR), 0);
    await(in, TLTCP_LIVE_EVENT_DISCONNECTED, &ev);
    assert_true(ev.final);
    assert_int_equal(tltcp_live_read_ts(in, got, sizeof(got), FAR),
                     TLTCP_ERR_CLOSED);
    tltcp_live_abort(in, "the disk is full");
    while (end.type != TLTCP_EVENT_CLOSED) {
        assert_int_equal(tltcp_next_event(s, &end, FAR), 1);
    }
    assert_int_equal(end.error, TLTCP_ERR_ABORTED);
    assert_string_equal(end.reason, "the disk is full");
    (void)tltcp_close(s, 0);
}

TEST(a_host_that_is_too_long_is_not_shortened) {
    char host[300];
    const tltcp_live_settings there = {.host = host, .service = "1"};
    tltcp_live_link *link;
    tltcp_config config;
    memset(host, 'a', sizeof(host) - 1);
    host[sizeof(host) - 1] = '\0';
    tltcp_config_init(&config);
    assert_int_equal(tltcp_live_link_new(&link, &there, &config, NULL, NULL),
                     TLTCP_ERR_ADDRESS);
    assert_null(link);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptions_of_all_streams_take_a_limited_memory),
        cmocka_unit_test(frames_arrive_with_their_metadata),
        cmocka_unit_test(frames_that_depend_on_one_that_is_too_big_are_dropped),
        cmocka_unit_test(it_can_be_asked_whether_a_picture_would_come_too_late),
        cmocka_unit_test(
            the_end_of_a_stream_is_reported_and_every_fate_is_known),
        cmocka_unit_test(a_listener_sends_to_all_and_greets_new_callers),
        cmocka_unit_test(a_sender_calls_again_when_the_receiver_comes_back),
        cmocka_unit_test(a_wrong_secret_is_an_event_with_its_cause),
        cmocka_unit_test(waiting_can_be_interrupted),
        cmocka_unit_test(
            frames_arrive_although_descriptors_for_waiting_are_lacking),
        cmocka_unit_test(waiting_for_room_ends_when_the_receiver_reads),
        cmocka_unit_test(a_transport_stream_arrives_as_it_was),
        cmocka_unit_test(other_bytes_arrive_as_they_were_written),
        cmocka_unit_test(
            a_receiver_that_is_to_take_one_sender_waits_for_no_other),
        cmocka_unit_test(what_is_written_once_connected_is_never_let_go),
        cmocka_unit_test(
            bytes_that_look_like_a_header_arrive_as_they_were_written),
        cmocka_unit_test(both_ways_of_reading_may_be_mixed),
        cmocka_unit_test(
            calls_for_the_other_direction_and_missing_data_are_refused),
        cmocka_unit_test(a_live_object_needs_a_direction_and_a_connection),
        cmocka_unit_test(
            a_sender_hears_that_the_reader_could_not_store_the_end),
        cmocka_unit_test(a_host_that_is_too_long_is_not_shortened),
    };
    return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}

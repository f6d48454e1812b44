/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/gst/support.h"

#include <congestion/congestion.h>
#include <tltcp/config.h>

#define CAPS "application/x-test, number=(int)7, word=(string)\"two words\""
#define MS GST_MSECOND

struct pair {
    GstHarness *src;
    GstHarness *sink;
};

static struct pair sink_calls(const char *sink_query, const char *src_query) {
    struct pair p;

    p.src = support_listener("tltcpsrc", src_query);
    p.sink = support_caller("tltcpsink", p.src->element, sink_query);
    return p;
}

static struct pair source_calls(const char *sink_query, const char *src_query) {
    struct pair p;

    p.sink = support_listener("tltcpsink", sink_query);
    p.src = support_caller("tltcpsrc", p.sink->element, src_query);
    return p;
}

static void end(struct pair p) {
    support_stop(p.sink);
    support_stop(p.src);
}

/* Pushes buffers of growing size, and sees that all arrive as they were. */
static void compare(struct pair p) {
    const guint flags[] = {GST_BUFFER_FLAG_HEADER, GST_BUFFER_FLAG_DELTA_UNIT,
                           GST_BUFFER_FLAG_DELTA_UNIT |
                               GST_BUFFER_FLAG_DROPPABLE,
                           GST_BUFFER_FLAG_MARKER, GST_BUFFER_FLAG_GAP};
    const guint all = GST_BUFFER_FLAG_HEADER | GST_BUFFER_FLAG_DELTA_UNIT |
                      GST_BUFFER_FLAG_DROPPABLE | GST_BUFFER_FLAG_MARKER |
                      GST_BUFFER_FLAG_GAP | GST_BUFFER_FLAG_CORRUPTED;
    GstClockTimeDiff offset = 0;

    gst_harness_set_src_caps_str(p.sink, CAPS);
    for (guint i = 0; i < 30; i++) {
        GstClockTime dts = i * 40 * MS;
        GstBuffer *sent = support_buffer((guint8)i, 1 + i * i * 50,
                                         dts + 80 * MS, dts, flags[i % 5]);
        gst_buffer_ref(sent);
        support_push(p.sink, sent);
        GstBuffer *got = support_pull(p.src);
        GstMapInfo map;
        gst_buffer_map(sent, &map, GST_MAP_READ);
        assert_int_equal(gst_buffer_get_size(got), map.size);
        assert_int_equal(gst_buffer_memcmp(got, 0, map.data, map.size), 0);
        gst_buffer_unmap(sent, &map);
        assert_int_equal(GST_BUFFER_FLAGS(got) & all, flags[i % 5]);
        assert_int_equal(GST_BUFFER_DURATION(got), 40 * MS);
        assert_int_equal(GST_BUFFER_PTS(got) - GST_BUFFER_DTS(got), 80 * MS);
        /* only ever earlier, when a buffer took less time than all before */
        assert_true(!i || GST_CLOCK_DIFF(dts, GST_BUFFER_DTS(got)) <= offset);
        offset = GST_CLOCK_DIFF(dts, GST_BUFFER_DTS(got));
        gst_buffer_unref(got);
        gst_buffer_unref(sent);
    }
    GstCaps *caps = gst_pad_get_current_caps(p.src->sinkpad);
    GstCaps *expected = gst_caps_from_string(CAPS);
    assert_true(gst_caps_is_equal(caps, expected));
    gst_caps_unref(expected);
    gst_caps_unref(caps);
}

TEST(a_calling_sink_reaches_a_listening_source) {
    struct pair p = sink_calls("latency=60000", "latency=60000");

    compare(p);
    end(p);
}

TEST(a_calling_source_reaches_a_listening_sink) {
    struct pair p = source_calls("latency=60000", "latency=60000");

    compare(p);
    end(p);
}

TEST(every_deadline_mode_and_policy_carries_the_stream) {
    for (guint i = 0; i < 12; i++) {
        g_autofree char *query = g_strdup_printf(
            "latency=60000&deadline-mode=%u&drop-policy=%u", i % 4, i / 4);
        struct pair p = sink_calls(query, "latency=60000");
        compare(p);
        end(p);
    }
}

TEST(every_controller_carries_the_stream) {
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        g_autofree char *query = g_strdup_printf(
            "latency=60000&max-send-bitrate=50000000&congestion-control=%s",
            *name);
        struct pair p = sink_calls(query, "latency=60000");
        compare(p);
        end(p);
    }
}

TEST(bytes_without_times_are_carried_reliably) {
    struct pair p = sink_calls("latency=1", "latency=1");
    GstSegment segment;

    gst_segment_init(&segment, GST_FORMAT_BYTES);
    gst_harness_push_event(p.sink, gst_event_new_stream_start("s"));
    gst_harness_push_event(p.sink, gst_event_new_segment(&segment));
    for (guint i = 0; i < 200; i++) {
        support_push(p.sink,
                     support_buffer((guint8)i, 20000, GST_CLOCK_TIME_NONE,
                                    GST_CLOCK_TIME_NONE, 0));
    }
    for (guint i = 0; i < 200; i++) {
        GstBuffer *got = support_pull(p.src);
        guint8 first = 0;
        gst_buffer_extract(got, 0, &first, 1);
        assert_int_equal(first, (guint8)i);
        assert_int_equal(gst_buffer_get_size(got), 20000);
        gst_buffer_unref(got);
    }
    assert_false(gst_pad_has_current_caps(p.src->sinkpad));
    end(p);
}

TEST(new_caps_in_mid_stream_arrive_before_their_buffers) {
    struct pair p = sink_calls("latency=60000", "latency=60000");

    for (guint i = 0; i < 3; i++) {
        g_autofree char *text =
            g_strdup_printf("application/x-test, number=(int)%u", i);
        gst_harness_set_src_caps_str(p.sink, text);
        support_push(p.sink,
                     support_buffer(0, 10, i * 40 * MS, i * 40 * MS, 0));
        gst_buffer_unref(support_pull(p.src));
        GstCaps *caps = gst_pad_get_current_caps(p.src->sinkpad);
        gint number = -1;
        gst_structure_get_int(gst_caps_get_structure(caps, 0), "number",
                              &number);
        assert_int_equal(number, i);
        gst_caps_unref(caps);
    }
    end(p);
}

TEST(the_end_travels) {
    struct pair p = sink_calls("latency=60000", "latency=60000");

    gst_harness_set_src_caps_str(p.sink, CAPS);
    support_push(p.sink, support_buffer(0, 10, 0, 0, 0));
    assert_true(gst_harness_push_event(p.sink, gst_event_new_eos()));
    gst_buffer_unref(support_pull(p.src));
    gst_event_unref(support_pull_event(p.src, GST_EVENT_EOS));
    end(p);
}

TEST(no_state_remains_after_an_immediate_end) {
    struct pair p = sink_calls("latency=60000", "latency=60000");

    gst_harness_set_src_caps_str(p.sink, CAPS);
    for (guint i = 0; i < 100; i++) {
        support_push(p.sink,
                     support_buffer((guint8)i, 30000, i * MS, i * MS, 0));
    }
    gst_harness_push_event(p.sink, gst_event_new_eos());
    for (guint i = 0; i < 100; i++) {
        gst_buffer_unref(support_pull(p.src));
    }
    gst_event_unref(support_pull_event(p.src, GST_EVENT_EOS));
    end(p);
}

TEST(a_gap_event_travels) {
    struct pair p = sink_calls("latency=60000", "latency=60000");
    GstClockTime start, duration;

    gst_harness_set_src_caps_str(p.sink, CAPS);
    support_push(p.sink, support_buffer(0, 10, 0, 0, 0));
    GstBuffer *buffer = support_pull(p.src);
    gst_harness_push_event(p.sink, gst_event_new_gap(40 * MS, 120 * MS));
    GstEvent *gap = support_pull_event(p.src, GST_EVENT_GAP);
    gst_event_parse_gap(gap, &start, &duration);
    assert_int_equal(start, GST_BUFFER_PTS(buffer) + 40 * MS);
    assert_int_equal(duration, 120 * MS);
    gst_event_unref(gap);
    gst_buffer_unref(buffer);
    end(p);
}

TEST(keep_listening_serves_one_sender_after_the_other) {
    GstHarness *src =
        support_listener("tltcpsrc", "latency=60000&keep-listening=true");

    for (guint i = 0; i < 3; i++) {
        GstHarness *sink =
            support_caller("tltcpsink", src->element, "latency=60000");
        gst_harness_set_src_caps_str(sink, CAPS);
        support_push(sink, support_buffer((guint8)(10 + i), 10, 0, 0, 0));
        GstBuffer *got = support_pull(src);
        guint8 first = 0;
        gst_buffer_extract(got, 0, &first, 1);
        assert_int_equal(first, 10 + i);
        assert_true(GST_BUFFER_FLAG_IS_SET(got, GST_BUFFER_FLAG_DISCONT));
        gst_buffer_unref(got);
        gst_harness_push_event(sink, gst_event_new_eos());
        support_stop(sink);
    }
    support_stop(src);
}

TEST(a_source_asks_for_its_latency) {
    GstHarness *timed = support_listener("tltcpsrc", "latency=321");
    GstHarness *at_once =
        support_listener("tltcpsrc", "latency=321&delivery=immediate");
    GstClockTime min = 0;
    GstClockTime max = 0;
    gboolean live = FALSE;

    GstQuery *query = gst_query_new_latency();
    assert_true(gst_element_query(timed->element, query));
    gst_query_parse_latency(query, &live, &min, &max);
    assert_true(live);
    assert_int_equal(min, 321 * MS);
    assert_int_equal(max, GST_CLOCK_TIME_NONE);
    gst_query_unref(query);
    query = gst_query_new_latency();
    assert_true(gst_element_query(at_once->element, query));
    gst_query_parse_latency(query, &live, &min, &max);
    assert_true(live);
    assert_int_equal(min, 0);
    gst_query_unref(query);
    support_stop(timed);
    support_stop(at_once);
}

static GstClockTime latency_of(GstElement *src) {
    GstQuery *query = gst_query_new_latency();
    GstClockTime min = 0;

    assert_true(gst_element_query(src, query));
    gst_query_parse_latency(query, NULL, &min, NULL);
    gst_query_unref(query);
    return min;
}

TEST(the_longer_latency_of_both_ends_holds) {
    for (guint i = 0; i < 2; i++) {
        struct pair p = sink_calls(i ? "latency=700" : "latency=300",
                                   i ? "latency=300" : "latency=700");
        GstBus *bus = support_bus(p.src);
        gst_harness_set_src_caps_str(p.sink, CAPS);
        support_push(p.sink, support_buffer(0, 10, 0, 0, 0));
        gst_buffer_unref(support_pull(p.src));
        assert_int_equal(latency_of(p.src->element), 700 * MS);
        GstMessage *m = gst_bus_pop_filtered(bus, GST_MESSAGE_LATENCY);
        assert_int_equal(m != NULL, i == 1);
        gst_clear_message(&m);
        gst_object_unref(bus);
        end(p);
    }
}

static guint64 get_u64(const GstStructure *s, const char *name) {
    guint64 value = G_MAXUINT64;

    if (!gst_structure_get_uint64(s, name, &value)) {
        fail_msg("no field %s", name);
    }
    return value;
}

static gboolean name_is_hyphenated(GQuark id, const GValue *value,
                                   gpointer user) {
    const char *name = g_quark_to_string(id);

    (void)value;
    (void)user;
    assert_null(strchr(name, '_'));
    return TRUE;
}

TEST(statistics_count_sent_and_received_data) {
    static const char *const gauges[] = {
        "cwnd-bytes",       "bytes-in-flight",       "rtt-us",
        "rtt-min-us",       "estimated-bitrate-bps", "packets-lost",
        "sections-expired", "delivery-time-us"};
    struct pair p = sink_calls("latency=60000", "latency=60000");
    GstStructure *s = NULL;

    gst_harness_set_src_caps_str(p.sink, SUPPORT_H264_CAPS);
    support_push(p.sink, support_frame('I', 1, 40 * MS, 0));
    support_push(p.sink, support_frame('B', 2, 80 * MS, 80 * MS));
    gst_buffer_unref(support_pull(p.src));
    gst_buffer_unref(support_pull(p.src));
    g_object_get(p.sink->element, "stats", &s, NULL);
    assert_string_equal(gst_structure_get_name(s),
                        "application/x-tltcp-statistics");
    assert_int_equal(get_u64(s, "frames-offered-key"), 1);
    assert_int_equal(get_u64(s, "frames-offered-disposable"), 1);
    assert_int_equal(get_u64(s, "sections-offered"), 3); /* caps too */
    assert_int_equal(get_u64(s, "frames-dropped"), 0);
    for (guint i = 0; i < G_N_ELEMENTS(gauges); i++) {
        get_u64(s, gauges[i]);
    }
    gst_structure_foreach(s, name_is_hyphenated, NULL);
    gst_structure_free(s);
    g_object_get(p.src->element, "stats", &s, NULL);
    assert_int_equal(get_u64(s, "frames-pushed-key"), 1);
    assert_int_equal(get_u64(s, "frames-pushed-disposable"), 1);
    assert_int_equal(get_u64(s, "frames-missing"), 0);
    assert_int_equal(get_u64(s, "frames-late"), 0);
    assert_int_equal(get_u64(s, "sections-complete"), 3);
    assert_true(get_u64(s, "end-to-end-latency-us") >= 5000000);
    assert_true(get_u64(s, "frame-delay-us") < 5000000);
    gst_structure_foreach(s, name_is_hyphenated, NULL);
    gst_structure_free(s);
    end(p);
}

static guint64 repair_sent(const char *fec) {
    g_autofree char *query = g_strdup_printf("latency=2000&fec=%s", fec);
    struct pair p = sink_calls(query, "latency=2000");
    GstStructure *stats = NULL;

    compare(p);
    g_object_get(p.sink->element, "stats", &stats, NULL);
    guint64 sent = get_u64(stats, "repair-bytes-sent");
    gst_structure_free(stats);
    g_object_get(p.src->element, "stats", &stats, NULL);
    assert_true(gst_structure_has_field(stats, "bytes-rebuilt"));
    gst_structure_free(stats);
    return sent;
}

TEST(repair_packets_are_sent_when_asked_for) {
    tltcp_config config;

    tltcp_config_init(&config);
    config.fec = TLTCP_FEC_ON;
    if (tltcp_config_check(&config, NULL) == TLTCP_ERR_UNSUPPORTED) {
        skip(); /* built without the erasure code */
    }
    assert_true(repair_sent("on") > 0);
    assert_int_equal(repair_sent("auto"), 0);
    assert_int_equal(repair_sent("off"), 0);
}

TEST(a_stream_travels_over_tcp) {
    static const char query[] = "latency=2000&transport=tcp";
    struct pair p = sink_calls(query, query);
    GstStructure *stats = NULL;

    compare(p);
    g_object_get(p.sink->element, "stats", &stats, NULL);
    assert_string_equal(gst_structure_get_string(stats, "transport"), "tcp");
    gst_structure_free(stats);
    end(p);
}

static GstClockTime running_time(GstElement *element) {
    GstClock *clock = gst_element_get_clock(element);
    GstClockTime now =
        gst_clock_get_time(clock) - gst_element_get_base_time(element);

    gst_object_unref(clock);
    return now;
}

/* Else all its buffers would be obsolete for ever. */
TEST(a_stream_whose_time_steps_back_goes_on) {
    struct pair p = sink_calls("latency=200", "latency=200");
    GstElement *sink = p.sink->element;
    GstBuffer *got = NULL;

    gst_harness_set_src_caps_str(p.sink, SUPPORT_H264_CAPS);
    assert_true(running_time(sink) > 10 * GST_SECOND); /* since the boot */
    support_push(p.sink, support_frame('I', 'a', running_time(sink),
                                       running_time(sink)));
    gst_buffer_unref(support_pull(p.src));
    for (guint i = 0; i < 250 && !got; i++) {
        GstClockTime captured = running_time(sink) - 5 * GST_SECOND;
        support_push(p.sink, support_frame('I', 'b', captured, captured));
        g_usleep(40000);
        got = gst_harness_try_pull(p.src);
    }
    assert_non_null(got);
    gst_buffer_unref(got);
    end(p);
}

TEST(timestamps_follow_the_display_times_of_the_sender) {
    struct pair p = sink_calls("latency=60000", "latency=60000");

    gst_harness_set_src_caps_str(p.sink, SUPPORT_H264_CAPS);
    support_push(p.sink, support_frame('I', 1, 40 * MS, 0));
    support_push(p.sink, support_frame('P', 2, 160 * MS, 40 * MS));
    support_push(p.sink, support_frame('B', 3, 80 * MS, 80 * MS));
    for (guint i = 0; i < 3; i++) {
        static const GstClockTime ahead[] = {40 * MS, 120 * MS, 0};
        GstBuffer *got = support_pull(p.src);
        assert_int_equal(support_mark(got), i + 1);
        assert_int_equal(GST_BUFFER_PTS(got) - GST_BUFFER_DTS(got), ahead[i]);
        gst_buffer_unref(got);
    }
    end(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_calling_sink_reaches_a_listening_source),
        cmocka_unit_test(a_calling_source_reaches_a_listening_sink),
        cmocka_unit_test(every_deadline_mode_and_policy_carries_the_stream),
        cmocka_unit_test(every_controller_carries_the_stream),
        cmocka_unit_test(bytes_without_times_are_carried_reliably),
        cmocka_unit_test(new_caps_in_mid_stream_arrive_before_their_buffers),
        cmocka_unit_test(the_end_travels),
        cmocka_unit_test(no_state_remains_after_an_immediate_end),
        cmocka_unit_test(a_gap_event_travels),
        cmocka_unit_test(keep_listening_serves_one_sender_after_the_other),
        cmocka_unit_test(a_source_asks_for_its_latency),
        cmocka_unit_test(the_longer_latency_of_both_ends_holds),
        cmocka_unit_test(statistics_count_sent_and_received_data),
        cmocka_unit_test(repair_packets_are_sent_when_asked_for),
        cmocka_unit_test(a_stream_travels_over_tcp),
        cmocka_unit_test(a_stream_whose_time_steps_back_goes_on),
        cmocka_unit_test(timestamps_follow_the_display_times_of_the_sender),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}

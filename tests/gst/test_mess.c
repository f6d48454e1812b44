/* SPDX-License-Identifier: MPL-2.0 */
/* Streams that are broken, times that are nonsense, callers in crowds, encoders
 * that do not listen: nothing crashes, nothing stands still, the end comes. */
#include <string.h>

#include <gio/gio.h>

#include <tltcp/socket.h>

#include "tests/gst/support.h"

#define MS GST_MSECOND

static const char *const codecs[] = {
    SUPPORT_H264_CAPS,
    "video/x-h265, stream-format=(string)byte-stream, alignment=(string)au",
    "video/mpeg, mpegversion=(int)2, systemstream=(boolean)false, "
    "parsed=(boolean)true",
    "video/mpeg, mpegversion=(int)4, systemstream=(boolean)false",
    "video/x-vp8",
    "video/x-vp9",
    "video/x-av1, stream-format=(string)obu-stream, alignment=(string)tu",
    "video/mpegts, systemstream=(boolean)true, packetsize=(int)188",
    "video/x-h264, stream-format=(string)avc, alignment=(string)au, "
    "codec_data=(buffer)01640000ffe100",
};

struct pair {
    GstHarness *src;
    GstHarness *sink;
};

static struct pair connect_pair(const char *src_query, const char *sink_query,
                                const char *caps) {
    struct pair p;

    p.src = support_listener("tltcpsrc", src_query);
    p.sink = support_caller("tltcpsink", p.src->element, sink_query);
    gst_harness_set_src_caps_str(p.sink, caps);
    return p;
}

static void push(struct pair *p, GstBuffer *buffer) {
    assert_int_equal(gst_harness_push(p->sink, buffer), GST_FLOW_OK);
}

/* What was sent came to its end, whatever was given up; returns the bytes that
 * arrived. */
static gsize finish(struct pair *p) {
    gsize bytes = 0;

    gst_harness_push_event(p->sink, gst_event_new_eos());
    gst_event_unref(support_pull_event(p->src, GST_EVENT_EOS));
    for (GstBuffer *b; (b = gst_harness_try_pull(p->src));) {
        bytes += gst_buffer_get_size(b);
        gst_buffer_unref(b);
    }
    support_stop(p->sink);
    support_stop(p->src);
    return bytes;
}

static guint32 next_random(guint32 *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Bytes that look like headers now and then. */
static GstBuffer *noise(guint32 *random, gsize len, GstClockTime t) {
    GstBuffer *buffer = support_buffer(0, len, t, t, 0);
    GstMapInfo map;

    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    for (gsize i = 0; i < len; i++) {
        guint32 r = next_random(random);
        map.data[i] = (guint8)(r & 0x100 ? r & 1 : r & 0x600 ? r : 0x47);
    }
    gst_buffer_unmap(buffer, &map);
    return buffer;
}

TEST(frames_cut_at_every_point_arrive_as_they_are) {
    struct pair p = connect_pair("latency=10000",
                                 "latency=10000&deadline-mode"
                                 "=none",
                                 SUPPORT_H264_CAPS);
    gsize sent = 0;

    for (gsize len = 0; len <= 200; len++) {
        GstBuffer *frame =
            support_frame(len % 3 ? 'P' : 'I', (guint8)len, len * MS, len * MS);
        gst_buffer_set_size(frame, (gssize)len);
        sent += len;
        push(&p, frame);
    }
    assert_int_equal(finish(&p), sent);
}

TEST(noise_is_carried_as_any_codec) {
    guint32 random = 1;

    for (gsize c = 0; c < G_N_ELEMENTS(codecs); c++) {
        struct pair p =
            connect_pair("latency=10000", "latency=10000", codecs[c]);
        for (guint i = 0; i < 60; i++) {
            push(&p, noise(&random, next_random(&random) % 3000 + 1, i * MS));
        }
        finish(&p);
    }
}

/* Packets whose tables, lengths and adaptation fields are nonsense. */
TEST(broken_transport_packets_are_survived) {
    struct pair p = connect_pair("latency=10000", "latency=10000", codecs[7]);
    guint32 random = 9;

    for (guint i = 0; i < 300; i++) {
        GstBuffer *buffer = noise(&random, 7 * 188, i * MS);
        for (gsize packet = 0; packet < 7; packet++) {
            guint8 head[4] = {0x47, (guint8)(next_random(&random) & 0x40),
                              (guint8)(next_random(&random) % 4),
                              (guint8)(next_random(&random))};
            gst_buffer_fill(buffer, packet * 188, head, sizeof(head));
        }
        push(&p, buffer);
    }
    finish(&p);
}

TEST(times_may_be_any) {
    static const GstClockTime odd[] = {
        GST_CLOCK_TIME_NONE,
        0,
        0,
        3600000 * GST_SECOND, /* as x264enc begins */
        40 * MS,
        G_MAXINT64,
        G_MAXUINT64 - 1,
        20 * MS,
        1,
        60 * MS,
    };
    static const char *const queries[] = {
        "deadline-mode=pts", "deadline-mode=gop", "deadline-mode=constant",
        "deadline-mode=pts&drop-policy=until-keyframe"};

    for (gsize q = 0; q < G_N_ELEMENTS(queries); q++) {
        struct pair p =
            connect_pair("latency=100", queries[q], SUPPORT_H264_CAPS);
        for (guint i = 0; i < 100; i++) {
            GstClockTime pts = odd[i % G_N_ELEMENTS(odd)];
            GstClockTime dts = odd[i / G_N_ELEMENTS(odd)];
            push(&p, support_frame(i % 5 ? 'P' : 'I', (guint8)i, pts, dts));
        }
        finish(&p);
    }
}

/* Behind a seek a demuxer begins with the key frame before the place: what is
 * shown later needs it. */
TEST(buffers_before_the_segment_are_decoded_only) {
    struct pair p =
        connect_pair("latency=10000", "latency=10000", SUPPORT_H264_CAPS);
    GstSegment segment;

    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.start = segment.time = 3600 * GST_SECOND;
    assert_true(
        gst_harness_push_event(p.sink, gst_event_new_segment(&segment)));
    for (guint i = 0; i < 100; i++) {
        GstClockTime t = segment.start + i * 40 * MS - 3000 * MS;
        push(&p, support_frame(i % 50 ? 'P' : 'I', (guint8)i, t, t));
    }
    for (guint i = 0; i < 100; i++) {
        GstBuffer *got = support_pull(p.src);
        assert_int_equal(support_mark(got), i);
        assert_int_equal(
            GST_BUFFER_FLAG_IS_SET(got, GST_BUFFER_FLAG_DECODE_ONLY), i < 75);
        /* The three seconds before are no latency. */
        assert_true(GST_BUFFER_PTS(got) <
                    gst_element_get_current_running_time(p.src->element) +
                        1100 * MS);
        gst_buffer_unref(got);
    }
    finish(&p);
}

TEST(caps_may_change_with_every_buffer) {
    struct pair p = connect_pair("latency=10000", "latency=10000", codecs[0]);
    guint32 random = 5;

    for (guint i = 0; i < 120; i++) {
        gst_harness_set_src_caps_str(p.sink, codecs[i % G_N_ELEMENTS(codecs)]);
        push(&p, noise(&random, 500, i * MS));
    }
    assert_true(finish(&p) > 0);
}

TEST(the_end_may_come_in_the_middle_of_a_group) {
    struct pair p =
        connect_pair("latency=10000", "latency=10000", SUPPORT_H264_CAPS);

    push(&p, support_frame('I', 0, 40 * MS, 0));
    push(&p, support_frame('P', 1, 160 * MS, 40 * MS));
    push(&p, support_frame('B', 2, 80 * MS, 80 * MS));
    assert_int_equal(finish(&p), 600);
}

static gpointer call_and_leave(gpointer user) {
    const char *port = user;
    gsize failed = 0;

    for (guint i = 0; i < 250; i++) {
        tltcp_socket *s = NULL;
        if (tltcp_connect(&s, "127.0.0.1", port, NULL, PATIENCE_MS) != 0) {
            failed++;
        }
        tltcp_close(s, 0);
    }
    return GSIZE_TO_POINTER(failed);
}

static guint callers(GstElement *sink) {
    GstStructure *stats = NULL;

    g_object_get(sink, "stats", &stats, NULL);
    const GValue *value = gst_structure_get_value(stats, "callers");
    GValueArray *array = g_value_get_boxed(value);
    guint n = array->n_values;
    gst_structure_free(stats);
    return n;
}

TEST(a_thousand_callers_come_and_go) {
    GstHarness *sink =
        support_listener("tltcpsink", "latency=1000&wait-for-connection=false");
    g_autofree char *port = g_strdup_printf("%u", support_port(sink->element));
    GThread *threads[4];
    gsize failed = 0;

    gst_harness_set_src_caps_str(sink, SUPPORT_H264_CAPS);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++) {
        threads[i] = g_thread_new("callers", call_and_leave, port);
    }
    for (guint i = 0; i < 100; i++) {
        assert_int_equal(
            gst_harness_push(sink, support_frame(i % 10 ? 'P' : 'I', 0,
                                                 i * 40 * MS, i * 40 * MS)),
            GST_FLOW_OK);
    }
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++) {
        failed += GPOINTER_TO_SIZE(g_thread_join(threads[i]));
    }
    assert_int_equal(failed, 0);
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;
    while (callers(sink->element) > 0 && g_get_monotonic_time() < end) {
        g_usleep(10000);
    }
    assert_int_equal(callers(sink->element), 0);
    support_stop(sink);
}

static void on_dropped(GstElement *sink, GSocketAddress *caller, guint stream,
                       const char *frame_class, const char *reason, guint64 tag,
                       gpointer user) {
    guint *count = user;

    (void)sink;
    (void)caller;
    assert_int_equal(stream, 0);
    assert_non_null(frame_class);
    assert_non_null(reason);
    count[tag == 7]++;
}

/* Many times as much as the connection may send. */
TEST(an_encoder_that_does_not_listen_is_no_end) {
    struct pair p =
        connect_pair("latency=200", "latency=200&max-send-bitrate=1000000",
                     SUPPORT_H264_CAPS);
    guint dropped[2] = {0};

    g_signal_connect(p.sink->element, "section-dropped", G_CALLBACK(on_dropped),
                     dropped);
    for (guint i = 0; i < 50; i++) {
        static const char kind[] = "IBPBPBPBPB";
        GstBuffer *frame =
            support_frame(kind[i % 10], 0, i * 40 * MS, i * 40 * MS);
        frame = gst_buffer_append(frame, support_buffer(0x80, 50000, 0, 0, 0));
        GstCustomMeta *m =
            gst_buffer_add_custom_meta(frame, "GstTltcpSendMeta");
        gst_structure_set(gst_custom_meta_get_structure(m), "tag",
                          G_TYPE_UINT64, (guint64)7, NULL);
        push(&p, frame);
    }
    gst_harness_push_event(p.sink, gst_event_new_eos()); /* drains */
    GstStructure *stats = NULL;
    g_object_get(p.sink->element, "stats", &stats, NULL);
    guint64 keys = 0;
    assert_true(gst_structure_get_uint64(stats, "frames-delivered-key", &keys));
    gst_structure_free(stats);
    assert_true(keys > 0);
    assert_true(finish(&p) > 0);
    assert_int_equal(dropped[0], 0);
    assert_true(dropped[1] > 10);
}

TEST(a_meta_classifies_a_buffer) {
    struct pair p =
        connect_pair("latency=10000", "latency=10000", SUPPORT_H264_CAPS);
    GstStructure *stats = NULL;
    guint64 count = 0;

    push(&p, support_frame('I', 0, 0, 0));
    for (guint i = 1; i < 4; i++) {
        GstBuffer *frame = support_frame('P', 0, i * 40 * MS, i * 40 * MS);
        GstCustomMeta *m =
            gst_buffer_add_custom_meta(frame, "GstTltcpSendMeta");
        gst_structure_set(gst_custom_meta_get_structure(m), "class",
                          G_TYPE_STRING, i == 3 ? "nonsense" : "disposable",
                          "independent", G_TYPE_BOOLEAN, i == 1, "deadline",
                          G_TYPE_UINT64, GST_CLOCK_TIME_NONE, NULL);
        push(&p, frame);
    }
    gst_harness_push_event(p.sink, gst_event_new_eos());
    g_object_get(p.sink->element, "stats", &stats, NULL);
    assert_true(
        gst_structure_get_uint64(stats, "frames-delivered-disposable", &count));
    assert_int_equal(count, 2);
    gst_structure_free(stats);
    assert_int_equal(finish(&p), 800);
}

/* The receiver sees what a frame is and what its sender called it. */
TEST(the_metadata_of_a_buffer_arrives) {
    static const char *const classes[] = {"key", "reference", "disposable"};
    struct pair p =
        connect_pair("latency=10000", "latency=10000", SUPPORT_H264_CAPS);

    for (guint i = 0; i < 3; i++) {
        GstBuffer *frame =
            support_frame("IPB"[i], 'a', i * 40 * MS, i * 40 * MS);
        GstCustomMeta *m =
            gst_buffer_add_custom_meta(frame, "GstTltcpSendMeta");
        gst_structure_set(gst_custom_meta_get_structure(m), "tag",
                          G_TYPE_UINT64, G_MAXUINT64 - i, NULL);
        push(&p, frame);
    }
    for (guint i = 0; i < 3; i++) {
        GstBuffer *got = support_pull(p.src);
        GstCustomMeta *m =
            gst_buffer_get_custom_meta(got, "GstTltcpReceiveMeta");
        guint64 tag = 0;
        guint64 section = 0;
        assert_non_null(m);
        const GstStructure *s = gst_custom_meta_get_structure(m);
        assert_string_equal(gst_structure_get_string(s, "class"), classes[i]);
        assert_true(gst_structure_get_uint64(s, "tag", &tag));
        assert_true(tag == G_MAXUINT64 - i);
        assert_true(gst_structure_get_uint64(s, "section", &section));
        assert_int_equal(section, i + 1); /* the first describes the stream */
        gst_buffer_unref(got);
    }
    finish(&p);
}

static void note_reason(GstElement *sink, GSocketAddress *caller, guint stream,
                        const char *frame_class, const char *reason,
                        guint64 tag, gpointer user) {
    GString *seen = user;

    (void)sink;
    (void)caller;
    (void)stream;
    (void)frame_class;
    g_string_append_printf(seen, "%c:%s ", (char)tag, reason);
}

/* Frames b and d are lost, of which the one is too late and the other refers to
 * it; those between them refer to others. */
TEST(a_meta_names_the_reference_of_a_buffer) {
    static const struct {
        char mark;
        guint depends;
        gboolean late;
    } frames[] = {{'a', 0, FALSE},
                  {'b', 1, TRUE},
                  {'c', 2, FALSE},
                  {'d', 2, FALSE},
                  {'e', 2, FALSE}};
    struct pair p =
        connect_pair("latency=10000", "latency=10000", SUPPORT_H264_CAPS);
    GString *seen = g_string_new(NULL);

    g_signal_connect(p.sink->element, "section-dropped",
                     G_CALLBACK(note_reason), seen);
    for (guint i = 0; i < G_N_ELEMENTS(frames); i++) {
        GstBuffer *frame = support_frame(i ? 'P' : 'I', (guint8)frames[i].mark,
                                         i * 40 * MS, i * 40 * MS);
        GstStructure *s = gst_custom_meta_get_structure(
            gst_buffer_add_custom_meta(frame, "GstTltcpSendMeta"));
        gst_structure_set(s, "depends", G_TYPE_UINT, frames[i].depends, "tag",
                          G_TYPE_UINT64, (guint64)frames[i].mark, NULL);
        if (frames[i].late) {
            gst_structure_set(s, "deadline", G_TYPE_UINT64, (guint64)1, NULL);
        }
        push(&p, frame);
    }
    support_expect(p.src, "ace");
    finish(&p);
    assert_string_equal(seen->str, "b:late d:depends ");
    g_string_free(seen, TRUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_cut_at_every_point_arrive_as_they_are),
        cmocka_unit_test(noise_is_carried_as_any_codec),
        cmocka_unit_test(broken_transport_packets_are_survived),
        cmocka_unit_test(times_may_be_any),
        cmocka_unit_test(buffers_before_the_segment_are_decoded_only),
        cmocka_unit_test(caps_may_change_with_every_buffer),
        cmocka_unit_test(the_end_may_come_in_the_middle_of_a_group),
        cmocka_unit_test(a_thousand_callers_come_and_go),
        cmocka_unit_test(an_encoder_that_does_not_listen_is_no_end),
        cmocka_unit_test(a_meta_classifies_a_buffer),
        cmocka_unit_test(the_metadata_of_a_buffer_arrives),
        cmocka_unit_test(a_meta_names_the_reference_of_a_buffer),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}

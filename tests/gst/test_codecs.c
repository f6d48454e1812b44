/* SPDX-License-Identifier: MPL-2.0 */
/* The frame scanner against real encoders, with the decoders as judges: what
 * it calls disposable can be left out and every other picture is decoded as
 * before, and from what it calls a closed key frame on decoding is right. */
#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "gst-plugins/gsttltcpcaps.h"
#include "gst-plugins/gsttltcpframer.h"
#include "media/frame.h"
#include "tests/gst/support.h"

#define FRAMES 60
#define FRAME_NS (40 * GST_MSECOND)

/* Every second frame stores nothing. */
#define LAYER_FLAGS                                                \
    "temporal-scalability-layer-flags=\"<"                         \
    "(GstVPXEncTsLayerFlags)no-upd-golden+no-upd-alt,"             \
    "(GstVPXEncTsLayerFlags)no-upd-last+no-upd-golden+no-upd-alt+" \
    "no-upd-entropy>\" "                                           \
    "temporal-scalability-layer-sync-flags=<(boolean)false,(boolean)false> "

#define X264 "x264enc bframes=2 b-pyramid=false key-int-max=25 "
#define X265                                                      \
    "x265enc key-int-max=20 option-string=\"bframes=3:b-adapt=0:" \
    "pools=1:frame-threads=1:log-level=none:"
#define AVDEC_H264 "avdec_h264 max-threads=1"
#define AVDEC_H265 "avdec_h265 max-threads=1"
#define AVDEC_MPEG2 "avdec_mpeg2video max-threads=1"
#define AVDEC_MPEG4 "avdec_mpeg4 max-threads=1"
#define AV1_UNITS \
    "! av1parse ! video/x-av1,alignment=tu,stream-format=obu-stream"

struct clip {
    GstCaps *caps;
    GPtrArray *buffers; /* GstBuffer */
    media_frame *frames;
    gint64 *display;
};

struct row {
    const char *name;
    const char *encoder;
    const char *decoder;
    guint disposable;  /* at least so many of FRAMES */
    guint keys;        /* at least */
    gboolean recovery; /* there are recovery points */
};

static const struct row rows[] = {
    {"MPEG-1",
     "mpeg2enc format=0 b-per-refframe=2 max-gop-size=12 ! mpegvideoparse",
     AVDEC_MPEG2, 30, 4, FALSE},
    {"MPEG-1 out of a file without times",
     "mpeg2enc format=0 b-per-refframe=2 max-gop-size=12 @ mpegvideoparse",
     AVDEC_MPEG2, 30, 4, FALSE},
    {"MPEG-2, two parsers",
     "mpeg2enc format=3 b-per-refframe=2 max-gop-size=12 ! mpegvideoparse ! "
     "mpegvideoparse",
     AVDEC_MPEG2, 30, 4, FALSE},
    {"MPEG-4 part 2", "avenc_mpeg4 max-bframes=2 gop-size=12", AVDEC_MPEG4, 30,
     4, FALSE},
    {"MPEG-4 part 2, parsed",
     "avenc_mpeg4 max-bframes=2 gop-size=12 ! mpeg4videoparse", AVDEC_MPEG4, 30,
     4, FALSE},
    {"H.264", X264, "h264parse ! " AVDEC_H264, 25, 3, FALSE},
    {"H.264 with lengths", X264 "! h264parse ! video/x-h264,stream-format=avc",
     AVDEC_H264, 25, 3, FALSE},
    {"H.264, two parsers", X264 "! h264parse ! h264parse", AVDEC_H264, 25, 3,
     FALSE},
    {"H.264 with B frames that are references",
     "x264enc bframes=3 b-adapt=false key-int-max=25 ! h264parse", AVDEC_H264,
     25, 3, FALSE},
    {"H.264, open GOPs",
     "x264enc bframes=3 b-adapt=false key-int-max=20 "
     "option-string=open-gop=1 ! h264parse",
     AVDEC_H264, 20, 3, FALSE},
    {"H.264, intra refresh",
     "x264enc bframes=0 intra-refresh=true key-int-max=20 ! h264parse",
     AVDEC_H264, 0, 1, TRUE},
    {"H.264 out of a demuxer, where every buffer looks like a key frame",
     X264 "! mpegtsmux ! tsdemux", "h264parse ! " AVDEC_H264, 25, 3, FALSE},
    {"H.264 in RTP", X264 "! rtph264pay mtu=300",
     "rtph264depay ! h264parse ! " AVDEC_H264, 25, 3, FALSE},
    {"H.264 in RTP, aggregated",
     X264 "! rtph264pay mtu=300 aggregate-mode=zero-latency "
          "config-interval=-1",
     "rtph264depay ! h264parse ! " AVDEC_H264, 25, 3, FALSE},
    {"H.264 by another encoder", "openh264enc gop-size=20 ! h264parse",
     AVDEC_H264, 0, 3, FALSE},
    {"H.265", X265 "open-gop=1\" ! h265parse", AVDEC_H265, 20, 3, FALSE},
    {"H.265, temporal layers",
     X265 "temporal-layers=1\" ! h265parse ! "
          "video/x-h265,stream-format=hvc1",
     AVDEC_H265, 20, 3, FALSE},
    {"H.265 in RTP", X265 "open-gop=0\" ! h265parse ! rtph265pay mtu=300",
     "rtph265depay ! h265parse ! " AVDEC_H265, 20, 3, FALSE},
    {"VP8", "vp8enc deadline=1 keyframe-max-dist=20", "vp8dec", 0, 3, FALSE},
    {"VP8, temporal layers",
     "vp8enc name=layered deadline=1 keyframe-max-dist=20 " LAYER_FLAGS
     "error-resilient=default",
     "vp8dec", 20, 3, FALSE},
    {"VP9", "vp9enc deadline=1 cpu-used=8 keyframe-max-dist=20", "vp9dec", 0, 3,
     FALSE},
    {"VP9 with hidden frames",
     "vp9enc deadline=1000000 cpu-used=8 keyframe-max-dist=30 "
     "lag-in-frames=10 auto-alt-ref=true",
     "vp9dec", 0, 2, FALSE},
    {"VP9, temporal layers",
     "vp9enc name=layered deadline=1 cpu-used=8 "
     "keyframe-max-dist=20 " LAYER_FLAGS "error-resilient=default",
     "vp9dec", 15, 3, FALSE},
    {"AV1",
     "av1enc usage-profile=realtime cpu-used=8 keyframe-max-dist=20 " AV1_UNITS,
     "av1dec", 0, 3, FALSE},
    {"AV1 with hidden frames",
     "av1enc cpu-used=8 lag-in-frames=8 keyframe-max-dist=30 " AV1_UNITS,
     "av1dec", 1, 2, FALSE},
};

static void on_buffer(GstElement *sink, GstBuffer *buffer, GstPad *pad,
                      struct clip *clip) {
    (void)sink;
    if (!clip->caps) {
        clip->caps = gst_pad_get_current_caps(pad);
    }
    g_ptr_array_add(clip->buffers, gst_buffer_ref(buffer));
}

static GValueArray *pair(gint first, gint second) {
    G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    GValueArray *array = g_value_array_new(2);
    GValue value = G_VALUE_INIT;

    g_value_init(&value, G_TYPE_INT);
    g_value_set_int(&value, first);
    g_value_array_append(array, &value);
    g_value_set_int(&value, second);
    g_value_array_append(array, &value);
    G_GNUC_END_IGNORE_DEPRECATIONS
    return array;
}

/* Every second frame is in a layer that nobody needs; a launch line cannot say
 * so. */
static void set_layers(GstElement *encoder) {
    static const char *const names[] = {"temporal-scalability-layer-id",
                                        "temporal-scalability-rate-decimator",
                                        "temporal-scalability-target-bitrate"};
    GValueArray *values[] = {pair(0, 1), pair(2, 1), pair(200000, 300000)};

    g_object_set(encoder, "temporal-scalability-number-layers", 2,
                 "temporal-scalability-periodicity", 2, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_object_set(encoder, names[i], values[i], NULL);
        G_GNUC_BEGIN_IGNORE_DEPRECATIONS
        g_value_array_free(values[i]);
        G_GNUC_END_IGNORE_DEPRECATIONS
    }
}

static void run_to_end(const char *launch, struct clip *clip) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GstElement) pipeline = gst_parse_launch(launch, &error);

    if (g_error_matches(error, GST_PARSE_ERROR,
                        GST_PARSE_ERROR_NO_SUCH_ELEMENT)) {
        print_message("%s\n", error->message);
        skip();
    }
    if (!pipeline || error) {
        fail_msg("%s: %s", launch, error ? error->message : "");
    }
    g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    g_autoptr(GstElement) layered =
        gst_bin_get_by_name(GST_BIN(pipeline), "layered");
    g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
    if (layered) {
        set_layers(layered);
    }
    if (sink) {
        g_signal_connect(sink, "handoff", G_CALLBACK(on_buffer), clip);
    }
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    g_autoptr(GstMessage) message = gst_bus_timed_pop_filtered(
        bus, PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    assert_non_null(message);
    assert_int_equal(GST_MESSAGE_TYPE(message), GST_MESSAGE_EOS);
}

/* What stands behind @ reads what the encoder before it wrote into a file. */
static void encode(const char *encoder, struct clip *clip) {
    static const char *const source = "videotestsrc num-buffers=" G_STRINGIFY(
        FRAMES) " pattern=ball "
                "motion=sweep ! video/x-raw,format=I420,width=160,height=96,"
                "framerate=25/1";
    static const char *const sink =
        "fakesink name=sink signal-handoffs=true sync=false";
    g_auto(GStrv) parts = g_strsplit(encoder, "@", 2);
    g_autofree char *launch = NULL;

    clip->buffers =
        g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);
    if (parts[1]) {
        g_autofree char *file = NULL;
        int fd = g_file_open_tmp("codecs-XXXXXX", &file, NULL);
        assert_true(fd >= 0);
        g_close(fd, NULL);
        g_autofree char *write = g_strdup_printf(
            "%s ! %s ! filesink location=%s", source, parts[0], file);
        run_to_end(write, clip);
        launch = g_strdup_printf("filesrc location=%s ! %s ! %s", file,
                                 parts[1], sink);
        run_to_end(launch, clip);
        g_unlink(file);
    } else {
        launch = g_strdup_printf("%s ! %s ! %s", source, encoder, sink);
        run_to_end(launch, clip);
    }
    assert_non_null(clip->caps);
}

static void classify(struct clip *clip) {
    GstTltcpFramer framer;
    GstSegment segment;
    GQueue units = G_QUEUE_INIT;

    gst_tltcp_framer_init(&framer, 0);
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_tltcp_framer_set_caps(&framer, clip->caps);
    gst_tltcp_framer_set_deadlines(&framer, MEDIA_DEADLINE_PTS, 0, 0,
                                   clip->caps);
    clip->frames = g_new0(media_frame, clip->buffers->len);
    clip->display = g_new0(gint64, clip->buffers->len);
    for (guint i = 0; i < clip->buffers->len; i++) {
        GstBuffer *buffer = g_ptr_array_index(clip->buffers, i);
        media_times times =
            gst_tltcp_framer_times(&segment, buffer, i * FRAME_NS);
        gst_tltcp_framer_buffer(&framer, buffer, &times, &units);
        GstTltcpUnit *unit = g_queue_pop_head(&units);
        clip->frames[i] = unit->item.frame;
        clip->display[i] = unit->item.due;
        gst_tltcp_unit_free(unit);
    }
}

static void clear(struct clip *clip) {
    gst_caps_unref(clip->caps);
    g_ptr_array_unref(clip->buffers);
    g_free(clip->frames);
    g_free(clip->display);
}

/* Checksums of the pictures, of those frames for which keep() says so. */
static GPtrArray *decode(const struct clip *clip, const char *decoder,
                         gboolean (*keep)(const struct clip *, guint, guint),
                         guint arg) {
    GPtrArray *sums = g_ptr_array_new_with_free_func(g_free);
    GstHarness *h = gst_harness_new_parse(decoder);
    GstBuffer *out;
    GstMapInfo map;

    gst_harness_set_src_caps(h, gst_caps_ref(clip->caps));
    for (guint i = 0; i < clip->buffers->len; i++) {
        if (!keep || keep(clip, i, arg)) {
            GstBuffer *copy =
                gst_buffer_copy(g_ptr_array_index(clip->buffers, i));
            gst_harness_push(h, copy);
        }
    }
    gst_harness_push_event(h, gst_event_new_eos());
    while ((out = gst_harness_try_pull(h))) {
        gst_buffer_map(out, &map, GST_MAP_READ);
        g_ptr_array_add(sums, g_compute_checksum_for_data(G_CHECKSUM_MD5,
                                                          map.data, map.size));
        gst_buffer_unmap(out, &map);
        gst_buffer_unref(out);
    }
    gst_harness_teardown(h);
    return sums;
}

static gboolean is_needed(const struct clip *clip, guint i, guint unused) {
    (void)unused;
    return clip->frames[i].frame_class != MEDIA_CLASS_DISPOSABLE;
}

static gboolean is_behind(const struct clip *clip, guint i, guint first) {
    (void)clip;
    return i >= first;
}

/* How many of `part`, in order, are in `whole`. */
static guint matches(GPtrArray *whole, GPtrArray *part) {
    guint at = 0;
    guint found = 0;

    for (guint i = 0; i < part->len; i++) {
        guint from = at;
        while (at < whole->len && g_strcmp0(g_ptr_array_index(whole, at),
                                            g_ptr_array_index(part, i))) {
            at++;
        }
        if (at < whole->len) {
            found++;
            at++;
        } else {
            at = from;
        }
    }
    return found;
}

static guint count_class(const struct clip *clip, guint frame_class) {
    guint n = 0;

    for (guint i = 0; i < clip->buffers->len; i++) {
        n += clip->frames[i].frame_class == frame_class;
    }
    return n;
}

static void check_disposables(const struct clip *clip, const struct row *row,
                              GPtrArray *whole) {
    guint dropped = count_class(clip, MEDIA_CLASS_DISPOSABLE);
    g_autoptr(GPtrArray) part = decode(clip, row->decoder, is_needed, 0);

    print_message("%s: %u frames, %u shown, %u key, %u disposable\n", row->name,
                  clip->buffers->len, whole->len,
                  count_class(clip, MEDIA_CLASS_KEY), dropped);
    assert_int_equal(matches(whole, part), part->len);
    assert_true(part->len + dropped >= whole->len);
    assert_true(dropped >= row->disposable);
}

static void check_keys(const struct clip *clip, const struct row *row,
                       GPtrArray *whole) {
    guint last = 0;

    assert_true(count_class(clip, MEDIA_CLASS_KEY) >= row->keys);
    while (clip->frames[last].frame_class == MEDIA_CLASS_HEADER ||
           clip->frames[last].frame_class == MEDIA_CLASS_OTHER) {
        last++;
    }
    assert_true(clip->frames[last].key);
    for (guint i = 0; i < clip->buffers->len; i++) {
        const media_frame *f = &clip->frames[i];
        last = f->key && f->closed_gop && !f->continues ? i : last;
    }
    g_autoptr(GPtrArray) part = decode(clip, row->decoder, is_behind, last);
    assert_int_equal(matches(whole, part), part->len);
    assert_true(part->len > 0);
}

static int compare(gconstpointer a, gconstpointer b) {
    gint64 x = *(const gint64 *)a;
    gint64 y = *(const gint64 *)b;

    return x < y ? -1 : x > y;
}

/* Every frame that is shown has a display time of its own, one frame after
 * another, whatever the container says. */
static void check_display(const struct clip *clip, guint shown) {
    guint n = clip->buffers->len;
    g_autofree gint64 *sorted = g_memdup2(clip->display, n * sizeof(gint64));
    guint steps = 0;

    qsort(sorted, n, sizeof(sorted[0]), compare);
    for (guint i = 1; i < n; i++) {
        gint64 off = sorted[i] - sorted[i - 1] - (gint64)FRAME_NS;
        steps += ABS(off) < (gint64)GST_MSECOND * 10; /* demuxers jitter */
    }
    assert_true(steps + 3 >= shown - 1);
}

static void encoder_is_understood(void **state) {
    const struct row *row = *state;
    struct clip clip = {0};
    guint recoveries = 0;

    encode(row->encoder, &clip);
    classify(&clip);
    g_autoptr(GPtrArray) whole = decode(&clip, row->decoder, NULL, 0);
    assert_true(whole->len >= FRAMES - 2);
    check_disposables(&clip, row, whole);
    check_keys(&clip, row, whole);
    check_display(&clip, whole->len);
    for (guint i = 0; i < clip.buffers->len; i++) {
        recoveries += clip.frames[i].recovery;
    }
    assert_true(row->recovery == (recoveries > 0));
    clear(&clip);
}

int main(void) {
    struct CMUnitTest tests[G_N_ELEMENTS(rows)];

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        tests[i] = (struct CMUnitTest){rows[i].name, encoder_is_understood,
                                       NULL, NULL, (void *)(gsize)&rows[i]};
    }
    return cmocka_run_group_tests(tests, support_setup, NULL);
}

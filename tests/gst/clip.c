/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/gst/clip.h"

#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include <tltcp/types.h>

#include "gst-plugins/gsttltcpcaps.h"
#include "gst-plugins/gsttltcpframer.h"
#include "internal/media/codec/nal.h"
#include "internal/media/stream/chain.h"
#include "libtltcp/live/section.h"
#include "tests/gst/support.h"

/* Number of frames that are cut at every point up to a limit, and at fewer
 * after it.
 */
#define CUT_FRAMES 4
#define CUT_CLOSELY 64

/* As h264parse does: only the first has times. */
static void cut_units(struct clip *clip, GstBuffer *buffer) {
    media_nal_iter it;
    media_nal nal;
    GstMapInfo map;

    clip->caps = gst_caps_make_writable(clip->caps);
    gst_caps_set_simple(clip->caps, "alignment", G_TYPE_STRING, "nal", NULL);
    gst_buffer_map(buffer, &map, GST_MAP_READ);
    media__nal_begin(&it, map.data, map.size, 0);
    for (const guint8 *from = map.data; media__nal_next(&it, &nal);
         from = it.at) {
        GstBuffer *unit = gst_buffer_new_memdup(from, (gsize)(it.at - from));
        if (from == map.data) {
            gst_buffer_copy_into(unit, buffer, GST_BUFFER_COPY_TIMESTAMPS, 0,
                                 0);
        }
        g_ptr_array_add(clip->buffers, unit);
    }
    gst_buffer_unmap(buffer, &map);
}

static void on_buffer(GstElement *sink, GstBuffer *buffer, GstPad *pad,
                      struct clip *clip) {
    (void)sink;
    if (!clip->caps) {
        clip->caps = gst_pad_get_current_caps(pad);
    }
    if (clip->cut) {
        cut_units(clip, buffer);
    } else {
        g_ptr_array_add(clip->buffers, gst_buffer_ref(buffer));
    }
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
    g_autoptr(GstElement) cut = gst_bin_get_by_name(GST_BIN(pipeline), "cut");
    clip->cut = cut != NULL;
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

void clip_encode(struct clip *clip, const char *encoder) {
    static const char *const source = "videotestsrc num-buffers=" G_STRINGIFY(
        CLIP_FRAMES) " pattern=ball "
                     "motion=sweep ! "
                     "video/x-raw,format=I420,width=160,height=96,"
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

static void begin_framer(GstTltcpFramer *framer, GstCaps *caps) {
    gst_tltcp_framer_init(framer, 0);
    gst_tltcp_framer_set_caps(framer, caps);
    gst_tltcp_framer_set_deadlines(framer, TLTCP_LIVE_DEADLINE_PTS, 0, 0);
}

void clip_classify(struct clip *clip) {
    GstTltcpFramer framer;
    GstSegment segment;
    GQueue sections = G_QUEUE_INIT;
    tltcp_live_frame frame;

    gst_segment_init(&segment, GST_FORMAT_TIME);
    begin_framer(&framer, clip->caps);
    clip->frames = g_new0(media_frame, clip->buffers->len);
    clip->display = g_new0(gint64, clip->buffers->len);
    clip->begins = g_new0(GBytes *, clip->buffers->len);
    for (guint i = 0; i < clip->buffers->len; i++) {
        GstBuffer *buffer = g_ptr_array_index(clip->buffers, i);
        gst_tltcp_framer_times(&segment, buffer, &frame);
        frame.arrived = (tltcp_time)(1 + i * CLIP_FRAME_NS);
        gst_tltcp_framer_buffer(&framer, buffer, &frame, &sections);
        tltcp_live_section *section = g_queue_pop_head(&sections);
        clip->frames[i] = section->timed.frame;
        clip->display[i] = section->timed.due;
        if (section->begin) {
            clip->begins[i] =
                g_bytes_new(section->begin->data, section->begin->len);
        }
        tltcp_live_section_unref(section);
    }
    gst_tltcp_framer_clear(&framer);
}

/* The class of the last section that the framer makes of a buffer, or of
 * `before` when it makes none. */
static guint class_of(GstTltcpFramer *framer, GstBuffer *buffer, guint before) {
    GQueue sections = G_QUEUE_INIT;
    tltcp_live_section *section;
    tltcp_live_frame frame;

    tltcp_live_frame_init(&frame);
    gst_tltcp_framer_buffer(framer, buffer, &frame, &sections);
    while ((section = g_queue_pop_head(&sections))) {
        before = section->timed.frame.frame_class;
        tltcp_live_section_unref(section);
    }
    return before;
}

guint clip_cut_short(const struct clip *clip) {
    GstTltcpFramer framer;

    begin_framer(&framer, clip->caps);
    for (guint i = 0; i < MIN(CUT_FRAMES, clip->buffers->len); i++) {
        GstMapInfo map;
        GstBuffer *whole = g_ptr_array_index(clip->buffers, i);
        gst_buffer_map(whole, &map, GST_MAP_READ);
        for (gsize len = 1; len < map.size; len += 1 + len / CUT_CLOSELY) {
            /* just as large, so that a sanitizer sees one byte too far */
            g_autoptr(GstBuffer) cut = gst_buffer_new_memdup(map.data, len);
            assert_in_range(class_of(&framer, cut, 0), 0,
                            MEDIA_CLASS_COUNT - 1);
        }
        gst_buffer_unmap(whole, &map);
    }
    guint found = class_of(&framer, g_ptr_array_index(clip->buffers, 0),
                           MEDIA_CLASS_COUNT);
    gst_tltcp_framer_clear(&framer);
    return found;
}

void clip_refer(struct clip *clip) {
    media_chain chain = {0};

    clip->refers_to = g_new0(guint, clip->buffers->len);
    clip->dead = g_new0(gboolean, clip->buffers->len);
    for (guint i = 0; i < clip->buffers->len; i++) {
        media_timed_frame timed = {.frame = clip->frames[i],
                                   .due = clip->display[i]};
        guint32 back = media__chain_add(&chain, &timed, i);
        if (back && back != TL_DEPENDS_NONE) {
            clip->refers_to[i] = i - back + 1;
        }
    }
}

void clip_clear(struct clip *clip) {
    for (guint i = 0; i < clip->buffers->len; i++) {
        g_clear_pointer(&clip->begins[i], g_bytes_unref);
    }
    g_free(clip->begins);
    gst_caps_unref(clip->caps);
    g_ptr_array_unref(clip->buffers);
    g_free(clip->frames);
    g_free(clip->display);
    g_free(clip->refers_to);
    g_free(clip->dead);
}

/* A frame as it is given to the decoder, which has had none yet or has. */
static GstBuffer *given(const struct clip *clip, guint i, gboolean first) {
    GstBuffer *buffer = gst_buffer_copy(g_ptr_array_index(clip->buffers, i));

    if (first && clip->begins[i]) {
        gst_buffer_remove_all_memory(buffer);
        g_autoptr(GBytes) payload = g_bytes_new_from_bytes(
            clip->begins[i], MEDIA_HEADER_LEN,
            g_bytes_get_size(clip->begins[i]) - MEDIA_HEADER_LEN);
        gst_buffer_append_memory(
            buffer, gst_memory_new_wrapped(
                        GST_MEMORY_FLAG_READONLY,
                        (gpointer)g_bytes_get_data(payload, NULL),
                        g_bytes_get_size(payload), 0, g_bytes_get_size(payload),
                        g_bytes_ref(payload), (GDestroyNotify)g_bytes_unref));
    }
    return buffer;
}

static void drain(GstHarness *h, GPtrArray *sums) {
    GstBuffer *out;
    GstMapInfo map;

    gst_harness_push_event(h, gst_event_new_eos());
    while ((out = gst_harness_try_pull(h))) {
        gst_buffer_map(out, &map, GST_MAP_READ);
        g_ptr_array_add(sums, g_compute_checksum_for_data(G_CHECKSUM_MD5,
                                                          map.data, map.size));
        gst_buffer_unmap(out, &map);
        gst_buffer_unref(out);
    }
    gst_harness_teardown(h);
}

GPtrArray *clip_decode(const struct clip *clip, const char *decoder,
                       clip_filter keep, guint arg) {
    GPtrArray *sums = g_ptr_array_new_with_free_func(g_free);
    GstHarness *h = gst_harness_new_parse(decoder);
    gboolean first = TRUE;

    gst_harness_set_src_caps(h, gst_caps_ref(clip->caps));
    for (guint i = 0; i < clip->buffers->len; i++) {
        if (!keep || keep(clip, i, arg)) {
            gst_harness_push(h, given(clip, i, first));
            first = FALSE;
        }
    }
    drain(h, sums);
    return sums;
}

guint clip_matches(GPtrArray *whole, GPtrArray *part) {
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

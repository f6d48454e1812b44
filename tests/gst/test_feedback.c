/* SPDX-License-Identifier: MPL-2.0 */
/* Feedback to encoders: real ones, into a connection that loses frames. */
#include "tests/gst/support.h"

/* No key frame comes unasked, and nothing that was lost is worth sending. */
#define SENDER                                                          \
    "videotestsrc is-live=true pattern=snow ! video/x-raw,format=I420," \
    "width=320,height=240,framerate=25/1 ! %s ! "                       \
    "tltcpsink name=net latency=300 reference-grace=0 sync=false "      \
    "max-send-bitrate=400000 %s uri=tltcp://127.0.0.1:%u"

struct row {
    const char *name;
    const char *encoder;
};

static const struct row rows[] = {
    {"x264enc", "x264enc name=encoder tune=zerolatency speed-preset=ultrafast "
                "bitrate=2000 key-int-max=100000 ! h264parse"},
    {"vp8enc", "vp8enc name=encoder deadline=1 target-bitrate=2000000 "
               "keyframe-max-dist=100000 keyframe-mode=disabled"},
};

struct sender {
    GstHarness *src;
    GstElement *pipeline;
    GMutex lock;
    GCond changed;
    guint frames;
    guint keys;
};

static GstPadProbeReturn on_frame(GstPad *pad, GstPadProbeInfo *info,
                                  gpointer user) {
    struct sender *s = user;
    GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);

    (void)pad;
    g_mutex_lock(&s->lock);
    s->frames++;
    s->keys += !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    g_cond_broadcast(&s->changed);
    g_mutex_unlock(&s->lock);
    return GST_PAD_PROBE_OK;
}

static gboolean begin(struct sender *s, const struct row *row,
                      const char *properties) {
    g_autoptr(GError) error = NULL;

    memset(s, 0, sizeof(*s));
    g_mutex_init(&s->lock);
    g_cond_init(&s->changed);
    s->src = support_listener("tltcpsrc", "latency=100");
    g_autofree char *launch = g_strdup_printf(SENDER, row->encoder, properties,
                                              support_port(s->src->element));
    s->pipeline = gst_parse_launch(launch, &error);
    if (error) {
        print_message("%s\n", error->message);
        return FALSE;
    }
    g_autoptr(GstElement) encoder =
        gst_bin_get_by_name(GST_BIN(s->pipeline), "encoder");
    g_autoptr(GstPad) pad = gst_element_get_static_pad(encoder, "src");
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_frame, s, NULL);
    gst_element_set_state(s->pipeline, GST_STATE_PLAYING);
    return TRUE;
}

static void end(struct sender *s) {
    if (s->pipeline) {
        gst_element_set_state(s->pipeline, GST_STATE_NULL);
        gst_object_unref(s->pipeline);
    }
    support_stop(s->src);
    g_cond_clear(&s->changed);
    g_mutex_clear(&s->lock);
}

/* Waits for so many frames and key frames; FALSE: they do not come. */
static gboolean wait_for(struct sender *s, guint frames, guint keys) {
    gint64 until = g_get_monotonic_time() + PATIENCE / 1000;
    gboolean in_time = TRUE;

    g_mutex_lock(&s->lock);
    while (in_time && (s->frames < frames || s->keys < keys)) {
        in_time = g_cond_wait_until(&s->changed, &s->lock, until);
    }
    g_mutex_unlock(&s->lock);
    return in_time;
}

static guint64 count(struct sender *s, const char *name) {
    g_autoptr(GstElement) sink =
        gst_bin_get_by_name(GST_BIN(s->pipeline), "net");
    g_autoptr(GstStructure) stats = NULL;
    guint64 value = 0;

    g_object_get(sink, "stats", &stats, NULL);
    assert_true(gst_structure_get_uint64(stats, name, &value));
    return value;
}

/* Waits until a counter is that high. */
static gboolean wait_count(struct sender *s, const char *name, guint64 least) {
    gint64 until = g_get_monotonic_time() + PATIENCE / 1000;

    while (count(s, name) < least) {
        if (g_get_monotonic_time() > until) {
            return FALSE;
        }
        g_usleep(10000);
    }
    return TRUE;
}

TEST(an_encoder_restarts_after_a_loss_that_matters) {
    struct sender s;

    if (!begin(&s, *state, "")) {
        end(&s);
        skip();
    }
    assert_true(wait_for(&s, 0, 3));
    assert_true(count(&s, "frames-dropped-reference") > 0);
    assert_true(count(&s, "key-units-requested") >= 2);
    end(&s);
}

TEST(an_encoder_is_left_alone_when_not_wanted) {
    struct sender s;

    if (!begin(&s, *state, "force-key-unit=false")) {
        end(&s);
        skip();
    }
    assert_true(wait_for(&s, 60, 1));
    assert_true(wait_count(&s, "frames-dropped-reference", 1));
    assert_int_equal(s.keys, 1);
    end(&s);
}

/* Groups of ten pictures of which the connection carries a part. */
TEST(after_a_loss_a_key_frame_comes_first_when_asked_for) {
    static const struct row row = {
        "x264enc", "x264enc name=encoder tune=zerolatency bitrate=1200 "
                   "speed-preset=ultrafast key-int-max=10 ! h264parse"};
    struct sender s;
    guint losses = 0;
    guint whole = 0;

    if (!begin(&s, &row, "force-key-unit=false drop-policy=until-keyframe")) {
        end(&s);
        skip();
    }
    while (losses < 4 || whole < 4) { /* the first buffer counts as one */
        GstBuffer *b = support_pull(s.src);
        gboolean key = !GST_BUFFER_FLAG_IS_SET(b, GST_BUFFER_FLAG_DELTA_UNIT);
        gboolean gap = GST_BUFFER_FLAG_IS_SET(b, GST_BUFFER_FLAG_DISCONT);
        assert_true(key || !gap);
        losses += gap ? 1 : 0;
        whole += gap ? 0 : 1;
        gst_buffer_unref(b);
    }
    end(&s);
}

int main(void) {
    struct CMUnitTest tests[2 * G_N_ELEMENTS(rows) + 1] = {
        cmocka_unit_test(after_a_loss_a_key_frame_comes_first_when_asked_for)};

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        tests[2 * i + 1] = (struct CMUnitTest){
            rows[i].name, an_encoder_restarts_after_a_loss_that_matters, NULL,
            NULL, (void *)(gsize)&rows[i]};
        tests[2 * i + 2] = (struct CMUnitTest){
            rows[i].name, an_encoder_is_left_alone_when_not_wanted, NULL, NULL,
            (void *)(gsize)&rows[i]};
    }
    return cmocka_run_group_tests(tests, support_setup, NULL);
}

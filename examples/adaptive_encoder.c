/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A live encoder that adapts to the path: with encoder=auto, tltcpsink sets its
 * bit rate.
 *
 *   adaptive_encoder x264enc|x265enc|vp8enc|openh264enc URI [SECONDS]
 *
 * Prints a line per change; the rest could be a line for gst-launch-1.0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gst/gst.h>

struct encoder {
    const char *name;
    const char *launch;
    const char *property;
    double unit; /* unit of the property, bit/s */
};

static struct encoder encoders[] = {
    {"x264enc",
     "x264enc name=e tune=zerolatency speed-preset=ultrafast key-int-max=250 "
     "vbv-buf-capacity=200 bitrate=1000 ! h264parse",
     "bitrate", 1000},
    {"x265enc",
     "x265enc name=e tune=zerolatency speed-preset=ultrafast key-int-max=250 "
     "bitrate=1000 ! h265parse",
     "bitrate", 1000},
    {"vp8enc",
     "vp8enc name=e deadline=1 end-usage=cbr keyframe-max-dist=250 "
     "target-bitrate=1000000",
     "target-bitrate", 1},
    {"openh264enc",
     "openh264enc name=e rate-control=bitrate gop-size=250 bitrate=1000000 ! "
     "h264parse",
     "bitrate", 1},
};

static void on_bit_rate(GObject *encoder, GParamSpec *spec, gpointer user) {
    const struct encoder *e = user;
    GValue value = G_VALUE_INIT;

    g_value_init(&value, G_TYPE_INT64);
    g_object_get_property(encoder, spec->name, &value);
    printf("%.0f bit/s\n", (double)g_value_get_int64(&value) * e->unit);
    fflush(stdout);
}

static GstElement *make_pipeline(struct encoder *e, const char *uri) {
    GError *error = NULL;
    char *launch = g_strdup_printf(
        "videotestsrc is-live=true pattern=snow ! "
        "video/x-raw,format=I420,width=320,height=180,framerate=25/1 ! "
        "%s ! tltcpsink encoder=auto encoder-min-bitrate=100000 "
        "encoder-max-bitrate=8000000 uri=\"%s\"",
        e->launch, uri);
    GstElement *pipeline = gst_parse_launch(launch, &error);

    g_free(launch);
    if (!pipeline) {
        fprintf(stderr, "adaptive_encoder: %s\n", error->message);
        g_error_free(error);
        return NULL;
    }
    GstElement *encoder = gst_bin_get_by_name(GST_BIN(pipeline), "e");
    char *notify = g_strconcat("notify::", e->property, NULL);
    g_signal_connect(encoder, notify, G_CALLBACK(on_bit_rate), e);
    g_free(notify);
    gst_object_unref(encoder);
    return pipeline;
}

/* Returns whether the pipeline ran without errors until the time limit. */
static gboolean run(GstElement *pipeline, GstClockTime limit) {
    GstBus *bus = gst_element_get_bus(pipeline);

    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstMessage *m = gst_bus_timed_pop_filtered(bus, limit, GST_MESSAGE_ERROR);
    if (m) {
        GError *error = NULL;
        gst_message_parse_error(m, &error, NULL);
        fprintf(stderr, "adaptive_encoder: %s\n", error->message);
        g_error_free(error);
        gst_message_unref(m);
    }
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    return m == NULL;
}

int main(int argc, char **argv) {
    struct encoder *e = NULL;

    gst_init(&argc, &argv);
    for (size_t i = 0; argc > 2 && i < G_N_ELEMENTS(encoders); i++) {
        e = strcmp(encoders[i].name, argv[1]) == 0 ? &encoders[i] : e;
    }
    if (!e || argc > 4) {
        fprintf(stderr,
                "usage: %s x264enc|x265enc|vp8enc|openh264enc URI "
                "[SECONDS]\n",
                argv[0]);
        return 2;
    }
    GstElement *pipeline = make_pipeline(e, argv[2]);
    if (!pipeline) {
        return 1;
    }
    GstClockTime limit = argc > 3 ? strtoul(argv[3], NULL, 10) * GST_SECOND
                                  : GST_CLOCK_TIME_NONE;
    gboolean ok = run(pipeline, limit);
    gst_object_unref(pipeline);
    return ok ? 0 : 1;
}

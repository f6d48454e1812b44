/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A live encoder that follows what the path carries: its bit rate is set to a
 * part of tltcpsink's `estimated-bitrate` whenever that is notified.
 *
 *   adaptive_encoder x264enc|x265enc|vp8enc|openh264enc URI [SECONDS]
 *
 * Prints a line per change.  A lost picture that others need makes tltcpsink
 * ask the encoder for a key frame; that needs no code here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gst/gst.h>

#define LEAST 100000.0
#define MOST 8000000.0
#define START 1000000.0
/* The rest is for repairs, and for frames larger than the encoder meant. */
#define PART 0.85

struct encoder {
    const char *name;
    const char *launch;
    const char *property; /* may change while it runs */
    double unit;          /* of the property, bit/s */
    GstElement *element;
};

static struct encoder encoders[] = {
    {"x264enc",
     "x264enc name=e tune=zerolatency speed-preset=ultrafast key-int-max=250 "
     "vbv-buf-capacity=200 ! h264parse",
     "bitrate", 1000, NULL},
    {"x265enc",
     "x265enc name=e tune=zerolatency speed-preset=ultrafast key-int-max=250 "
     "! h265parse",
     "bitrate", 1000, NULL},
    {"vp8enc", "vp8enc name=e deadline=1 end-usage=cbr keyframe-max-dist=250",
     "target-bitrate", 1, NULL},
    {"openh264enc",
     "openh264enc name=e rate-control=bitrate gop-size=250 ! h264parse",
     "bitrate", 1, NULL},
};

static void set_rate(struct encoder *e, double rate) {
    char value[32];

    rate = CLAMP(rate, LEAST, MOST);
    snprintf(value, sizeof(value), "%.0f", rate / e->unit);
    gst_util_set_object_arg(G_OBJECT(e->element), e->property, value);
    printf("%.0f bit/s\n", rate);
    fflush(stdout);
}

static void on_estimate(GstElement *sink, GParamSpec *spec, gpointer user) {
    guint estimate = 0;

    (void)spec;
    g_object_get(sink, "estimated-bitrate", &estimate, NULL);
    if (estimate) {
        set_rate(user, estimate * PART);
    }
}

static GstElement *make_pipeline(struct encoder *e, const char *uri) {
    GError *error = NULL;
    char *launch = g_strdup_printf(
        "videotestsrc is-live=true pattern=snow ! "
        "video/x-raw,format=I420,width=320,height=180,framerate=25/1 ! "
        "%s ! tltcpsink name=sink uri=\"%s\"",
        e->launch, uri);
    GstElement *pipeline = gst_parse_launch(launch, &error);

    g_free(launch);
    if (!pipeline) {
        fprintf(stderr, "adaptive_encoder: %s\n", error->message);
        g_error_free(error);
        return NULL;
    }
    e->element = gst_bin_get_by_name(GST_BIN(pipeline), "e");
    GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    g_signal_connect(sink, "notify::estimated-bitrate", G_CALLBACK(on_estimate),
                     e);
    gst_object_unref(sink);
    set_rate(e, START);
    return pipeline;
}

/* Returns whether it went well until the time was over. */
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
    gst_object_unref(e->element);
    gst_object_unref(pipeline);
    return ok ? 0 : 1;
}

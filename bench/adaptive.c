/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A pipeline whose encoder adapts to its transport, for ./dev bench adaptive.
 *
 *   bench_adaptive FOLLOW PROPERTY UNIT MIN START MAX LATENCY_MS PIPELINE
 *
 * The encoder is called "enc" in PIPELINE, the sink "net".  PROPERTY of the
 * encoder takes rates in UNIT bit/s.  FOLLOW is one of
 *
 *   none      the rate stays START
 *   target    net's target-bitrate; without that property, as estimate
 *   estimate  85 % of net's estimated-bitrate
 *   whole     all of it
 *   rtt       by the round-trip time in srtsink's statistics, as BELABOX: up in
 *             small steps while it is short, down when it grows, to MIN when it
 *             nears the latency
 *
 * Prints "TIME_NS RATE" for each change, TIME on CLOCK_MONOTONIC.
 */
#include <gst/gst.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART 0.85
#define POLL_MS 20
#define STEP_DOWN_US 250000
#define STEP_UP_US 500000

struct follower {
    const char *follow;
    const char *property;
    double unit;
    double least;
    double most;
    double latency_ms;
    double rate;
    double rtt_low;  /* lowest, following slowly upwards */
    double rtt_mean; /* recent mean */
    gint64 down_next;
    gint64 up_next;
    GstElement *encoder;
    GstElement *net;
};

static void adaptive_set(struct follower *f, double rate) {
    char value[32];

    f->rate = CLAMP(rate, f->least, f->most);
    (void)snprintf(value, sizeof(value), "%.0f", f->rate / f->unit);
    gst_util_set_object_arg(G_OBJECT(f->encoder), f->property, value);
}

/* Whoever sets it: with encoder=auto the sink does. */
static void on_encoder(GObject *encoder, GParamSpec *spec, gpointer user) {
    const struct follower *f = user;
    GValue value = G_VALUE_INIT;
    GValue number = G_VALUE_INIT;

    g_value_init(&value, spec->value_type);
    g_value_init(&number, G_TYPE_DOUBLE);
    g_object_get_property(encoder, spec->name, &value);
    if (g_value_transform(&value, &number)) {
        printf("%" G_GINT64_FORMAT "000 %.0f\n", g_get_monotonic_time(),
               g_value_get_double(&number) * f->unit);
        fflush(stdout);
    }
    g_value_unset(&number);
    g_value_unset(&value);
}

static void on_rate(GObject *from, GParamSpec *spec, gpointer user) {
    struct follower *f = user;
    guint rate = 0;

    g_object_get(from, spec->name, &rate, NULL);
    if (rate != 0) {
        bool part = strcmp(spec->name, "estimated-bitrate") == 0 &&
                    strcmp(f->follow, "whole") != 0;
        adaptive_set(f, part ? rate * PART : rate);
    }
}

/* ---- by the round-trip time ---- */

static double rtt_of(const struct follower *f) {
    GstStructure *stats = NULL;
    double rtt = 0;

    g_object_get(f->net, "stats", &stats, NULL);
    if (stats != NULL) {
        (void)gst_structure_get_double(stats, "rtt-ms", &rtt);
        gst_structure_free(stats);
    }
    return rtt;
}

static gboolean on_poll(gpointer user) {
    struct follower *f = user;
    gint64 now = g_get_monotonic_time();
    double rtt = rtt_of(f);

    if (rtt <= 0) {
        return G_SOURCE_CONTINUE;
    }
    f->rtt_mean += (rtt - f->rtt_mean) * (f->rtt_mean > 0 ? 0.1 : 1);
    f->rtt_low = f->rtt_low == 0 || rtt < f->rtt_low ? rtt : f->rtt_low * 1.001;
    if (rtt >= f->rtt_low + f->latency_ms / 3) {
        if (f->rate > f->least) {
            adaptive_set(f, f->least);
        }
        f->up_next = now + STEP_UP_US;
    } else if (rtt > f->rtt_low + f->latency_ms / 5 && now > f->down_next) {
        adaptive_set(f, f->rate - (100e3 + f->rate / 10));
        f->down_next = now + STEP_DOWN_US;
    } else if (rtt > f->rtt_mean * 1.3 + 2 && now > f->down_next) {
        adaptive_set(f, f->rate - 100e3);
        f->down_next = now + STEP_DOWN_US;
    } else if (rtt <= f->rtt_mean + 1 && now > f->up_next) {
        adaptive_set(f, f->rate + 30e3 + f->rate / 30);
        f->up_next = now + STEP_UP_US;
    }
    return G_SOURCE_CONTINUE;
}

/* ---- the pipeline ---- */

static gboolean adaptive_has(GstElement *e, const char *property) {
    return g_object_class_find_property(G_OBJECT_GET_CLASS(e), property) !=
           NULL;
}

static void listen_to(GstElement *e, const char *property, GCallback call,
                      struct follower *f) {
    gchar *signal = g_strconcat("notify::", property, NULL);

    if (!adaptive_has(e, property)) {
        fprintf(stderr, "ERROR: no element has %s\n", property);
        exit(1);
    }
    (void)g_signal_connect(e, signal, call, f);
    g_free(signal);
}

static void adaptive_follow(struct follower *f) {
    if (strcmp(f->follow, "target") == 0) {
        listen_to(f->net,
                  adaptive_has(f->net, "target-bitrate") ? "target-bitrate"
                                                         : "estimated-bitrate",
                  G_CALLBACK(on_rate), f);
    } else if (strcmp(f->follow, "estimate") == 0 ||
               strcmp(f->follow, "whole") == 0) {
        listen_to(f->net, "estimated-bitrate", G_CALLBACK(on_rate), f);
    } else if (strcmp(f->follow, "rtt") == 0) {
        (void)g_timeout_add(POLL_MS, on_poll, f);
    }
}

static gboolean on_message(GstBus *bus, GstMessage *m, gpointer loop) {
    GError *error = NULL;

    (void)bus;
    if (GST_MESSAGE_TYPE(m) == GST_MESSAGE_ERROR) {
        gst_message_parse_error(m, &error, NULL);
        fprintf(stderr, "ERROR: %s\n", error->message);
        exit(1);
    }
    if (GST_MESSAGE_TYPE(m) == GST_MESSAGE_EOS) {
        g_main_loop_quit(loop);
    }
    return TRUE;
}

static void adaptive_run(GstElement *pipeline) {
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    GstBus *bus = gst_element_get_bus(pipeline);

    (void)gst_bus_add_watch(bus, on_message, loop);
    (void)gst_element_set_state(pipeline, GST_STATE_PLAYING);
    g_main_loop_run(loop);
    (void)gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    g_main_loop_unref(loop);
}

int main(int argc, char **argv) {
    struct follower f;
    GstElement *pipeline;
    GError *error = NULL;

    gst_init(&argc, &argv);
    if (argc != 9) {
        fprintf(stderr,
                "usage: %s FOLLOW PROPERTY UNIT MIN START MAX "
                "LATENCY_MS PIPELINE\n",
                argv[0]);
        return 2;
    }
    f = (struct follower){.follow = argv[1],
                          .property = argv[2],
                          .unit = strtod(argv[3], NULL),
                          .least = strtod(argv[4], NULL),
                          .most = strtod(argv[6], NULL),
                          .latency_ms = strtod(argv[7], NULL)};
    pipeline = gst_parse_launch(argv[8], &error);
    if (error != NULL) {
        fprintf(stderr, "ERROR: %s\n", error->message);
        return 1;
    }
    f.encoder = gst_bin_get_by_name(GST_BIN(pipeline), "enc");
    f.net = gst_bin_get_by_name(GST_BIN(pipeline), "net");
    if (f.encoder == NULL || f.net == NULL) {
        fprintf(stderr, "ERROR: PIPELINE lacks an element enc or net\n");
        return 2;
    }
    listen_to(f.encoder, f.property, G_CALLBACK(on_encoder), &f);
    adaptive_set(&f, strtod(argv[5], NULL));
    adaptive_follow(&f);
    adaptive_run(pipeline);
    gst_object_unref(f.encoder);
    gst_object_unref(f.net);
    gst_object_unref(pipeline);
    return 0;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Complete pipelines with a TLTCP sink and source. */
#ifndef TESTS_GST_PIPELINES_H
#define TESTS_GST_PIPELINES_H

#include "tests/gst/support.h"

#define VIDEO                                                        \
    "videotestsrc pattern=ball %s ! video/x-raw,width=64,height=48," \
    "framerate=25/1 ! x264enc tune=zerolatency key-int-max=25 ! h264parse"
#define AUDIO                                                          \
    "audiotestsrc samplesperbuffer=320 %s ! audio/x-raw,format=S16LE," \
    "rate=8000,channels=1"

struct output {
    gchar *name;
    gchar *type;
    guint buffers;
    guint keys;
    GstClockTime first; /* time of the first buffer */
    GstClockTime last;
    gboolean eos;
    gchar *title;
    gchar *language;
};

struct run {
    GMutex lock; /* for outputs */
    GCond changed;
    GPtrArray *outputs;
    GstElement *sender;
    GstElement *receiver;
};

/* For cmocka_unit_test_setup_teardown(). */
int run_setup(void **state);
int run_teardown(void **state);

/* Stops both ends and discards the output. */
void run_clear(struct run *r);

/* A pipeline, playing. */
GstElement *pipeline_play(const char *launch);
void pipeline_stop(GstElement **pipeline);

/* Waits for a message; an error fails the test. */
void pipeline_wait(GstElement *pipeline, GstMessageType type);

/* A pipeline with one source of ours whose pads all end in fakesinks.  Returns
 * the port of a listener. */
guint run_receive(struct run *r, const char *uri);

/* Sends streams, such as VIDEO " ! s.", to a port. */
void run_send(struct run *r, guint port, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* Sends them to callers; the port is run_sink_port(). */
void run_send_to_callers(struct run *r, const char *format, ...)
    G_GNUC_PRINTF(2, 3);
guint run_sink_port(struct run *r);

/* Waits until both ends have ended. */
void run_wait_end(struct run *r);

/* The output of a media type, once it has `buffers` buffers; NULL: not yet. */
struct output *run_find(struct run *r, const char *type, guint buffers);

struct output *run_wait_output(struct run *r, const char *type, guint buffers);

#endif /* TESTS_GST_PIPELINES_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* Elements in harnesses, connected over the loopback. */
#ifndef TESTS_GST_SUPPORT_H
#define TESTS_GST_SUPPORT_H

#include "tests/support/cmocka.h"

#include <gst/check/gstharness.h>
#include <gst/gst.h>

/* Time limit of every wait in a test. */
#define PATIENCE (60 * GST_SECOND)
#define PATIENCE_MS ((int)(PATIENCE / GST_MSECOND))

/* For cmocka_run_group_tests(): gst_init(), and the plug-in from the build. */
int support_setup(void **state);

/* An element with a URI; fails the test when it is refused. */
GstElement *support_element(const char *name, const char *uri);

/* An element in a harness that has the system's clock and is not playing yet.
 * Sinks do not synchronise. */
GstHarness *support_harness(GstElement *element);

/* Stops the element of a harness, and frees both. */
void support_stop(GstHarness *h);

/* For cmocka_unit_test_teardown(): stops the elements that a failure left
 * running. The data of their signals must outlive the test's function. */
int support_stop_all(void **state);

/* The port that a listener was given. */
guint support_port(GstElement *element);

/* A harness of the other element that calls `listener`. */
GstHarness *support_caller(const char *name, GstElement *listener,
                           const char *query);

/* A listener on any port, with `query` behind its URI, playing. */
GstHarness *support_listener(const char *name, const char *query);

/* Waits until the element posts a connection message of that state. */
void support_wait_state(GstBus *bus, const char *state);

/* A separate bus for the element of a harness; unref it. */
GstBus *support_bus(GstHarness *h);

/* A buffer of `len` bytes that count up from `first`. */
GstBuffer *support_buffer(guint8 first, gsize len, GstClockTime pts,
                          GstClockTime dts, guint flags);

/* An H.264 access unit (start codes) that is long enough to be recognised: 'I',
 * 'P' or 'B' (disposable). */
GstBuffer *support_frame(char kind, guint8 mark, GstClockTime pts,
                         GstClockTime dts);

/* The mark of such a frame. */
guint8 support_mark(GstBuffer *buffer);

/* Pulls a buffer, or fails. */
GstBuffer *support_pull(GstHarness *h);

/* Pulls the next event of a type, or fails. */
GstEvent *support_pull_event(GstHarness *h, GstEventType type);

/* Pushes a buffer, which must be taken. */
void support_push(GstHarness *h, GstBuffer *buffer);

/* Pulls frames with just these marks. */
void support_expect(GstHarness *h, const char *marks);

/* Waits for an error of GST_RESOURCE_ERROR whose message has this word. */
void support_expect_error(GstBus *bus, gint code, const char *word);

/* Starting an element with this URI ends in such an error. */
void support_fails_at(const char *name, const char *uri, gint code,
                      const char *word);

/* A sink with this property does not start, and its error contains the word. */
void support_fails_with(const char *name, const char *value, const char *word);

#define SUPPORT_H264_CAPS                                   \
    "video/x-h264, stream-format=(string)byte-stream, "     \
    "alignment=(string)au, width=(int)64, height=(int)48, " \
    "framerate=(fraction)25/1, parsed=(boolean)true"

#endif /* TESTS_GST_SUPPORT_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* Shared by the parts of the sink: the element and its properties, the state of
 * a stream, the additional pads. */
#ifndef GST_TLTCP_SINK_IMPL_H
#define GST_TLTCP_SINK_IMPL_H

#include "gst-plugins/gsttltcpencoder.h"
#include "gst-plugins/gsttltcpframer.h"
#include "gst-plugins/gsttltcpqos.h"
#include "gst-plugins/gsttltcpsender.h"
#include "gst-plugins/gsttltcpsettings.h"
#include "gst-plugins/gsttltcpsink.h"

typedef struct GstTltcpStream GstTltcpStream;

/* A pause that upstream was asked for. */
typedef struct {
    gboolean on;
    gsize bytes;          /* of the next picture, expected */
    tltcp_time remaining; /* until it is due, after its capture */
    tltcp_time began;
    guint64 late;         /* by how much it would have been late then, ns */
    GstClockTime running; /* of the newest picture */
} GstTltcpPause;

/* The stream of one pad. Used only by that pad's streaming thread. */
struct GstTltcpStream {
    GstTltcpSink *sink;
    GstPad *pad;
    GstTltcpFramer framer;
    GstCaps *caps;
    GPtrArray *headers; /* GstBuffer: stream headers of the caps, or NULL */
    GstTagList *tags;   /* or NULL */
    gboolean begun;     /* a buffer was sent */
    /* Read by other threads under pads_lock. */
    gboolean described;
    gboolean ending; /* its end is about to be sent */
    gboolean ended;  /* additional pads only */
    gint64 lateness; /* smallest lateness of the buffers so far; -1: no buffer
                        yet */
    gint64 renewed;  /* likewise of those since ..., which were all obsolete;
                        -1: none */
    GstClockTime renewed_since; /* ... this running time */
    gint cancelled;             /* atomic: waiting for the sender must end */
    GstTltcpQos qos;
    GstTltcpPause pause; /* under the lock of the settings */
    /* Waits until streaming may go on after it was interrupted. */
    GstFlowReturn (*resume)(GstTltcpStream *stream);
};

struct _GstTltcpSink {
    GstBaseSink parent;

    GstTltcpSettings settings;
    /* More properties, under their lock. */
    gboolean wait_for_connection;
    gint deadline_mode;
    gint drop_policy;
    guint reference_grace; /* ms */
    guint64 max_send_bitrate;
    guint initial_window; /* packets; 0: default */
    gboolean force_key_unit;
    guint estimated_bitrate;
    guint target_bitrate;
    gint encoder_mode;
    guint64 encoder_min; /* bit/s; 0: none */
    guint64 encoder_max; /* bit/s; 0: the encoders' initial bit rates */
    gint64 key_unit_at;  /* last request, monotonic us */

    GstTltcpEncoderState encoder; /* of the sender's thread */

    GMutex sender_lock; /* for the pointer */
    GstTltcpSender *sender;
    GstTltcpStream stream;       /* of the first pad */
    GstClockTimeDiff own_offset; /* added to ts-offset by waiting */

    GMutex pads_lock; /* protects everything below */
    GCond pads_changed;
    GPtrArray *pads; /* GstTltcpSinkPad: the additional ones */
    guint8 newest;   /* the number of the last one added; 0: none yet */
    gboolean playing;
    gboolean starting; /* or playing: the first pad may receive buffers */
    gboolean stopping;
    gboolean flushing; /* the first pad */
    gboolean unlocked; /* the base class has unlocked the first pad's thread */
};

/* An additional pad. */
struct _GstTltcpSinkPad {
    GstPad parent;

    GstTltcpStream stream;
    GstSegment segment; /* streaming thread only */
    /* Under the sink's pads_lock: */
    GstClockID wait; /* NULL: not waiting for the clock */
    gboolean flushing;
};

#define GST_TYPE_TLTCP_SINK_PAD (gst_tltcp_sink_pad_get_type())
G_DECLARE_FINAL_TYPE(GstTltcpSinkPad, gst_tltcp_sink_pad, GST, TLTCP_SINK_PAD,
                     GstPad)

/* ---- properties: gsttltcpsinkprops.c ---- */

/* The class must already have its property functions. */
void gst_tltcp_sink_install_properties(GObjectClass *klass);
void gst_tltcp_sink_init_properties(GstTltcpSink *self);

/* The property `stats`. */
GstStructure *gst_tltcp_sink_stats(GstTltcpSink *self);

/* ---- all streams: gsttltcpsinkgroup.c ---- */

/* Whether there is a sender. TRUE: there is until the pad that asks has been
 * deactivated. Additional pads get events before the sink starts, too. */
gboolean gst_tltcp_sink_has_sender(GstTltcpSink *self);

/* How many streams there are and will be: those whose pads are linked, but none
 * that ended without a description. Receivers wait for as many. */
guint8 gst_tltcp_sink_group_count(GstTltcpSink *self);

/* Call this before the first frame of a stream. Waits a limited time until the
 * others have been described, so that the receiver can choose among them. */
void gst_tltcp_sink_group_wait_described(GstTltcpSink *self);

/* Call this at the end of a stream, before it is sent. TRUE: it is the last. */
gboolean gst_tltcp_sink_group_begin_eos(GstTltcpStream *ending);

/* Waits until the additional streams have ended. FALSE: unlocked before. */
gboolean gst_tltcp_sink_group_wait_eos(GstTltcpSink *self);

/* ---- a stream: gsttltcpsinkstream.c ---- */

void gst_tltcp_stream_init(GstTltcpStream *stream, GstTltcpSink *sink,
                           GstPad *pad, guint8 number);
void gst_tltcp_stream_clear(GstTltcpStream *stream);

/* Restarts for a new connection. */
void gst_tltcp_stream_restart(GstTltcpStream *stream);

void gst_tltcp_stream_set_caps(GstTltcpStream *stream, GstCaps *caps);

/* Waiting was interrupted: waits until it may be tried again. */
GstFlowReturn gst_tltcp_stream_resume(GstTltcpStream *stream);

/* Sends a buffer that is due. */
GstFlowReturn gst_tltcp_stream_render(GstTltcpStream *stream,
                                      const GstSegment *segment,
                                      GstBuffer *buffer);

/* Ends a pause when pictures would be in time again, or when it has lasted for
 * the lateness and that has not grown. To be called from the sender's thread.
 * FALSE: there is no pause any more. */
gboolean gst_tltcp_stream_end_pause(GstTltcpStream *stream);

void gst_tltcp_stream_gap(GstTltcpStream *stream, const GstSegment *segment,
                          GstEvent *event);
void gst_tltcp_stream_tags(GstTltcpStream *stream, GstEvent *event);
/* Unless it returns GST_FLOW_OK, the end was not sent. */
GstFlowReturn gst_tltcp_stream_eos(GstTltcpStream *stream);

/* ---- additional pads: gsttltcpsinkpad.c ---- */

void gst_tltcp_sink_pads_install(GstElementClass *klass);
void gst_tltcp_sink_pads_init(GstTltcpSink *self);
void gst_tltcp_sink_pads_clear(GstTltcpSink *self);

/* NULL: there are too many. */
GstPad *gst_tltcp_sink_pads_request(GstTltcpSink *self,
                                    GstPadTemplate *template);
void gst_tltcp_sink_pads_release(GstTltcpSink *self, GstPad *pad);

/* Call this before the element changes state. */
void gst_tltcp_sink_pads_before(GstTltcpSink *self, GstStateChange change);
void gst_tltcp_sink_pads_after(GstTltcpSink *self, GstStateChange change);

/* The first pad starts or stops flushing. */
void gst_tltcp_sink_pads_set_flushing(GstTltcpSink *self, gboolean flushing);
void gst_tltcp_sink_pads_set_unlocked(GstTltcpSink *self, gboolean unlocked);

/* References to the present pads, for calls that must not hold the lock.
 */
GPtrArray *gst_tltcp_sink_pads_copy(GstTltcpSink *self);

/* Sends an event upstream from each. The caller keeps its reference. */
void gst_tltcp_sink_pads_push_event(GstTltcpSink *self, GstEvent *event);

/* Adds the latency upstream of them to the answer to a latency query. */
void gst_tltcp_sink_pads_add_latency(GstTltcpSink *self, GstQuery *query);

#endif /* GST_TLTCP_SINK_IMPL_H */

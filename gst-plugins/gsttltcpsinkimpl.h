/* SPDX-License-Identifier: MPL-2.0 */
/* What the parts of the sink share: the element and its properties, what comes
 * in on a pad, the pads beside the first. */
#ifndef GST_TLTCP_SINK_IMPL_H
#define GST_TLTCP_SINK_IMPL_H

#include "gst-plugins/gsttltcpencoder.h"
#include "gst-plugins/gsttltcpframer.h"
#include "gst-plugins/gsttltcpqos.h"
#include "gst-plugins/gsttltcpsender.h"
#include "gst-plugins/gsttltcpsettings.h"
#include "gst-plugins/gsttltcpsink.h"

typedef struct GstTltcpStream GstTltcpStream;

/* What comes in on one pad.  Streaming thread of that pad only. */
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
    gboolean ended;  /* of the pads beside the first */
    gint64 lateness; /* smallest lateness of the buffers so far; -1: no buffer
                        yet */
    gint cancelled;  /* atomic: waiting for the sender is to end */
    GstTltcpQos qos;
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
    guint64 encoder_max; /* bit/s; 0: what the encoders began with */
    gint64 key_unit_at;  /* last request, monotonic us */

    GstTltcpEncoderState encoder; /* of the sender's thread */

    GMutex sender_lock; /* for the pointer */
    GstTltcpSender *sender;
    GstTltcpStream stream;       /* of the first pad */
    GstClockTimeDiff own_offset; /* what waiting has added to ts-offset */

    GMutex pads_lock; /* for all below */
    GCond pads_changed;
    GPtrArray *pads; /* GstTltcpSinkPad: those beside the first */
    guint8 next_stream;
    gboolean playing;
    gboolean starting; /* or playing: the first pad's buffers may come */
    gboolean stopping;
    gboolean flushing; /* the first pad */
    gboolean unlocked; /* the base class has unlocked the first pad's thread */
};

/* A pad beside the first. */
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

/* The class must have its property functions. */
void gst_tltcp_sink_install_properties(GObjectClass *klass);
void gst_tltcp_sink_init_properties(GstTltcpSink *self);

/* The property `stats`. */
GstStructure *gst_tltcp_sink_stats(GstTltcpSink *self);

/* ---- all streams: gsttltcpsinkgroup.c ---- */

/* How many streams will come: those whose pads are linked. */
guint8 gst_tltcp_sink_group_count(GstTltcpSink *self);

/* Before the first frame of a stream: waits a little until the others have been
 * described, so that the receiver can choose among them. */
void gst_tltcp_sink_group_wait_described(GstTltcpSink *self);

/* The end of a stream is about to be sent; TRUE: it is the last. */
gboolean gst_tltcp_sink_group_begin_eos(GstTltcpStream *ending);

/* Waits until the streams beside the first have ended.  FALSE: unlocked
 * before. */
gboolean gst_tltcp_sink_group_wait_eos(GstTltcpSink *self);

/* ---- a stream: gsttltcpsinkstream.c ---- */

void gst_tltcp_stream_init(GstTltcpStream *stream, GstTltcpSink *sink,
                           GstPad *pad, guint8 number);
void gst_tltcp_stream_clear(GstTltcpStream *stream);

/* Begins anew: the connection is new. */
void gst_tltcp_stream_restart(GstTltcpStream *stream);

void gst_tltcp_stream_set_caps(GstTltcpStream *stream, GstCaps *caps);

/* Waiting was interrupted: waits until it may be tried again. */
GstFlowReturn gst_tltcp_stream_resume(GstTltcpStream *stream);

/* Sends a buffer whose time has come. */
GstFlowReturn gst_tltcp_stream_render(GstTltcpStream *stream,
                                      const GstSegment *segment,
                                      GstBuffer *buffer);

void gst_tltcp_stream_gap(GstTltcpStream *stream, const GstSegment *segment,
                          GstEvent *event);
void gst_tltcp_stream_tags(GstTltcpStream *stream, GstEvent *event);
/* Other than GST_FLOW_OK: the end was not sent. */
GstFlowReturn gst_tltcp_stream_eos(GstTltcpStream *stream);

/* ---- pads beside the first: gsttltcpsinkpad.c ---- */

void gst_tltcp_sink_pads_install(GstElementClass *klass);
void gst_tltcp_sink_pads_init(GstTltcpSink *self);
void gst_tltcp_sink_pads_clear(GstTltcpSink *self);

/* NULL: there are too many. */
GstPad *gst_tltcp_sink_pads_request(GstTltcpSink *self,
                                    GstPadTemplate *template);
void gst_tltcp_sink_pads_release(GstTltcpSink *self, GstPad *pad);

/* Around a change of state of the element. */
void gst_tltcp_sink_pads_before(GstTltcpSink *self, GstStateChange change);
void gst_tltcp_sink_pads_after(GstTltcpSink *self, GstStateChange change);

/* The first pad starts or stops flushing. */
void gst_tltcp_sink_pads_set_flushing(GstTltcpSink *self, gboolean flushing);
void gst_tltcp_sink_pads_set_unlocked(GstTltcpSink *self, gboolean unlocked);

/* The pads as they are now, for calls that must not hold the lock; references.
 */
GPtrArray *gst_tltcp_sink_pads_copy(GstTltcpSink *self);

/* Sends an event upstream from each; it stays the caller's. */
void gst_tltcp_sink_pads_push_event(GstTltcpSink *self, GstEvent *event);

/* Adds what is upstream of them to the answer to a latency query. */
void gst_tltcp_sink_pads_add_latency(GstTltcpSink *self, GstQuery *query);

#endif /* GST_TLTCP_SINK_IMPL_H */

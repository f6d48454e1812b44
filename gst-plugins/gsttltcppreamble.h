/* SPDX-License-Identifier: MPL-2.0 */
/* The part of a stream that a connection gets before its first frame:
 * description, headers and tags. All calls require the sender's lock. */
#ifndef GST_TLTCP_PREAMBLE_H
#define GST_TLTCP_PREAMBLE_H

#include <glib.h>

#include <tltcp/live_parts.h>

typedef struct {
    tltcp_live_section *config;
    GPtrArray *headers;       /* tltcp_live_section, or NULL */
    tltcp_live_section *tags; /* or NULL */
    gboolean begun;           /* the headers may be sent */
} GstTltcpPreamble;

/* An empty table, indexed by stream number; a stream may have no preamble. */
GPtrArray *gst_tltcp_preambles_new(void);

/* NULL: there is none. */
GstTltcpPreamble *gst_tltcp_preambles_get(const GPtrArray *preambles,
                                          guint stream);

/* Replaces the preamble of a stream; `config` NULL removes it. */
void gst_tltcp_preambles_set(GPtrArray *preambles, guint stream,
                             tltcp_live_section *config, GPtrArray *headers);

void gst_tltcp_preamble_set_tags(GstTltcpPreamble *preamble,
                                 tltcp_live_section *tags);

void gst_tltcp_preamble_push_headers(const GstTltcpPreamble *preamble,
                                     tltcp_live_sender *to);

/* Gives a new connection the preambles of all streams, descriptions first. */
void gst_tltcp_preambles_push(const GPtrArray *preambles,
                              tltcp_live_sender *to);

#endif /* GST_TLTCP_PREAMBLE_H */

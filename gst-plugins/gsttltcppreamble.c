/* SPDX-License-Identifier: MPL-2.0 */
/* What a connection gets of a stream before its first frame. */
#include "gst-plugins/gsttltcppreamble.h"

static void preamble_free(gpointer user) {
    GstTltcpPreamble *preamble = user;

    if (preamble) {
        tltcp_live_section_unref(preamble->config);
        g_clear_pointer(&preamble->headers, g_ptr_array_unref);
        tltcp_live_section_unref(preamble->tags);
        g_free(preamble);
    }
}

GPtrArray *gst_tltcp_preambles_new(void) {
    return g_ptr_array_new_with_free_func(preamble_free);
}

GstTltcpPreamble *gst_tltcp_preambles_get(const GPtrArray *preambles,
                                          guint stream) {
    return stream < preambles->len ? g_ptr_array_index(preambles, stream)
                                   : NULL;
}

static GstTltcpPreamble *preamble_new(tltcp_live_section *config,
                                      GPtrArray *headers) {
    GstTltcpPreamble *preamble = g_new0(GstTltcpPreamble, 1);

    preamble->config = tltcp_live_section_ref(config);
    preamble->headers = headers ? g_ptr_array_ref(headers) : NULL;
    return preamble;
}

void gst_tltcp_preambles_set(GPtrArray *preambles, guint stream,
                             tltcp_live_section *config, GPtrArray *headers) {
    if (stream >= preambles->len) {
        g_ptr_array_set_size(preambles, (gint)stream + 1);
    }
    gpointer *slot = &g_ptr_array_index(preambles, stream);
    preamble_free(*slot);
    *slot = config ? preamble_new(config, headers) : NULL;
}

void gst_tltcp_preamble_set_tags(GstTltcpPreamble *preamble,
                                 tltcp_live_section *tags) {
    tltcp_live_section_unref(preamble->tags);
    preamble->tags = tltcp_live_section_ref(tags);
}

void gst_tltcp_preamble_push_headers(const GstTltcpPreamble *preamble,
                                     tltcp_live_sender *to) {
    for (guint i = 0; preamble->headers && i < preamble->headers->len; i++) {
        tltcp_live_sender_push(to, g_ptr_array_index(preamble->headers, i));
    }
}

void gst_tltcp_preambles_push(const GPtrArray *preambles,
                              tltcp_live_sender *to) {
    for (guint i = 0; i < preambles->len; i++) {
        const GstTltcpPreamble *p = g_ptr_array_index(preambles, i);
        if (p) {
            tltcp_live_sender_push(to, p->config);
        }
    }
    for (guint i = 0; i < preambles->len; i++) {
        const GstTltcpPreamble *p = g_ptr_array_index(preambles, i);
        if (p && p->begun) {
            gst_tltcp_preamble_push_headers(p, to);
        }
        if (p && p->tags) {
            tltcp_live_sender_push(to, p->tags);
        }
    }
}

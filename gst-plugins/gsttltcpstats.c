/* SPDX-License-Identifier: MPL-2.0 */
/* Statistics under the names of the elements. */
#include "gst-plugins/gsttltcpstats.h"

#include <stddef.h>

/* Fields of the library's statistics under the element's names. */
typedef struct {
    const gchar *name;
    gsize offset;
    guint64 divide; /* 1000: nanoseconds become microseconds */
} Field;

#define FIELD(name, field) \
    { name, offsetof(tltcp_stats, field), 1 }
#define FIELD_US(name, field) \
    { name, offsetof(tltcp_stats, field), 1000 }

static const Field fields[] = {
    FIELD("sections-offered", sections_offered),
    FIELD("sections-delivered", sections_delivered),
    FIELD("sections-partial", sections_partial),
    FIELD("sections-expired", sections_expired),
    FIELD("sections-complete", sections_complete),
    FIELD("sections-cut", sections_cut),
    FIELD("bytes-offered", bytes_offered),
    FIELD("bytes-delivered", bytes_delivered),
    FIELD("bytes-expired", bytes_expired),
    FIELD("bytes-sent", bytes_sent),
    FIELD("bytes-retransmitted", bytes_retransmitted),
    FIELD("bytes-queued", bytes_queued),
    FIELD("bytes-received", bytes_received),
    FIELD("bytes-read", bytes_read),
    FIELD("bytes-unread", bytes_unread),
    FIELD("bytes-rebuilt", bytes_rebuilt),
    FIELD("repair-bytes-sent", repair_bytes_sent),
    FIELD("gaps", gaps),
    FIELD("gap-bytes", gap_bytes),
    FIELD("packets-sent", packets_sent),
    FIELD("packets-received", packets_received),
    FIELD("packets-lost", packets_lost),
    FIELD("packets-lost-obsolete", packets_lost_obsolete),
    FIELD("packets-spurious", packets_spurious),
    FIELD("packets-dropped", packets_dropped),
    FIELD("packets-forged", packets_forged),
    FIELD("wire-bytes-sent", wire_bytes_sent),
    FIELD("wire-bytes-received", wire_bytes_received),
    FIELD("pseudo-retransmissions", pseudo_retransmissions),
    FIELD("seq-updates-sent", seq_updates_sent),
    FIELD("probes-sent", probes_sent),
    FIELD("rto-count", rto_count),
    FIELD("ecn-ce", ecn_ce),
    FIELD("congestion-events", congestion_events),
    FIELD("cwnd-bytes", cwnd_bytes),
    FIELD("ssthresh-bytes", ssthresh_bytes),
    FIELD("bytes-in-flight", bytes_in_flight),
    FIELD("pacing-rate-bps", pacing_rate_bps),
    FIELD("delivery-rate-bps", delivery_rate_bps),
    FIELD("estimated-bitrate-bps", estimated_bps),
    FIELD("target-bitrate-bps", target_bps),
    FIELD("mtu-bytes", datagram_bytes),
    FIELD_US("rtt-us", srtt_ns),
    FIELD_US("rtt-var-us", rttvar_ns),
    FIELD_US("rtt-min-us", min_rtt_ns),
    FIELD_US("rtt-latest-us", latest_rtt_ns),
    FIELD_US("rto-us", rto_ns),
};

void gst_tltcp_stats_add(GstStructure *s, const tltcp_stats *st) {
    for (gsize i = 0; i < G_N_ELEMENTS(fields); i++) {
        const guint8 *at = (const guint8 *)st + fields[i].offset;
        guint64 value = *(const uint64_t *)(gconstpointer)at;
        gst_structure_set(s, fields[i].name, G_TYPE_UINT64,
                          value / fields[i].divide, NULL);
    }
    gst_structure_set(
        s, "loss-rate", G_TYPE_DOUBLE, st->loss_rate, "congestion-control",
        G_TYPE_STRING, st->congestion, "recovery", G_TYPE_STRING, st->recovery,
        "transport", G_TYPE_STRING, st->transport, "connected-us",
        G_TYPE_UINT64, (guint64)(st->now - st->since) / 1000, NULL);
}

void gst_tltcp_stats_add_outside(GstStructure *s, const tltcp_stats *st) {
    gst_structure_set(
        s, "callers-rejected", G_TYPE_UINT64, (guint64)st->callers_rejected,
        "callers-turned-away", G_TYPE_UINT64, (guint64)st->callers_turned_away,
        "callers-retried", G_TYPE_UINT64, (guint64)st->callers_retried, NULL);
}

static void add_classes(GstStructure *s, const gchar *what,
                        const guint64 *values) {
    guint64 sum = 0;

    for (guint i = 0; i < MEDIA_CLASS_COUNT; i++) {
        g_autofree gchar *name =
            g_strdup_printf("frames-%s-%s", what, media__class_name(i));
        gst_structure_set(s, name, G_TYPE_UINT64, values[i], NULL);
        sum += values[i];
    }
    g_autofree gchar *total = g_strdup_printf("frames-%s", what);
    gst_structure_set(s, total, G_TYPE_UINT64, sum, NULL);
}

static void add_counts(GstStructure *s, const gchar *what,
                       const tltcp_live_stats *sent, gsize offset) {
    guint64 values[MEDIA_CLASS_COUNT];

    for (guint i = 0; i < MEDIA_CLASS_COUNT; i++) {
        const guint8 *at = (const guint8 *)&sent->classes[i] + offset;
        values[i] = *(const uint64_t *)(gconstpointer)at;
    }
    add_classes(s, what, values);
}

void gst_tltcp_stats_add_sent(GstStructure *s, const tltcp_live_stats *sent) {
    add_counts(s, "offered", sent, offsetof(tltcp_live_count, offered));
    add_counts(s, "delivered", sent, offsetof(tltcp_live_count, delivered));
    add_counts(s, "partial", sent, offsetof(tltcp_live_count, partial));
    add_counts(s, "expired", sent, offsetof(tltcp_live_count, expired));
    add_counts(s, "dropped", sent, offsetof(tltcp_live_count, dropped));
    for (guint i = TLTCP_LIVE_CAUSE_NONE + 1; i < TLTCP_LIVE_CAUSE_COUNT; i++) {
        g_autofree gchar *name = g_strdup_printf("frames-dropped-reason-%s",
                                                 tltcp_live_cause_name(i));
        gst_structure_set(s, name, G_TYPE_UINT64, (guint64)sent->dropped[i],
                          NULL);
    }
    gst_structure_set(s, "key-units-requested", G_TYPE_UINT64,
                      (guint64)sent->keys_wanted, NULL);
}

void gst_tltcp_stats_add_received(GstStructure *s, const GstTltcpReceived *r) {
    add_classes(s, "pushed", r->frames);
    gst_structure_set(s, "frames-cut", G_TYPE_UINT64, r->cut, "frames-missing",
                      G_TYPE_UINT64, r->missing, "frames-missing-references",
                      G_TYPE_UINT64, r->missing_references,
                      "frames-undecodable", G_TYPE_UINT64, r->undecodable,
                      "frames-held-back", G_TYPE_UINT64, r->held_back,
                      "frames-late", G_TYPE_UINT64, r->late, "frame-delay-us",
                      G_TYPE_UINT64, (guint64)MAX(r->delay_ns, 0) / 1000,
                      "sections-refused", G_TYPE_UINT64, r->refused, NULL);
}

void gst_tltcp_stats_add_latency(GstStructure *s, guint64 wait_ns) {
    guint64 rtt = 0;

    if (gst_structure_get_uint64(s, "rtt-min-us", &rtt)) {
        gst_structure_set(s, "end-to-end-latency-us", G_TYPE_UINT64,
                          rtt / 2 + wait_ns / 1000, NULL);
    }
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Trace events of a connection, as qlog names them. */
#include "libtltcp/engine/conn.h"

static void trace(const tltcp_conn *c, const char *name,
                  const char *const *keys, const double *values,
                  const char *text, tltcp_time now) {
    const tltcp_trace_event ev = {
        .name = name, .now = now, .keys = keys, .values = values, .text = text};
    c->trace.fn(c->trace.user, &ev);
}

void tltcp__trace_packet(const tltcp_conn *c, bool sent, uint64_t pn,
                         size_t size, tltcp_time now) {
    static const char *const keys[] = {"packet_number", "size", NULL};
    if (c->trace.fn != NULL) {
        const double values[] = {(double)pn, (double)size};
        trace(c, sent ? "transport:packet_sent" : "transport:packet_received",
              keys, values, NULL, now);
    }
}

void tltcp__trace_dropped(const tltcp_conn *c, const char *why) {
    static const char *const none[] = {NULL};
    if (c->trace.fn != NULL) {
        trace(c, "transport:packet_dropped", none, NULL, why, c->now);
    }
}

void tltcp__trace_metrics(const tltcp_conn *c, tltcp_time now) {
    static const char *const keys[] = {
        "congestion_window", "bytes_in_flight", "ssthresh",    "smoothed_rtt",
        "min_rtt",           "latest_rtt",      "pacing_rate", NULL};
    const tltcp__cc *cc = &c->sender.cc;
    const double ms = 1e-6; /* qlog's unit of time */
    const double values[] = {
        cc->cong->cwnd,
        tltcp__sender_flight(&c->sender),
        cc->cong->ssthresh,
        (double)cc->rtt.srtt * ms,
        (double)cc->rtt.min_rtt * ms,
        (double)cc->rtt.latest * ms,
        8 * cc->pacer.rate,
    };
    if (c->trace.fn != NULL) {
        trace(c, "recovery:metrics_updated", keys, values, NULL, now);
    }
}

void tltcp__trace_losses(const tltcp_conn *c, uint64_t before, tltcp_time now) {
    static const char *const keys[] = {"packets", NULL};
    const double values[] = {(double)(c->stats.packets_lost - before)};
    if (c->trace.fn != NULL && values[0] > 0) {
        trace(c, "recovery:packets_lost", keys, values, NULL, now);
    }
}

void tltcp__trace_fate(const tltcp_conn *c, const tltcp__fate_record *t) {
    static const char *const keys[] = {"section", "bytes", "acknowledged",
                                       NULL};
    static const char *const fates[] = {"",        "delivered", "partial",
                                        "expired", "unsent",    "abandoned"};
    const double values[] = {(double)t->section, (double)t->bytes,
                             (double)t->acked};
    if (c->trace.fn != NULL) {
        trace(c, "tltcp:section_fate", keys, values, fates[t->fate], t->now);
    }
}

void tltcp__trace_state(const tltcp_conn *c, const char *what, tltcp_time now) {
    static const char *const keys[] = {"error", NULL};
    const double values[] = {(double)c->close.error};
    if (c->trace.fn != NULL) {
        trace(c, "connectivity:connection_state_updated", keys, values, what,
              now);
    }
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/tltcp/send_stats.h"

#define MS 0.001       /* s */
#define PER_BYTE 0.125 /* bit/s in bytes per second */

/* The tables of docs/reference/statistics.md say more of each. */
enum {
    SECTIONS_OFFERED,
    SECTIONS_DELIVERED,
    SECTIONS_PARTIAL,
    SECTIONS_EXPIRED,
    BYTES_OFFERED,
    BYTES_DELIVERED,
    BYTES_EXPIRED,
    BYTES_SENT,
    BYTES_RETRANSMITTED,
    FRAMES_OFFERED,
    FRAMES_DELIVERED,
    FRAMES_PARTIAL,
    FRAMES_EXPIRED,
    HELD_BACK,
    SRTT,
    MIN_RTT,
    LOSS,
    WINDOW,
    GOODPUT,
    ESTIMATE,
    TARGET,
    REPAIR,
    SECONDS
};

static const struct figure_def defs[] = {
    [SECTIONS_OFFERED] = {"sections.offered", "sections_offered_total", NULL,
                          "Sections given to the connection.", FIGURE_COUNTER,
                          0, 1},
    [SECTIONS_DELIVERED] = {"sections.delivered", "sections_delivered_total",
                            NULL, "Sections that arrived whole.",
                            FIGURE_COUNTER, 0, 1},
    [SECTIONS_PARTIAL] = {"sections.partial", "sections_partial_total", NULL,
                          "Sections that arrived in part.", FIGURE_COUNTER, 0,
                          1},
    [SECTIONS_EXPIRED] = {"sections.expired", "sections_expired_total", NULL,
                          "Sections that did not arrive, or were never sent.",
                          FIGURE_COUNTER, 0, 1},
    [BYTES_OFFERED] = {"bytes.offered", "offered_bytes_total", NULL,
                       "Bytes of sections given to the connection.",
                       FIGURE_COUNTER, 0, 1},
    [BYTES_DELIVERED] = {"bytes.delivered", "delivered_bytes_total", NULL,
                         "Bytes of sections that arrived.", FIGURE_COUNTER, 0,
                         1},
    [BYTES_EXPIRED] = {"bytes.expired", "expired_bytes_total", NULL,
                       "Bytes of sections that did not arrive.", FIGURE_COUNTER,
                       0, 1},
    [BYTES_SENT] = {"bytes.sent", "sent_bytes_total", NULL,
                    "Bytes sent for the first time.", FIGURE_COUNTER, 0, 1},
    [BYTES_RETRANSMITTED] = {"bytes.retransmitted", "retransmitted_bytes_total",
                             NULL, "Bytes sent again.", FIGURE_COUNTER, 0, 1},
    [FRAMES_OFFERED] = {"frames.*.offered", "frames_offered_total", "kind",
                        "Frames given to the connection.", FIGURE_COUNTER, 0,
                        1},
    [FRAMES_DELIVERED] = {"frames.*.delivered", "frames_delivered_total",
                          "kind", "Frames that arrived whole.", FIGURE_COUNTER,
                          0, 1},
    [FRAMES_PARTIAL] = {"frames.*.partial", "frames_partial_total", "kind",
                        "Frames that arrived in part.", FIGURE_COUNTER, 0, 1},
    [FRAMES_EXPIRED] = {"frames.*.expired", "frames_expired_total", "kind",
                        "Frames that did not arrive, or were never sent.",
                        FIGURE_COUNTER, 0, 1},
    [HELD_BACK] = {"held_back.*", "frames_dropped_total", "cause",
                   "Frames that were never sent.", FIGURE_COUNTER, 0, 1},
    [SRTT] = {"srtt_ms", "rtt_seconds", NULL, "Smoothed round-trip time.",
              FIGURE_GAUGE, 3, MS},
    [MIN_RTT] = {"min_rtt_ms", "min_rtt_seconds", NULL,
                 "Smallest round-trip time.", FIGURE_GAUGE, 3, MS},
    [LOSS] = {"loss_rate", "loss_ratio", NULL, "Packets lost of those sent.",
              FIGURE_GAUGE, 6, 1},
    [WINDOW] = {"cwnd_bytes", "congestion_window_bytes", NULL,
                "Congestion window; 0: none.", FIGURE_GAUGE, 0, 1},
    [GOODPUT] = {"goodput_bps", "goodput_bytes_per_second", NULL,
                 "Delivered bytes over the whole time.", FIGURE_GAUGE, 0,
                 PER_BYTE},
    [ESTIMATE] = {"estimated_bps", "estimated_bytes_per_second", NULL,
                  "What the path carries.", FIGURE_GAUGE, 0, PER_BYTE},
    [TARGET] = {"target_bps", "target_bytes_per_second", NULL,
                "What an encoder should produce; 0: not known.", FIGURE_GAUGE,
                0, PER_BYTE},
    [REPAIR] = {"repair_bytes_sent", "repair_bytes_total", NULL,
                "Bytes sent for forward error correction.", FIGURE_COUNTER, 0,
                1},
    [SECONDS] = {"seconds", "uptime_seconds", NULL, "Time since the start.",
                 FIGURE_GAUGE, 3, 1}};

uint64_t send_stats_expired(const tltcp_live_count *c) {
    return c->expired + c->dropped + c->abandoned;
}

static void send_stats_add(struct figures *f, int kind, uint64_t value) {
    figures_add(f, &defs[kind], NULL, (double)value);
}

/* The four figures of a count, the first of which is `kind`. */
static void add_count(struct figures *f, int kind, const char *label,
                      const tltcp_live_count *c) {
    figures_add(f, &defs[kind], label, (double)c->offered);
    figures_add(f, &defs[kind + 1], label, (double)c->delivered);
    figures_add(f, &defs[kind + 2], label, (double)c->partial);
    figures_add(f, &defs[kind + 3], label, (double)send_stats_expired(c));
}

static void add_media(struct figures *f, const tltcp_live_stats *sent,
                      const tltcp_stats *st) {
    add_count(f, SECTIONS_OFFERED, NULL, &sent->sections);
    send_stats_add(f, BYTES_OFFERED, sent->bytes_offered);
    send_stats_add(f, BYTES_DELIVERED, st->bytes_delivered);
    send_stats_add(f, BYTES_EXPIRED, st->bytes_expired + sent->bytes_dropped);
    send_stats_add(f, BYTES_SENT, st->bytes_sent);
    send_stats_add(f, BYTES_RETRANSMITTED, st->bytes_retransmitted);
    for (unsigned k = 0; k < TLTCP_LIVE_KIND_COUNT; k++) {
        add_count(f, FRAMES_OFFERED, tltcp_live_kind_name(k), &sent->kinds[k]);
    }
    for (unsigned c = 1; c < TLTCP_LIVE_CAUSE_COUNT; c++) {
        figures_add(f, &defs[HELD_BACK], tltcp_live_cause_name(c),
                    (double)sent->dropped[c]);
    }
}

void send_stats(struct figures *f, const tltcp_live_stats *sent,
                const tltcp_stats *st, double seconds) {
    double bits = (double)st->bytes_delivered * 8;
    add_media(f, sent, st);
    figures_add(f, &defs[SRTT], NULL, (double)st->srtt_ns / 1e6);
    figures_add(f, &defs[MIN_RTT], NULL, (double)st->min_rtt_ns / 1e6);
    figures_add(f, &defs[LOSS], NULL, st->loss_rate);
    send_stats_add(f, WINDOW,
                   st->cwnd_bytes == UINT64_MAX ? 0 : st->cwnd_bytes);
    figures_add(f, &defs[GOODPUT], NULL, seconds > 0 ? bits / seconds : 0);
    send_stats_add(f, ESTIMATE, st->estimated_bps);
    send_stats_add(f, TARGET, st->target_bps);
    send_stats_add(f, REPAIR, st->repair_bytes_sent);
    figures_add(f, &defs[SECONDS], NULL, seconds);
}

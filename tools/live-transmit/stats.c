/* SPDX-License-Identifier: MPL-2.0 */
/* What tltcp-live-transmit counts, as text, JSON and CSV. */
#include "tools/live-transmit/stats.h"

#include <inttypes.h>

#include "tools/common/tool.h"
#include "tools/live-transmit/options.h"

#define MS 0.001       /* s */
#define PERCENT 0.01   /* as a ratio */
#define PER_BYTE 0.125 /* bit/s in bytes per second */

/* The table of docs/guide/from-srt.md says what to watch for in each. */
enum {
    SECONDS,
    CONNECTED,
    CONNECTIONS,
    BYTES_IN,
    INPUT_DROPPED,
    BYTES_OUT,
    SECTIONS_OFFERED,
    SECTIONS_DELIVERED,
    SECTIONS_LOST,
    OFFERED,
    DELIVERED,
    DROPPED,
    SECTIONS_RECEIVED,
    SECTIONS_CUT,
    GAP_BYTES,
    RTT,
    MIN_RTT,
    LOSS,
    RETRANSMITTED,
    REPAIR,
    REBUILT,
    WINDOW,
    ESTIMATE,
    TARGET
};

static const struct figure_def defs[] = {
    [SECONDS] = {"seconds", "uptime_seconds", NULL,
                 "Time since the start, or since the caller came.",
                 FIGURE_GAUGE, 3, 1},
    [CONNECTED] = {"connected", "connected", NULL, "Connections that are open.",
                   FIGURE_GAUGE, 0, 1},
    [CONNECTIONS] = {"connections", "connections_total", NULL,
                     "Connections so far.", FIGURE_COUNTER, 0, 1},
    [BYTES_IN] = {"bytes_in", "input_bytes_total", NULL, "Bytes taken in.",
                  FIGURE_COUNTER, 0, 1},
    [INPUT_DROPPED] = {"input_dropped", "input_dropped_datagrams_total", NULL,
                       "Datagrams lost because they came too fast.",
                       FIGURE_COUNTER, 0, 1},
    [BYTES_OUT] = {"bytes_out", "output_bytes_total", NULL,
                   "Bytes written, or delivered to peers.", FIGURE_COUNTER, 0,
                   1},
    [SECTIONS_OFFERED] = {"sections_offered", "sections_offered_total", NULL,
                          "Sections given to connections.", FIGURE_COUNTER, 0,
                          1},
    [SECTIONS_DELIVERED] = {"sections_delivered", "sections_delivered_total",
                            NULL, "Sections that arrived whole.",
                            FIGURE_COUNTER, 0, 1},
    [SECTIONS_LOST] = {"sections_lost", "sections_lost_total", NULL,
                       "Sections that did not arrive, or were never sent.",
                       FIGURE_COUNTER, 0, 1},
    [OFFERED] = {"offered_*", "frames_offered_total", "kind",
                 "Frames given to connections.", FIGURE_COUNTER, 0, 1},
    [DELIVERED] = {"delivered_*", "frames_delivered_total", "kind",
                   "Frames that arrived whole.", FIGURE_COUNTER, 0, 1},
    [DROPPED] = {"dropped_*", "frames_dropped_total", "cause",
                 "Frames that were never sent.", FIGURE_COUNTER, 0, 1},
    [SECTIONS_RECEIVED] = {"sections_received", "sections_received_total", NULL,
                           "Sections received whole.", FIGURE_COUNTER, 0, 1},
    [SECTIONS_CUT] = {"sections_cut", "sections_cut_total", NULL,
                      "Sections received in part.", FIGURE_COUNTER, 0, 1},
    [GAP_BYTES] = {"gap_bytes", "gap_bytes_total", NULL,
                   "Bytes that will never be received.", FIGURE_COUNTER, 0, 1},
    [RTT] = {"rtt_ms", "rtt_seconds", NULL, "Smoothed round-trip time.",
             FIGURE_GAUGE, 3, MS},
    [MIN_RTT] = {"min_rtt_ms", "min_rtt_seconds", NULL,
                 "Smallest round-trip time.", FIGURE_GAUGE, 3, MS},
    [LOSS] = {"loss_percent", "loss_ratio", NULL, "Packets lost of those sent.",
              FIGURE_GAUGE, 3, PERCENT},
    [RETRANSMITTED] = {"bytes_retransmitted", "retransmitted_bytes_total", NULL,
                       "Bytes sent again.", FIGURE_COUNTER, 0, 1},
    [REPAIR] = {"repair_bytes_sent", "repair_bytes_total", NULL,
                "Bytes sent for forward error correction.", FIGURE_COUNTER, 0,
                1},
    [REBUILT] = {"bytes_rebuilt", "rebuilt_bytes_total", NULL,
                 "Bytes rebuilt by forward error correction.", FIGURE_COUNTER,
                 0, 1},
    [WINDOW] = {"cwnd_bytes", "congestion_window_bytes", NULL,
                "Congestion window.", FIGURE_GAUGE, 0, 1},
    [ESTIMATE] = {"estimated_bps", "estimated_bytes_per_second", NULL,
                  "What the path carries.", FIGURE_GAUGE, 0, PER_BYTE},
    [TARGET] = {"target_bps", "target_bytes_per_second", NULL,
                "What an encoder should produce; 0: not known.", FIGURE_GAUGE,
                0, PER_BYTE}};

static void stats_add(struct figures *f, int kind, uint64_t value) {
    figures_add(f, &defs[kind], NULL, (double)value);
}

static uint64_t not_arrived(const tltcp_live_count *c) {
    return c->partial + c->expired + c->dropped + c->abandoned;
}

static void add_sent(struct figures *f, const tltcp_live_stats *m) {
    stats_add(f, SECTIONS_OFFERED, m->sections.offered);
    stats_add(f, SECTIONS_DELIVERED, m->sections.delivered);
    stats_add(f, SECTIONS_LOST, not_arrived(&m->sections));
    for (unsigned k = 0; k < TLTCP_LIVE_KIND_COUNT; k++) {
        const char *kind = tltcp_live_kind_name(k);
        figures_add(f, &defs[OFFERED], kind, (double)m->kinds[k].offered);
        figures_add(f, &defs[DELIVERED], kind, (double)m->kinds[k].delivered);
    }
    for (unsigned c = 1; c < TLTCP_LIVE_CAUSE_COUNT; c++) {
        figures_add(f, &defs[DROPPED], tltcp_live_cause_name(c),
                    (double)m->dropped[c]);
    }
}

static void add_received(struct figures *f, const tltcp_live_stats *m) {
    stats_add(f, SECTIONS_RECEIVED, m->sections_complete);
    stats_add(f, SECTIONS_CUT, m->sections_cut);
    stats_add(f, GAP_BYTES, m->gap_bytes);
}

static void add_connection(struct figures *f, const tltcp_stats *st) {
    figures_add(f, &defs[RTT], NULL, (double)st->srtt_ns / 1e6);
    figures_add(f, &defs[MIN_RTT], NULL, (double)st->min_rtt_ns / 1e6);
    figures_add(f, &defs[LOSS], NULL, st->loss_rate * 100);
    stats_add(f, RETRANSMITTED, st->bytes_retransmitted);
    stats_add(f, REPAIR, st->repair_bytes_sent);
    stats_add(f, REBUILT, st->bytes_rebuilt);
    stats_add(f, WINDOW, st->cwnd_bytes != UINT64_MAX ? st->cwnd_bytes : 0);
    stats_add(f, ESTIMATE, st->estimated_bps);
    stats_add(f, TARGET, st->target_bps);
}

void stats_of_all(struct figures *f, const struct transmit_totals *t,
                  const tltcp_stats *st, double seconds) {
    figures_add(f, &defs[SECONDS], NULL, seconds);
    stats_add(f, CONNECTED, t->connected);
    stats_add(f, CONNECTIONS, t->connections);
    stats_add(f, BYTES_IN, t->bytes_in);
    stats_add(f, INPUT_DROPPED, t->input_dropped);
    stats_add(f, BYTES_OUT, t->bytes_out);
    add_sent(f, &t->media);
    add_received(f, &t->media);
    add_connection(f, st);
}

void stats_of_caller(struct figures *f, const tltcp_live_stats *media,
                     const tltcp_stats *st, double seconds) {
    figures_add(f, &defs[SECONDS], NULL, seconds);
    stats_add(f, BYTES_OUT, st->bytes_delivered);
    add_sent(f, media);
    add_connection(f, st);
}

/* --- Printing ------------------------------------------------------------- */

static void print_csv(FILE *f, json_t *json, bool first) {
    const char *name;
    json_t *value;
    const char *comma = "";
    if (first) {
        json_object_foreach(json, name, value) {
            if (json_is_number(value)) {
                (void)fprintf(f, "%s%s", comma, name);
                comma = ",";
            }
        }
        (void)fputc('\n', f);
        comma = "";
    }
    json_object_foreach(json, name, value) {
        if (json_is_number(value)) {
            (void)fprintf(f, "%s%.12g", comma, json_number_value(value));
            comma = ",";
        }
    }
    (void)fputc('\n', f);
}

static double number(const json_t *json, const char *name) {
    return json_number_value(json_object_get(json, name));
}

static void print_text(FILE *f, const json_t *json) {
    (void)fprintf(
        f,
        "%.1f s: %s, in %.3f MB, out %.3f MB; sections sent %.0f, lost %.0f; "
        "received %.0f, cut %.0f; rtt %.1f ms, loss %.2f %%, estimate %.2f "
        "Mbit/s\n",
        number(json, "seconds"),
        number(json, "connected") > 0 ? "connected" : "not connected",
        number(json, "bytes_in") / 1e6, number(json, "bytes_out") / 1e6,
        number(json, "sections_delivered"), number(json, "sections_lost"),
        number(json, "sections_received"), number(json, "sections_cut"),
        number(json, "rtt_ms"), number(json, "loss_percent"),
        number(json, "estimated_bps") / 1e6);
}

void stats_print(FILE *f, int format, json_t *json, bool first) {
    if (format == STATS_CSV) {
        print_csv(f, json, first);
    } else if (format == STATS_JSON) {
        (void)json_dumpf(json, f, JSON_COMPACT | JSON_REAL_PRECISION(12));
        (void)fputc('\n', f);
    } else {
        print_text(f, json);
    }
    (void)fflush(f);
    json_decref(json);
}

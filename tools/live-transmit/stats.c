/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/live-transmit/stats.h"

#include <inttypes.h>

#include "tools/common/tool.h"
#include "tools/live-transmit/options.h"

static void set(json_t *json, const char *name, uint64_t value) {
    (void)json_object_set_new(json, name, json_integer((json_int_t)value));
}

static void set_number(json_t *json, const char *name, double value) {
    (void)json_object_set_new(json, name, tool_number(value, 3));
}

static void set_kinds(json_t *json, const struct transmit_totals *t) {
    for (unsigned k = 0; k < TLTCP_LIVE_KIND_COUNT; k++) {
        char name[40];
        const char *kind = tltcp_live_kind_name(k);
        (void)snprintf(name, sizeof(name), "offered_%s", kind);
        set(json, name, t->media.kinds[k].offered);
        (void)snprintf(name, sizeof(name), "delivered_%s", kind);
        set(json, name, t->media.kinds[k].delivered);
    }
}

static void set_connection(json_t *json, const tltcp_stats *st) {
    set_number(json, "rtt_ms", (double)st->srtt_ns / 1e6);
    set_number(json, "min_rtt_ms", (double)st->min_rtt_ns / 1e6);
    set_number(json, "loss_percent", st->loss_rate * 100);
    set(json, "bytes_retransmitted", st->bytes_retransmitted);
    set(json, "repair_bytes_sent", st->repair_bytes_sent);
    set(json, "bytes_rebuilt", st->bytes_rebuilt);
    set(json, "cwnd_bytes", st->cwnd_bytes != UINT64_MAX ? st->cwnd_bytes : 0);
    set(json, "estimated_bps", st->estimated_bps);
    set(json, "target_bps", st->target_bps);
}

static uint64_t not_arrived(const tltcp_live_count *c) {
    return c->partial + c->expired + c->dropped + c->abandoned;
}

json_t *totals_json(const struct transmit_totals *t, const tltcp_stats *st,
                    bool open, double seconds) {
    json_t *json = json_object();
    set_number(json, "seconds", seconds);
    set(json, "connected", open);
    set(json, "connections", t->connections);
    set(json, "bytes_in", t->bytes_in);
    set(json, "input_dropped", t->input_dropped);
    set(json, "bytes_out", t->bytes_out);
    set(json, "sections_offered", t->media.sections.offered);
    set(json, "sections_delivered", t->media.sections.delivered);
    set(json, "sections_lost", not_arrived(&t->media.sections));
    set_kinds(json, t);
    for (unsigned r = 1; r < TLTCP_LIVE_CAUSE_COUNT; r++) {
        char name[40];
        (void)snprintf(name, sizeof(name), "dropped_%s",
                       tltcp_live_cause_name(r));
        set(json, name, t->media.dropped[r]);
    }
    set(json, "sections_received", t->media.sections_complete);
    set(json, "sections_cut", t->media.sections_cut);
    set(json, "gap_bytes", t->media.gap_bytes);
    set_connection(json, st);
    return json;
}

static void print_csv(FILE *f, json_t *json, bool first) {
    const char *name;
    json_t *value;
    const char *comma = "";
    if (first) {
        json_object_foreach(json, name, value) {
            (void)fprintf(f, "%s%s", comma, name);
            comma = ",";
        }
        (void)fputc('\n', f);
        comma = "";
    }
    json_object_foreach(json, name, value) {
        (void)fprintf(f, "%s%.12g", comma, json_number_value(value));
        comma = ",";
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

void totals_print(FILE *f, int format, json_t *json, bool first) {
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

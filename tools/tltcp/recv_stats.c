/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/tltcp/recv_stats.h"

#define PER_BYTE 0.125 /* bit/s in bytes per second */

/* The tables of docs/reference/statistics.md say more of each. */
enum {
    BYTES,
    GAPS,
    GAP_BYTES,
    REBUILT,
    COMPLETE,
    CUT,
    FRAMES_RECEIVED,
    FRAMES_CUT,
    FRAMES_DECODABLE,
    FRAMES_ON_TIME,
    FRAMES_LATE,
    GOODPUT,
    SECONDS,
    CALLERS
};

static const struct figure_def defs[] = {
    [BYTES] = {"bytes", "received_bytes_total", NULL,
               "Bytes of sections that arrived whole.", FIGURE_COUNTER, 0, 1},
    [GAPS] = {"gaps", "gaps_total", NULL, "Gaps in the stream.", FIGURE_COUNTER,
              0, 1},
    [GAP_BYTES] = {"gap_bytes", "gap_bytes_total", NULL,
                   "Bytes missing in gaps.", FIGURE_COUNTER, 0, 1},
    [REBUILT] = {"bytes_rebuilt", "rebuilt_bytes_total", NULL,
                 "Bytes rebuilt by forward error correction.", FIGURE_COUNTER,
                 0, 1},
    [COMPLETE] = {"sections.complete", "sections_received_total", NULL,
                  "Sections that arrived whole.", FIGURE_COUNTER, 0, 1},
    [CUT] = {"sections.cut", "sections_cut_total", NULL,
             "Sections that arrived in part.", FIGURE_COUNTER, 0, 1},
    [FRAMES_RECEIVED] = {"frames.*.received", "frames_received_total", "kind",
                         "Frames that arrived whole.", FIGURE_COUNTER, 0, 1},
    [FRAMES_CUT] = {"frames.*.cut", "frames_cut_total", "kind",
                    "Frames that arrived in part.", FIGURE_COUNTER, 0, 1},
    [FRAMES_DECODABLE] = {"frames.*.decodable", "frames_decodable_total",
                          "kind", "Frames that arrived with all they refer to.",
                          FIGURE_COUNTER, 0, 1},
    [FRAMES_ON_TIME] = {"frames.*.on_time", "frames_on_time_total", "kind",
                        "Decodable frames that were in time.", FIGURE_COUNTER,
                        0, 1},
    [FRAMES_LATE] = {"frames.*.late", "frames_late_total", "kind",
                     "Decodable frames that were too late.", FIGURE_COUNTER, 0,
                     1},
    [GOODPUT] = {"goodput_bps", "goodput_bytes_per_second", NULL,
                 "Rate from the first section to the last.", FIGURE_GAUGE, 0,
                 PER_BYTE},
    [SECONDS] = {"seconds", "media_seconds", NULL,
                 "Time from the first section to the last.", FIGURE_GAUGE, 3,
                 1},
    [CALLERS] = {"callers", "callers_total", NULL, "Callers so far.",
                 FIGURE_COUNTER, 0, 1}};

static void recv_stats_add(struct figures *f, int kind, const char *label,
                           uint64_t value) {
    figures_add(f, &defs[kind], label, (double)value);
}

void recv_stats(struct figures *f, const struct reception_totals *t) {
    double seconds = (double)(t->last - t->first) / 1e9;
    recv_stats_add(f, BYTES, NULL, t->bytes);
    recv_stats_add(f, GAPS, NULL, t->gaps);
    recv_stats_add(f, GAP_BYTES, NULL, t->gap_bytes);
    recv_stats_add(f, REBUILT, NULL, t->rebuilt);
    recv_stats_add(f, COMPLETE, NULL, t->complete);
    recv_stats_add(f, CUT, NULL, t->cut);
    for (unsigned k = 0; k < TLTCP_LIVE_KIND_COUNT; k++) {
        const struct reception_count *c = &t->kind[k];
        const char *kind = tltcp_live_kind_name(k);
        recv_stats_add(f, FRAMES_RECEIVED, kind, c->received);
        recv_stats_add(f, FRAMES_CUT, kind, c->cut);
        recv_stats_add(f, FRAMES_DECODABLE, kind, c->decodable);
        recv_stats_add(f, FRAMES_ON_TIME, kind, c->on_time);
        recv_stats_add(f, FRAMES_LATE, kind, c->late);
    }
    figures_add(f, &defs[GOODPUT], NULL,
                seconds > 0 ? (double)t->bytes * 8 / seconds : 0);
    figures_add(f, &defs[SECONDS], NULL, seconds);
    recv_stats_add(f, CALLERS, NULL, t->callers);
}

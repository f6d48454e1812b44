/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/live-transmit/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "tools/common/tool.h"
#include "tools/live-transmit/input.h"
#include "tools/live-transmit/source.h"

json_t *report_json(struct job *j, uint64_t now) {
    struct transmit_totals t;
    tltcp_stats st = j->last;
    struct transmit_totals before = j->totals;
    input_watch(j);
    if (j->from) {
        (void)tltcp_live_get_connection_stats(j->from, 0, &st);
        source_add_stats(j);
    }
    t = j->totals;
    j->totals.media = before.media;
    t.bytes_out += j->out.written;
    if (j->sender) {
        (void)tltcp_get_stats(tltcp_live_sender_socket(j->sender), &st);
        tltcp_live_sender_add_stats(j->sender, &t.media);
        t.bytes_out += st.bytes_delivered;
    }
    return totals_json(&t, &st, j->sender || j->from,
                       (double)(now - j->start) / 1e9);
}

void report_print(struct job *j, uint64_t now) {
    if (j->o->stats_interval == 0 || now < j->stats_next) {
        return;
    }
    j->stats_next = now + j->o->stats_interval;
    totals_print(j->stats, j->o->stats_format, report_json(j, now),
                 !j->stats_begun);
    j->stats_begun = true;
}

int report_open(struct job *j) {
    j->stats = stderr;
    if (j->o->stats_out) {
        j->stats = fopen(j->o->stats_out, "we");
    }
    if (j->stats && j->stats != stderr) { /* somebody may empty it meanwhile */
        (void)fcntl(fileno(j->stats), F_SETFL, O_APPEND);
    }
    return j->stats ? TOOL_OK
                    : tool_fail(TOOL, "cannot write %s: %s", j->o->stats_out,
                                strerror(errno));
}

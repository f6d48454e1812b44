/* SPDX-License-Identifier: MPL-2.0 */
/* Statistics while it runs and at the end. */
#include "tools/live-transmit/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/tool.h"
#include "tools/live-transmit/input.h"
#include "tools/live-transmit/source.h"

#define NS_PER_S 1e9
#define PREFIX "tltcp_"

/* --- Figures -------------------------------------------------------------- */

static void report_caller(const struct viewer *v, uint64_t now,
                          struct figures *f) {
    tltcp_live_stats media;
    tltcp_stats st;
    tltcp_stats_init(&st);
    tltcp_live_stats_init(&media);
    (void)tltcp_get_stats(tltcp_live_sender_socket(v->sender), &st);
    tltcp_live_sender_add_stats(v->sender, &media);
    stats_of_caller(f, &media, &st, (double)(now - v->since) / NS_PER_S);
}

/* Adds what is connected; *st becomes that of the newest connection. */
static void add_viewers(const struct job *j, struct transmit_totals *t,
                        tltcp_stats *st) {
    for (size_t i = 0; i < j->viewers.count; i++) {
        const tltcp_live_sender *s = j->viewers.viewer[i]->sender;
        (void)tltcp_get_stats(tltcp_live_sender_socket(s), st);
        tltcp_live_sender_add_stats(s, &t->media);
        t->bytes_out += st->bytes_delivered;
    }
}

static void report_all(struct job *j, uint64_t now, struct figures *f) {
    struct transmit_totals t;
    tltcp_stats st = j->last;
    tltcp_live_stats before = j->totals.media;
    input_watch(j);
    if (j->from) {
        (void)tltcp_live_get_connection_stats(j->from, 0, &st);
        source_add_stats(j);
    }
    t = j->totals;
    j->totals.media = before;
    t.bytes_out += j->out.written;
    add_viewers(j, &t, &st);
    t.connected = job_sends(j) ? j->viewers.count : j->from != NULL;
    stats_of_all(f, &t, &st, (double)(now - j->start) / NS_PER_S);
}

/* --- JSON and text -------------------------------------------------------- */

static json_t *caller_json(const struct viewer *v, uint64_t now) {
    struct figures f = {0};
    json_t *json = json_object();
    char id[TLTCP_STREAM_ID_MAX + 1];
    (void)json_object_set_new(
        json, "streamid",
        json_string(tool_shown(id, sizeof(id), v->stream_id)));
    (void)json_object_set_new(json, "address", json_string(v->address));
    report_caller(v, now, &f);
    figures_json(&f, json);
    return json;
}

json_t *report_json(struct job *j, uint64_t now) {
    struct figures f = {0};
    json_t *json = json_object();
    json_t *callers;
    report_all(j, now, &f);
    figures_json(&f, json);
    if (j->o->out.at.listens && job_sends(j)) {
        callers = json_array();
        for (size_t i = 0; i < j->viewers.count; i++) {
            (void)json_array_append_new(callers,
                                        caller_json(j->viewers.viewer[i], now));
        }
        (void)json_object_set_new(json, "callers", callers);
    }
    return json;
}

void report_print(struct job *j, uint64_t now) {
    if (j->o->stats_interval == 0 || now < j->stats_next) {
        return;
    }
    j->stats_next = now + j->o->stats_interval;
    stats_print(j->stats, j->o->stats_format, report_json(j, now),
                !j->stats_begun);
    j->stats_begun = true;
}

static void publish_callers(const struct job *j, uint64_t now, FILE *page) {
    struct figures *f = calloc(j->viewers.count, sizeof(*f));
    for (size_t i = 0; f && i < j->viewers.count; i++) {
        const struct viewer *v = j->viewers.viewer[i];
        figures_label(&f[i], "streamid", v->stream_id);
        figures_label(&f[i], "address", v->address);
        report_caller(v, now, &f[i]);
    }
    if (f) {
        figures_text(page, PREFIX "caller_", f, j->viewers.count);
    }
    free(f);
}

void report_publish(struct job *j, uint64_t now) {
    FILE *page = metrics_begin(j->metrics, now);
    struct figures f = {0};
    if (page) {
        report_all(j, now, &f);
        figures_text(page, PREFIX, &f, 1);
        if (j->o->out.at.listens && j->viewers.count > 0) {
            publish_callers(j, now, page);
        }
        metrics_end(j->metrics, page);
    }
}

int report_open(struct job *j) {
    j->stats = stderr;
    if (j->o->stats_out) {
        j->stats = fopen(j->o->stats_out, "we");
    }
    /* Another program may truncate it meanwhile. */
    if (j->stats && j->stats != stderr) {
        (void)fcntl(fileno(j->stats), F_SETFL, O_APPEND);
    }
    return j->stats ? TOOL_OK
                    : tool_fail(TOOL, "cannot write %s: %s", j->o->stats_out,
                                strerror(errno));
}

bool report_close(struct job *j) {
    bool bad;
    if (!j->stats || j->stats == stderr) {
        return true;
    }
    bad = ferror(j->stats) != 0;
    bad = fclose(j->stats) != 0 || bad;
    if (bad) {
        (void)tool_fail(TOOL, "cannot write %s", j->o->stats_out);
    }
    return !bad;
}

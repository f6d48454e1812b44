/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/live-transmit/target.h"

#include <errno.h>
#include <string.h>

#include "tools/common/tool.h"

static void target_on_event(void *user, const tltcp_live_event *ev) {
    struct job *j = user;
    if (ev->type == TLTCP_LIVE_EVENT_DISCONNECTED) {
        j->sender_error = ev->error;
        memcpy(j->sender_reason, ev->reason, sizeof(j->sender_reason));
    }
    frame_log_event(&j->log, ev);
}

static void target_on_section(void *user, tltcp_live_section *section) {
    struct job *j = user;
    if (j->sender && tltcp_live_sender_push(j->sender, section) < 0) {
        j->no_memory = true;
    }
}

static bool target_open_log(struct job *j) {
    const char *frames = j->o->frames;
    if (j->totals.connections > 0) {
        return true; /* the file has those of the first */
    }
    if (!frame_log_open(&j->log, frames)) {
        job_end(
            j, tool_fail(TOOL, "cannot write %s: %s", frames, strerror(errno)));
        return false;
    }
    j->log.start = tltcp_now();
    return true;
}

static void target_begin(struct job *j, tltcp_socket *s) {
    tltcp_live_section *config;
    if (!target_open_log(j)) {
        (void)tltcp_close(s, 0);
        return;
    }
    j->sender =
        tltcp_live_sender_new(s, j->o->out.to.settings, target_on_event, j);
    if (!j->sender) {
        job_no_memory(j);
        return;
    }
    j->totals.connections++;
    j->anchored = false;
    j->sender_error = 0;
    j->sender_reason[0] = '\0';
    config = tltcp_live_stream_describe(j->stream, 1);
    if (config) {
        target_on_section(j, config);
        tltcp_live_section_unref(config);
        tltcp_live_sender_join(j->sender);
    }
}

void target_end(struct job *j, int linger_ms) {
    (void)tltcp_get_stats(tltcp_live_sender_socket(j->sender), &j->last);
    (void)tltcp_live_sender_close(j->sender, linger_ms);
    tltcp_live_sender_add_stats(j->sender, &j->totals.media);
    j->totals.bytes_out += j->last.bytes_delivered;
    tltcp_live_sender_free(j->sender);
    j->sender = NULL;
    if (!frame_log_close(&j->log)) {
        job_end(j, tool_fail(TOOL, "cannot write %s", j->o->frames));
    }
    link_lost(&j->target, j->sender_error, j->sender_reason);
}

static void target_lose(struct job *j) {
    char why[TLTCP_REASON_MAX + 1];
    int error = j->sender_error;
    (void)snprintf(why, sizeof(why), "%s",
                   j->sender_reason[0] ? j->sender_reason
                   : error < 0         ? tltcp_strerror(error)
                                       : "the peer closed the connection");
    target_end(j, 0);
    if (j->o->reconnect) {
        link_say(&j->target, why, "");
    } else {
        job_end(j, tool_fail(TOOL, "%s: %s", j->o->out.text, why));
    }
}

static void target_send_end(struct job *j) {
    tltcp_live_section *end = tltcp_live_stream_mark(
        j->stream, TLTCP_LIVE_MARK_END, TLTCP_LIVE_TIME_NONE,
        TLTCP_LIVE_TIME_NONE, NULL, 0);
    if (end) {
        target_on_section(j, end);
        tltcp_live_section_unref(end);
    }
    (void)tltcp_live_sender_run(j->sender);
    j->finished = true;
}

/* After the end of the input: waits until everything has arrived, then tells
 * the peer. */
static void target_finish(struct job *j) {
    if (!j->sender) {
        job_end(j, TOOL_OK);
    } else if (tltcp_live_sender_is_idle(j->sender) && !j->finished &&
               !tltcp_live_sender_is_closed(j->sender)) {
        target_send_end(j);
    } else if (tltcp_live_sender_is_idle(j->sender)) {
        target_end(j, LINGER_MS);
        job_end(j, TOOL_OK);
    }
}

/* Some peers close as soon as they have heard of the end. */
static bool target_has_all(const struct job *j) {
    return j->over && j->sender_error >= 0 &&
           tltcp_live_sender_has_room(j->sender, 0);
}

void target_run(struct job *j, uint64_t *when) {
    tltcp_socket *s = NULL;
    tltcp_time at;
    if (!j->sender) {
        int rc = link_run(&j->target, &s, when);
        if (rc != TOOL_OK) {
            job_end(j, rc);
        } else if (s) {
            target_begin(j, s);
        }
    }
    if (j->sender) {
        at = tltcp_live_sender_run(j->sender);
        *when = at < *when ? at : *when;
        if (tltcp_live_sender_is_closed(j->sender) && !target_has_all(j)) {
            target_lose(j);
        }
    }
    if (j->over) {
        target_finish(j);
    }
}

bool target_open(struct job *j) {
    const tltcp_live_settings *s = j->o->out.to.settings;
    j->stream = tltcp_live_stream_new(0, target_on_section, j);
    if (j->stream && job_sends(j)) {
        tltcp_live_stream_set_deadlines(j->stream, (int)s->deadline_mode,
                                        s->latency_ms, s->grace_ms, 1);
    }
    return j->stream != NULL;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* A connection as output. */
#include "tools/live-transmit/target.h"

#include <errno.h>
#include <string.h>

#include "tools/common/tool.h"

#define CUT_OFF "this caller may no longer have this stream"

/* --- Coming and going ----------------------------------------------------- */

static void target_on_section(void *user, tltcp_live_section *section) {
    struct job *j = user;
    viewers_push(&j->viewers, section);
}

static bool target_open_log(struct job *j) {
    const char *frames = j->o->frames;
    if (j->totals.connections > 0) {
        return true; /* the file contains those of the first */
    }
    if (!frame_log_open(&j->viewers.log, frames)) {
        job_end(
            j, tool_fail(TOOL, "cannot write %s: %s", frames, strerror(errno)));
        return false;
    }
    j->viewers.log.start = tltcp_now();
    return true;
}

/* What a new connection gets first. */
static void target_greet(struct job *j, struct viewer *v) {
    tltcp_live_section *config = tltcp_live_stream_describe(j->stream, 1);
    if (config) {
        if (tltcp_live_sender_push(v->sender, config) < 0) {
            job_no_memory(j);
        }
        tltcp_live_section_unref(config);
        tltcp_live_sender_join(v->sender);
    }
}

static void target_begin(struct job *j, tltcp_socket *s) {
    struct viewer *v;
    if (!target_open_log(j)) {
        (void)tltcp_close(s, 0);
        return;
    }
    v = viewers_add(&j->viewers, s, j->o->out.to.settings);
    if (!v) {
        job_no_memory(j);
        return;
    }
    if (j->totals.connections++ == 0) {
        j->viewers.logged = v;
    }
    if (j->viewers.count == 1) {
        pace_restart(&j->pace); /* a file waited for somebody */
    }
    target_greet(j, v);
}

static void target_connect(struct job *j, uint64_t *when) {
    tltcp_socket *s = NULL;
    do {
        uint64_t at;
        int rc = link_run(&j->target, &s, &at);
        *when = at < *when ? at : *when;
        if (rc != TOOL_OK) {
            job_end(j, rc);
        } else if (s) {
            target_begin(j, s);
        }
    } while (s && j->status < 0 && link_has_room(&j->target));
}

/* Counts what it did and forgets it. */
static void target_forget(struct job *j, size_t at) {
    struct viewer *v = j->viewers.viewer[at];
    char id[TLTCP_STREAM_ID_MAX + 1];
    char reason[TLTCP_REASON_MAX + 1];
    int error = v->error;
    memcpy(id, v->stream_id, sizeof(id));
    memcpy(reason, v->reason, sizeof(reason));
    tltcp_live_sender_add_stats(v->sender, &j->totals.media);
    j->totals.media.queued_bytes = j->totals.media.queued_sections = 0;
    j->totals.bytes_out += j->last.bytes_delivered;
    viewers_remove(&j->viewers, at);
    link_lost(&j->target, error, reason, id);
}

static void target_close(struct job *j, size_t at, int linger_ms) {
    struct viewer *v = j->viewers.viewer[at];
    (void)tltcp_get_stats(tltcp_live_sender_socket(v->sender), &j->last);
    (void)tltcp_live_sender_close(v->sender, linger_ms);
    if (j->viewers.logged == v) {
        j->viewers.logged = NULL;
        if (!frame_log_close(&j->viewers.log)) {
            job_end(j, tool_fail(TOOL, "cannot write %s", j->o->frames));
        }
    }
    target_forget(j, at);
}

void target_end(struct job *j, int linger_ms) {
    uint64_t end = tltcp_now() + (uint64_t)linger_ms * NS_PER_MS;
    for (size_t i = 0; i < j->viewers.count; i++) {
        (void)tltcp_shutdown(
            tltcp_live_sender_socket(j->viewers.viewer[i]->sender));
    }
    while (j->viewers.count > 0) {
        uint64_t now = tltcp_now();
        uint64_t left = now < end ? (end - now) / NS_PER_MS : 0;
        target_close(j, j->viewers.count - 1, (int)left);
    }
}

/* A peer that closes does not wait for the rest: that is no error of its own.
 */
static const char *target_why(const struct viewer *v) {
    if (v->reason[0]) {
        return v->reason;
    }
    return v->error < 0 && v->error != TLTCP_ERR_ABORTED
               ? tltcp_strerror(v->error)
               : "the peer closed the connection";
}

static void target_lose(struct job *j, size_t at) {
    const struct viewer *v = j->viewers.viewer[at];
    char why[TLTCP_REASON_MAX + TLTCP_STREAM_ID_MAX + 4];
    (void)snprintf(why, sizeof(why), "%s%s%s",
                   j->o->out.callers[0] ? v->stream_id : "",
                   j->o->out.callers[0] ? ": " : "", target_why(v));
    target_close(j, at, 0);
    /* After the end, nobody is called again. */
    if ((j->o->reconnect && (!j->over || j->o->out.at.listens)) ||
        j->viewers.count > 0) {
        link_say(&j->target, why, "");
    } else {
        job_end(j, tool_fail(TOOL, "%s: %s", j->o->out.text, why));
    }
}

void target_cut_off(struct job *j) {
    for (size_t i = j->viewers.count; i-- > 0;) {
        struct viewer *v = j->viewers.viewer[i];
        if (!link_may_stay(&j->target, v->stream_id)) {
            link_say(&j->target, "cut off", v->stream_id);
            (void)tltcp_get_stats(tltcp_live_sender_socket(v->sender),
                                  &j->last);
            tltcp_live_sender_reject(v->sender, CUT_OFF);
            target_close(j, i, 0);
        }
    }
}

/* --- The end -------------------------------------------------------------- */

static void target_send_end(struct job *j, struct viewer *v) {
    tltcp_live_section *end = tltcp_live_stream_mark(
        j->stream, TLTCP_LIVE_MARK_END, TLTCP_LIVE_TIME_NONE,
        TLTCP_LIVE_TIME_NONE, NULL, 0);
    if (end) {
        if (tltcp_live_sender_push(v->sender, end) < 0) {
            job_no_memory(j);
        }
        tltcp_live_section_unref(end);
    }
    (void)tltcp_live_sender_run(v->sender);
    v->finished = true;
}

/* Ends the stream to a peer that has everything. Returns whether the peer has
 * closed the connection, too: what it has received is written. */
static bool target_finish_one(struct job *j, struct viewer *v) {
    if (tltcp_live_sender_is_closed(v->sender)) {
        return true;
    }
    if (tltcp_live_sender_is_idle(v->sender)) {
        if (v->finished) {
            (void)tltcp_shutdown(tltcp_live_sender_socket(v->sender));
            v->ended = true;
        } else {
            target_send_end(j, v);
        }
    }
    return false;
}

/* After the end of the input. */
static void target_finish(struct job *j) {
    uint64_t now = tltcp_now();
    size_t ended = 0;
    size_t closed = 0;
    for (size_t i = 0; i < j->viewers.count; i++) {
        struct viewer *v = j->viewers.viewer[i];
        closed += target_finish_one(j, v);
        ended += v->ended;
    }
    if (ended == j->viewers.count && j->end_by == 0) {
        j->end_by =
            now + (CONFIRM_MS + j->o->out.to.settings->latency_ms) * NS_PER_MS;
    }
    if (closed == j->viewers.count || (j->end_by != 0 && now >= j->end_by)) {
        target_end(j, LINGER_MS);
        job_end(j, TOOL_OK);
    }
}

/* A peer that has everything may close without waiting for us. */
static bool target_has_all(const struct job *j, const struct viewer *v) {
    return j->over && !v->reason[0] && (v->error >= 0 || v->ended) &&
           tltcp_live_sender_has_room(v->sender, 0);
}

/* --- Running -------------------------------------------------------------- */

static void target_send(struct job *j, uint64_t *when) {
    for (size_t i = j->viewers.count; i-- > 0;) {
        struct viewer *v = j->viewers.viewer[i];
        tltcp_time at = tltcp_live_sender_run(v->sender);
        *when = at < *when ? at : *when;
        if (tltcp_live_sender_is_closed(v->sender) && !target_has_all(j, v)) {
            target_lose(j, i);
        }
    }
}

void target_run(struct job *j, uint64_t *when) {
    if (link_has_room(&j->target) && !j->over) {
        target_connect(j, when);
    }
    target_send(j, when);
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

/* SPDX-License-Identifier: MPL-2.0 */
/* A connection as input. */
#include "tools/live-transmit/source.h"

#include <string.h>

#include "tools/common/tool.h"

/* For the sender. */
#define WRONG_KIND                                                    \
    "the receiver takes a transport stream, not single streams; put " \
    "mpegtsmux before tltcpsink, or receive with tltcp-recv"

static void source_on_frame(struct job *j, const tltcp_live_frame *f) {
    const tltcp_live_settings *from = j->o->in.to.settings;
    uint64_t latency = from->has_latency ? from->latency_ms * NS_PER_MS
                                         : release_latency(j->latency_ms);
    if (!f->complete) {
        return;
    }
    if (job_sends(j) || j->o->immediate) {
        job_deliver(j, f->data, f->len, f->arrived);
    } else if (!release_push(&j->release, f, latency)) {
        job_no_memory(j);
    }
}

static void source_on_format(struct job *j, unsigned stream) {
    tltcp_live_format f;
    tltcp_live_format_init(&f);
    (void)tltcp_live_get_format(j->from, stream, &f);
    if ((f.codec && strncmp(f.codec, "mpegts", 6) == 0) ||
        (f.caps && strncmp(f.caps, "video/mpegts", 12) == 0)) {
        j->described = true;
        j->latency_ms = f.latency_ms;
        return;
    }
    (void)snprintf(j->why, sizeof(j->why),
                   "the peer sends single streams (%.40s), not a transport "
                   "stream; put mpegtsmux before its tltcpsink, or receive "
                   "with tltcp-recv",
                   f.codec ? f.codec : "");
}

static void source_begin(struct job *j, tltcp_socket *s) {
    j->totals.connections++;
    j->described = j->ended = j->replaceable = false;
    j->why[0] = '\0';
    release_restart(&j->release);
    (void)snprintf(j->source_id, sizeof(j->source_id), "%s",
                   tltcp_stream_id(s));
    if (tltcp_live_open_socket(&j->from, TLTCP_LIVE_RECEIVE, s, NULL) < 0) {
        job_no_memory(j);
    }
}

void source_add_stats(struct job *j) {
    tltcp_live_stats st;
    tltcp_live_stats_init(&st);
    (void)tltcp_live_get_stats(j->from, &st);
    j->totals.media.sections_complete += st.sections_complete;
    j->totals.media.sections_cut += st.sections_cut;
    j->totals.media.gap_bytes += st.gap_bytes;
}

static void source_keep_stats(struct job *j) {
    (void)tltcp_live_get_connection_stats(j->from, 0, &j->last);
    source_add_stats(j);
}

void source_close(struct job *j, int linger_ms) {
    source_keep_stats(j);
    tltcp_live_close(j->from, linger_ms);
    j->from = NULL;
}

static void source_turn_away(struct job *j, const char *reason) {
    source_keep_stats(j);
    tltcp_live_abort(j->from, reason);
    j->from = NULL;
}

void source_abort(struct job *j) {
    char reason[TLTCP_REASON_MAX + 1];
    (void)snprintf(reason, sizeof(reason), "the receiver's output: %s",
                   j->out_error);
    source_turn_away(j, reason);
}

/* Lets the next one come. */
static void source_leave(struct job *j, int error) {
    if (!j->replaceable) {
        link_lost(&j->source, error, "", j->source_id);
    }
    j->replaceable = false;
}

void source_cut_off(struct job *j) {
    source_close(j, 0);
    source_leave(j, 0);
    link_say(&j->source, "cut off", j->source_id);
}

static void source_end(struct job *j, int error) {
    const char *why = j->why[0]   ? j->why
                      : error < 0 ? tltcp_strerror(error)
                                  : "the stream has ended";
    bool bad = error < 0 || j->why[0];
    if (j->why[0]) {
        source_turn_away(j, WRONG_KIND);
    } else {
        source_close(j, bad ? 0 : LINGER_MS);
    }
    source_leave(j, error);
    if (j->o->reconnect) {
        link_say(&j->source, why, "");
        return;
    }
    if (bad) {
        job_end(j, tool_fail(TOOL, "%s: %s", j->o->in.text, why));
    }
    job_end_input(j);
}

/* What is held back is still to be written. */
static void source_on_end(struct job *j) {
    j->ended = true;
    if (j->o->reconnect && j->o->in.at.listens) {
        source_leave(j, 0);
        j->replaceable = true;
    }
}

static void source_read(struct job *j) {
    tltcp_live_frame f;
    int n = 1;
    while (j->status < 0 && n > 0 && !j->why[0]) {
        tltcp_live_frame_init(&f);
        n = tltcp_live_read(j->from, &f, 0);
        if (n == TLTCP_LIVE_READ_FRAME) {
            source_on_frame(j, &f);
        } else if (n == TLTCP_LIVE_READ_FORMAT) {
            source_on_format(j, f.stream);
        }
    }
    if (n == 0 && !j->why[0]) {
        source_on_end(j);
    } else if (n != TLTCP_ERR_AGAIN) {
        source_end(j, n < 0 ? n : 0);
    }
}

/* The sender waits for this, and hears if the rest cannot be written. */
static void source_end_written(struct job *j) {
    if (release_when(&j->release) == TLTCP_TIME_NEVER) {
        job_check_written(j, out_flush(&j->out));
        if (j->status < 0) {
            source_end(j, 0);
        }
    }
}

void source_run(struct job *j, uint64_t *when) {
    tltcp_socket *s = NULL;
    if ((!j->from || j->replaceable) && !j->over) {
        int rc = link_run(&j->source, &s, when);
        if (rc != TOOL_OK) {
            job_end(j, rc);
        } else if (s) {
            if (j->from) {
                source_end(j, 0);
            }
            source_begin(j, s);
        }
    }
    if (j->from && !j->ended) {
        source_read(j);
    }
    if (j->from && j->ended) {
        source_end_written(j);
    }
}

void source_release(struct job *j, uint64_t now, uint64_t *when) {
    size_t len;
    const uint8_t *data;
    while (release_when(&j->release) <= now && j->status < 0) {
        data = release_peek(&j->release, &len);
        job_deliver(j, data, len, now);
        release_pop(&j->release);
    }
    if (release_when(&j->release) < *when) {
        *when = release_when(&j->release);
    }
}

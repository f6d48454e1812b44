/* SPDX-License-Identifier: MPL-2.0 */
/* A source's frames into a connection, at their times. */
#include "tools/tltcp/sender.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/tool.h"

#define TOOL "tltcp-send"

static void on_event(void *user, const tltcp_live_event *ev) {
    struct sender *s = user;
    if (ev->type == TLTCP_LIVE_EVENT_DISCONNECTED ||
        ev->type == TLTCP_LIVE_EVENT_REFUSED) {
        s->error = ev->error;
        memcpy(s->reason, ev->reason, sizeof(s->reason));
    }
    frame_log_event(&s->log, ev);
}

static void on_section(void *user, tltcp_live_section *section) {
    struct sender *s = user;
    s->no_memory = tltcp_live_sender_push(s->out, section) < 0 || s->no_memory;
}

static bool is_paced(const struct sender *s) {
    return s->options->speed > 0;
}

static bool add_stream(struct sender *s, const struct source *src,
                       unsigned number) {
    const tltcp_live_settings *set = s->options->to.settings;
    tltcp_live_stream *stream = tltcp_live_stream_new(number, on_section, s);
    tltcp_live_section *config;
    tltcp_live_format f;
    s->stream[number] = stream;
    s->streams = number + 1;
    source_format(src, number, &f);
    if (!stream || tltcp_live_stream_set_format(stream, &f) < 0) {
        return false;
    }
    tltcp_live_stream_set_deadlines(
        stream,
        is_paced(s) ? (int)set->deadline_mode : TLTCP_LIVE_DEADLINE_NONE,
        set->latency_ms, set->grace_ms, s->options->speed);
    config = tltcp_live_stream_describe(stream, source_streams(src));
    if (config) {
        on_section(s, config);
        tltcp_live_section_unref(config);
    }
    return config && !s->no_memory;
}

static tltcp_socket *connect_to(struct sender *s) {
    const struct send_options *o = s->options;
    tltcp_live_settings settings = *o->to.settings;
    tltcp_live_link *link = NULL;
    tltcp_socket *socket = NULL;
    tltcp_time when;
    int rc;
    settings.host = o->peer.host;
    settings.service = o->peer.port;
    settings.reconnect = settings.listens = false;
    rc = tltcp_live_link_new(&link, &settings, o->to.config, on_event, s);
    while (rc == 0 && (rc = tltcp_live_link_run(link, &socket, &when)) == 0) {
        struct pollfd p = {.events = POLLIN};
        p.fd = tltcp_live_link_fds(link, &p.fd) > 0 ? p.fd : -1;
        (void)poll(&p, 1, 200);
    }
    tltcp_live_link_free(link);
    if (rc < 0) {
        (void)tool_fail(TOOL, "cannot connect to %s: %s", o->url,
                        s->reason[0]              ? s->reason
                        : rc == TLTCP_ERR_TIMEOUT ? "no answer"
                                                  : tltcp_strerror(rc));
    }
    return socket;
}

int sender_lost(const struct sender *s) {
    return tool_fail(TOOL, "connection to %s lost: %s", s->options->url,
                     *s->reason ? s->reason : tltcp_strerror(s->error));
}

int sender_open(struct sender *s, const struct send_options *o,
                const struct source *src) {
    tltcp_socket *socket;
    memset(s, 0, sizeof(*s));
    s->options = o;
    if (!frame_log_open(&s->log, o->frames)) {
        return tool_fail(TOOL, "cannot write %s: %s", o->frames,
                         strerror(errno));
    }
    socket = connect_to(s);
    if (!socket) {
        return TOOL_FAILED;
    }
    o->to.settings->report_frames = o->frames != NULL;
    s->out = tltcp_live_sender_new(socket, o->to.settings, on_event, s);
    s->start = s->log.start = tltcp_now();
    for (unsigned i = 0; s->out && i < source_streams(src); i++) {
        if (!add_stream(s, src, i)) {
            return tool_fail(TOOL, "cannot describe stream %u to the peer", i);
        }
    }
    return s->out ? TOOL_OK : tool_fail(TOOL, "out of memory");
}

uint64_t sender_time(const struct sender *s, const struct source_frame *f) {
    int64_t when = is_paced(s)
                       ? (int64_t)s->start +
                             (int64_t)((double)f->times.dts / s->options->speed)
                       : 0;
    return when > 0 ? (uint64_t)when : 0;
}

bool sender_push(struct sender *s, const struct source_frame *f) {
    tltcp_live_frame frame;
    tltcp_live_frame_init(&frame);
    frame.data = f->packet->data;
    frame.len = (size_t)f->packet->size;
    frame.flags = f->flags;
    frame.pts = f->times.pts;
    frame.dts = f->times.dts;
    frame.duration = f->times.duration;
    frame.clock_offset = (int64_t)s->start;
    if (tltcp_live_stream_write(s->stream[f->stream], &frame) < 0) {
        s->no_memory = true;
    }
    (void)tltcp_live_sender_run(s->out);
    return !s->no_memory;
}

void sender_finish(struct sender *s) {
    tltcp_live_section *end = tltcp_live_stream_mark(
        s->stream[0], TLTCP_LIVE_MARK_END, TLTCP_LIVE_TIME_NONE,
        TLTCP_LIVE_TIME_NONE, NULL, 0);
    if (end) {
        on_section(s, end);
        tltcp_live_section_unref(end);
    }
    (void)tltcp_live_sender_run(s->out);
}

bool sender_free(struct sender *s) {
    tltcp_live_sender_free(s->out);
    for (unsigned i = 0; i < s->streams; i++) {
        tltcp_live_stream_free(s->stream[i]);
    }
    return frame_log_close(&s->log);
}

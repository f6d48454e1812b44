/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/tltcp/sender.h"

#include <stdlib.h>
#include <string.h>

#include "libtltcp/live/connect.h"
#include "tools/common/tool.h"

#define TOOL "tltcp-send"
#define GENERATION 1

static bool send_config(struct sender *s, const struct source *src,
                        unsigned stream) {
    const media_header h = {.kind = MEDIA_KIND_CONFIG,
                            .stream = (uint8_t)stream,
                            .generation = GENERATION,
                            .pts = MEDIA_TIME_NONE,
                            .dts = MEDIA_TIME_NONE,
                            .duration = MEDIA_TIME_NONE};
    uint32_t latency = s->options->to.feed.latency_ms;
    size_t len = source_config(src, stream, latency, NULL, 0);
    uint8_t *payload = malloc(len ? len : 1);
    bool ok = false;
    if (payload && len) {
        (void)source_config(src, stream, latency, payload, len);
        ok = feed_push_section(&s->feed, &h, payload, len);
    }
    free(payload);
    return ok;
}

static int connect_to(struct sender *s) {
    const struct send_options *o = s->options;
    tltcp_socket *socket;
    char reason[TLTCP_REASON_MAX + 1];
    if (live_connect(&socket, o->peer.host, o->peer.port, &o->to.config, NULL,
                     reason) != 0) {
        return tool_fail(TOOL, "cannot connect to %s: %s", o->url, reason);
    }
    feed_start(&s->feed, socket);
    return TOOL_OK;
}

int sender_lost(const struct sender *s) {
    const char *reason = s->feed.reason;
    return tool_fail(TOOL, "connection to %s lost: %s%s%s", s->options->url,
                     tltcp_strerror(s->feed.error), *reason ? ": " : "",
                     reason);
}

int sender_open(struct sender *s, const struct send_options *o,
                const struct source *src) {
    int rc;
    memset(s, 0, sizeof(*s));
    s->options = o;
    rc = feed_init(&s->feed, &o->to.feed);
    if (rc < 0) {
        return tool_fail(TOOL, "cannot write %s: %s",
                         o->to.feed.frames ? o->to.feed.frames : "frames",
                         strerror(-rc));
    }
    if (connect_to(s) != TOOL_OK) {
        return TOOL_FAILED;
    }
    for (unsigned i = 0; i < source_streams(src); i++) {
        feed_slot(&s->feed, (uint8_t)i, source_frame_ns(src, i));
        if (!send_config(s, src, i)) {
            return s->feed.error < 0
                       ? sender_lost(s)
                       : tool_fail(TOOL,
                                   "cannot describe stream %u to the peer", i);
        }
    }
    s->start = s->feed.ledger.start;
    return TOOL_OK;
}

static int64_t on_clock(const struct sender *s, int64_t media) {
    return (int64_t)s->start + (int64_t)((double)media / s->options->speed);
}

static bool is_paced(const struct sender *s) {
    return s->options->speed > 0;
}

uint64_t sender_time(const struct sender *s, const struct source_frame *f) {
    int64_t when = is_paced(s) ? on_clock(s, f->times.dts) : 0;
    return when > 0 ? (uint64_t)when : 0;
}

bool sender_push(struct sender *s, const struct source_frame *f) {
    struct feed_frame frame = {.header = &f->header,
                               .payload = f->packet->data,
                               .len = (size_t)f->packet->size,
                               .slot = f->header.stream,
                               .stream = f->header.stream % TL_STREAMS_MAX};
    if (is_paced(s)) {
        frame.what = &f->what;
        /* The latency is real time whatever the speed, so the media's times
         * are brought to real time first. */
        frame.times = (media_times){.pts = on_clock(s, f->times.pts),
                                    .dts = on_clock(s, f->times.dts),
                                    .duration = f->times.duration,
                                    .arrival = (int64_t)tltcp_now()};
    }
    return feed_push(&s->feed, &frame);
}

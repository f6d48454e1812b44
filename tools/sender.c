/* SPDX-License-Identifier: MPL-2.0 */
#include "sender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "media/linkstate.h"
#include "tool.h"

#define TOOL "tltcp-send"
#define QUEUE_FRAMES 4096
#define QUEUE_BYTES (64u << 20)
#define GENERATION 1

/* A section that waits: header and payload in one piece. */
struct pending {
    struct ledger_entry entry;
    size_t len;
    uint8_t data[];
};

static struct pending *pending_new(const media_header *h, const void *payload) {
    size_t len = MEDIA_HEADER_LEN + (size_t)h->length;
    struct pending *p = malloc(sizeof(*p) + len);
    if (!p) {
        return NULL;
    }
    *p = (struct pending){.len = len};
    p->entry.header = *h;
    p->entry.is_frame = h->kind == MEDIA_KIND_FRAME;
    p->entry.item.bytes = len;
    p->entry.item.deadline = MEDIA_NEVER;
    p->entry.item.due = MEDIA_NEVER;
    media__header_write(h, p->data);
    if (h->length) {
        memcpy(p->data + MEDIA_HEADER_LEN, payload, h->length);
    }
    return p;
}

/* One section with its deadline. */
static ssize_t send_section(struct sender *s, struct pending *p,
                            tltcp_time deadline) {
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(deadline))];
    struct iovec iov = {p->data, p->len};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    struct cmsghdr *c;
    memset(control, 0, sizeof(control));
    c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_TLTCP;
    c->cmsg_type = TL_DEADLINE;
    c->cmsg_len = CMSG_LEN(sizeof(deadline));
    memcpy(CMSG_DATA(c), &deadline, sizeof(deadline));
    return tltcp_sendmsg(s->socket, &msg, MSG_TL | MSG_DONTWAIT);
}

static void fail(struct sender *s, int error) {
    int cause = tltcp_socket_error(s->socket, s->reason);
    s->closed = true;
    s->error = cause < 0 ? cause : error;
}

/* Gives a section to the connection, or keeps it until there is room. */
static void give(struct sender *s, struct pending *p, int64_t deadline) {
    tltcp_time when =
        deadline == MEDIA_NEVER ? TLTCP_TIME_NEVER : (tltcp_time)deadline;
    ssize_t n = send_section(s, p, when);
    if (n == TLTCP_ERR_AGAIN) {
        s->held = p;
        return;
    }
    if (n == TLTCP_ERR_TOO_BIG && p->entry.is_frame) {
        ledger_held_back(&s->ledger, &p->entry, MEDIA_DROP_OVERFLOW,
                         tltcp_now());
    } else if (n < 0) {
        fail(s, (int)n);
    } else {
        p->entry.written = tltcp_now();
        if (!ledger_sent(&s->ledger, &p->entry)) {
            fail(s, TLTCP_ERR_NOMEM);
        }
    }
    free(p);
}

static bool send_config(struct sender *s, const struct source *src,
                        unsigned stream) {
    media_header h = {.kind = MEDIA_KIND_CONFIG,
                      .stream = (uint8_t)stream,
                      .generation = GENERATION,
                      .pts = MEDIA_TIME_NONE,
                      .dts = MEDIA_TIME_NONE,
                      .duration = MEDIA_TIME_NONE};
    uint32_t latency = s->options->latency_ms;
    size_t len = source_config(src, stream, latency, NULL, 0);
    uint8_t *payload = malloc(len ? len : 1);
    struct pending *p = NULL;
    if (payload && len) {
        (void)source_config(src, stream, latency, payload, len);
        h.length = (uint32_t)len;
        p = pending_new(&h, payload);
    }
    free(payload);
    if (p) {
        give(s, p, MEDIA_NEVER);
    }
    return p && !s->closed;
}

/* The answer of the peer, or the code that stands for none. */
static int await_peer(struct sender *s) {
    tltcp_event ev;
    int rc;
    do {
        rc = tltcp_next_event(s->socket, &ev, -1);
    } while (rc == 1 && ev.type != TLTCP_EVENT_CONNECTED &&
             ev.type != TLTCP_EVENT_CLOSED);
    if (rc == 1 && ev.type == TLTCP_EVENT_CLOSED) {
        memcpy(s->reason, ev.reason, sizeof(s->reason));
        return ev.error < 0 ? ev.error : TLTCP_ERR_CLOSED;
    }
    return rc == 1 ? 0 : rc;
}

static int connect_to(struct sender *s) {
    const struct send_options *o = s->options;
    int rc =
        tltcp_connect(&s->socket, o->peer.host, o->peer.port, &o->config, 0);
    if (rc == 0) {
        rc = await_peer(s);
    }
    if (rc == 0) {
        return TOOL_OK;
    }
    if (s->reason[0] == '\0') {
        (void)snprintf(s->reason, sizeof(s->reason), "%s",
                       rc == TLTCP_ERR_TIMEOUT ? "nobody answers"
                                               : tltcp_strerror(rc));
    }
    return tool_fail(TOOL, "cannot connect to %s: %s", o->url, s->reason);
}

int sender_open(struct sender *s, const struct send_options *o,
                const struct source *src) {
    memset(s, 0, sizeof(*s));
    s->options = o;
    s->queue = media__outq_new(o->drop_policy, QUEUE_FRAMES, QUEUE_BYTES);
    if (!s->queue) {
        return tool_fail(TOOL, "out of memory");
    }
    if (!ledger_init(&s->ledger, o->frames)) {
        return tool_fail(TOOL, "cannot write %s: %s", o->frames,
                         strerror(errno));
    }
    if (connect_to(s) != TOOL_OK) {
        return TOOL_FAILED;
    }
    for (unsigned i = 0; i < source_streams(src); i++) {
        int64_t latency = (int64_t)o->latency_ms * 1000000;
        int64_t grace = (int64_t)o->grace_ms * 1000000;
        media__deadline_init(&s->deadline[i], o->deadline_mode, latency, grace,
                             source_frame_ns(src, i));
        if (!send_config(s, src, i)) {
            return tool_fail(TOOL, "cannot describe stream %u to the peer", i);
        }
    }
    s->start = tltcp_now();
    s->ledger.start = s->start;
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

bool sender_has_room(const struct sender *s) {
    return !s->closed && !s->held;
}

/* The latency is real time whatever the speed, so the media's times are
 * brought to real time first. */
static void set_deadline(struct sender *s, const struct source_frame *f,
                         media_item *item) {
    media_times t = {.pts = on_clock(s, f->times.pts),
                     .dts = on_clock(s, f->times.dts),
                     .duration = f->times.duration,
                     .arrival = (int64_t)tltcp_now()};
    media_due due = media__deadline_next(&s->deadline[item->stream], &f->what,
                                         &t, MEDIA_TIME_NONE);
    item->due = due.due;
    item->deadline = due.deadline;
}

bool sender_push(struct sender *s, const struct source_frame *f) {
    media_header h = f->header;
    struct pending *p;
    h.length = (uint32_t)f->packet->size;
    p = pending_new(&h, f->packet->data);
    if (!p) {
        return false;
    }
    if (!is_paced(s)) {
        give(s, p, MEDIA_NEVER);
        return true;
    }
    p->entry.item.frame = f->what;
    p->entry.item.stream = h.stream;
    p->entry.item.arrival = (int64_t)tltcp_now();
    p->entry.item.user = p;
    set_deadline(s, f, &p->entry.item);
    if (!media__outq_push(s->queue, &p->entry.item)) {
        ledger_held_back(&s->ledger, &p->entry, MEDIA_DROP_OVERFLOW,
                         tltcp_now());
        free(p);
    }
    return true;
}

static void take_events(struct sender *s) {
    tltcp_event ev;
    struct ledger_entry lost;
    while (tltcp_next_event(s->socket, &ev, 0) == 1) {
        if (ev.type == TLTCP_EVENT_FATE) {
            if (ledger_fate(&s->ledger, &ev, &lost)) {
                (void)media__outq_on_lost(s->queue, &lost.item);
            }
        } else if (ev.type == TLTCP_EVENT_CLOSED) {
            s->closed = true;
            s->error = ev.error;
            memcpy(s->reason, ev.reason, sizeof(s->reason));
            ledger_abandon(&s->ledger, ev.now);
        }
    }
}

static media_link link_state(const struct sender *s) {
    tltcp_stats st;
    tltcp_stats_init(&st);
    (void)tltcp_get_stats(s->socket, &st);
    return media__link_state(&st);
}

static void give_up(struct sender *s, struct pending *p, int reason) {
    ledger_held_back(&s->ledger, &p->entry, reason, tltcp_now());
    free(p);
}

static uint64_t send_due(struct sender *s) {
    media_next next;
    struct pending *p;
    while (!s->held && !s->closed) {
        media_link link = link_state(s);
        media__outq_next(s->queue, &link, (int64_t)tltcp_now(), &next);
        if (next.verdict == MEDIA_WAIT) {
            return next.when == MEDIA_NEVER ? TLTCP_TIME_NEVER
                                            : (uint64_t)next.when;
        }
        p = next.item.user;
        p->entry.item = next.item;
        if (next.verdict == MEDIA_DROP) {
            give_up(s, p, next.reason);
        } else {
            give(s, p, media__item_deadline(&next.item, &link));
        }
    }
    return TLTCP_TIME_NEVER;
}

uint64_t sender_run(struct sender *s) {
    struct pending *held = s->held;
    take_events(s);
    if (s->closed) {
        return TLTCP_TIME_NEVER;
    }
    if (held) {
        s->held = NULL;
        give(s, held, held->entry.item.deadline);
    }
    return send_due(s);
}

nfds_t sender_poll(const struct sender *s, struct pollfd *fds) {
    nfds_t n = 0;
    fds[n++] =
        (struct pollfd){.fd = tltcp_event_fd(s->socket), .events = POLLIN};
    if (s->held) {
        fds[n++] = (struct pollfd){.fd = tltcp_writable_fd(s->socket),
                                   .events = POLLIN};
    }
    return n;
}

bool sender_is_idle(const struct sender *s) {
    return s->closed || (!s->held && media__outq_items(s->queue) == 0 &&
                         s->ledger.open == 0);
}

void sender_finish(struct sender *s) {
    media_header h = {.kind = MEDIA_KIND_EVENT,
                      .picture = MEDIA_EVENT_EOS,
                      .generation = GENERATION,
                      .pts = MEDIA_TIME_NONE,
                      .dts = MEDIA_TIME_NONE,
                      .duration = MEDIA_TIME_NONE};
    struct pending *p;
    if (s->closed || s->held) {
        return;
    }
    p = pending_new(&h, NULL);
    if (p) {
        give(s, p, MEDIA_NEVER);
    }
}

static void drop_item(void *user, media_item *item) {
    give_up(user, item->user, MEDIA_DROP_LATE);
}

void sender_close(struct sender *s, int linger_ms) {
    if (s->held) {
        give_up(s, s->held, MEDIA_DROP_LATE);
        s->held = NULL;
    }
    media__outq_free(s->queue, drop_item, s);
    s->queue = NULL;
    (void)tltcp_close(s->socket, linger_ms);
    s->socket = NULL;
    ledger_abandon(&s->ledger, tltcp_now());
}

bool sender_free(struct sender *s) {
    if (s->queue || s->socket) {
        sender_close(s, 0);
    }
    return ledger_free(&s->ledger);
}

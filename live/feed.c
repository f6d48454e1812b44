/* SPDX-License-Identifier: MPL-2.0 */
#include "live/feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "media/linkstate.h"

#define QUEUE_FRAMES 4096
#define QUEUE_BYTES (64u << 20)
#define GENERATION 1
#define MS INT64_C(1000000)

/* A section that waits: header, if it has one, and payload in one piece. */
struct feed_section {
    struct ledger_entry entry;
    size_t head; /* bytes of the header */
    size_t len;
    uint8_t data[];
};

static struct feed_section *section_new(const media_header *h,
                                        const void *payload, size_t bytes) {
    size_t head = h ? MEDIA_HEADER_LEN : 0;
    struct feed_section *p = malloc(sizeof(*p) + head + bytes);
    if (!p) {
        return NULL;
    }
    *p = (struct feed_section){.head = head, .len = head + bytes};
    p->entry.header = h ? *h : (media_header){.kind = MEDIA_KIND_FRAME};
    p->entry.header.length = (uint32_t)bytes;
    p->entry.is_frame = p->entry.header.kind == MEDIA_KIND_FRAME;
    p->entry.item.bytes = p->len;
    p->entry.item.deadline = MEDIA_NEVER;
    p->entry.item.due = MEDIA_NEVER;
    if (h) {
        media__header_write(&p->entry.header, p->data);
    }
    if (bytes) {
        memcpy(p->data + head, payload, bytes);
    }
    return p;
}

/* One section with its deadline. */
static ssize_t send_section(struct feed *f, struct feed_section *p,
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
    return tltcp_sendmsg(f->socket, &msg, MSG_TL | MSG_DONTWAIT);
}

static void fail(struct feed *f, int error) {
    int cause = tltcp_socket_error(f->socket, f->reason);
    f->closed = true;
    f->error = cause < 0 ? cause : error;
}

/* Gives a section to the connection, or keeps it until there is room. */
static void give(struct feed *f, struct feed_section *p, int64_t deadline) {
    tltcp_time when =
        deadline == MEDIA_NEVER ? TLTCP_TIME_NEVER : (tltcp_time)deadline;
    ssize_t n = send_section(f, p, when);
    if (n == TLTCP_ERR_AGAIN) {
        f->held = p;
        return;
    }
    if (n == TLTCP_ERR_TOO_BIG && p->entry.is_frame) {
        ledger_held_back(&f->ledger, &p->entry, MEDIA_DROP_OVERFLOW,
                         tltcp_now());
    } else if (n < 0) {
        fail(f, (int)n);
    } else {
        p->entry.written = tltcp_now();
        if (!ledger_sent(&f->ledger, &p->entry)) {
            fail(f, TLTCP_ERR_NOMEM);
        }
    }
    free(p);
}

int feed_init(struct feed *f, const struct feed_settings *s) {
    memset(f, 0, sizeof(*f));
    f->settings = *s;
    f->queue = media__outq_new(s->drop_policy, QUEUE_FRAMES, QUEUE_BYTES);
    if (!f->queue) {
        return -ENOMEM;
    }
    if (!ledger_init(&f->ledger, s->frames)) {
        return errno ? -errno : -EIO;
    }
    for (unsigned i = 0; i < 256; i++) {
        feed_slot(f, (uint8_t)i, 0);
    }
    return 0;
}

void feed_start(struct feed *f, tltcp_socket *socket) {
    f->socket = socket;
    f->ledger.start = tltcp_now();
}

void feed_slot(struct feed *f, uint8_t slot, int64_t frame_ns) {
    const struct feed_settings *s = &f->settings;
    media__deadline_init(&f->deadline[slot], s->deadline_mode,
                         (int64_t)s->latency_ms * MS, (int64_t)s->grace_ms * MS,
                         frame_ns);
}

bool feed_has_room(const struct feed *f) {
    return !f->closed && !f->held;
}

uint32_t feed_flags(const media_frame *what) {
    uint32_t flags = 0;
    if (what->key && what->closed_gop) {
        flags |= MEDIA_FLAG_CLOSED;
    }
    if (what->recovery) {
        uint32_t count = what->recovery_cnt & UINT32_C(0xffff);
        flags |= MEDIA_FLAG_RECOVERY | count << MEDIA_RECOVERY_SHIFT;
    }
    return flags;
}

static bool enqueue(struct feed *f, const struct feed_frame *frame,
                    struct feed_section *p) {
    media_item *item = &p->entry.item;
    media_due due;
    item->frame = *frame->what;
    item->stream = frame->slot;
    item->arrival = (int64_t)tltcp_now();
    item->user = p;
    due = media__deadline_next(&f->deadline[frame->slot], frame->what,
                               &frame->times, MEDIA_TIME_NONE);
    item->due = due.due;
    item->deadline = due.deadline;
    return media__outq_push(f->queue, item);
}

bool feed_push(struct feed *f, const struct feed_frame *frame) {
    struct feed_section *p =
        section_new(frame->header, frame->payload, frame->len);
    if (!p) {
        return false;
    }
    if (!frame->what) {
        give(f, p, MEDIA_NEVER);
    } else if (!enqueue(f, frame, p)) {
        ledger_held_back(&f->ledger, &p->entry, MEDIA_DROP_OVERFLOW,
                         tltcp_now());
        free(p);
    }
    return true;
}

bool feed_send_now(struct feed *f, const media_header *h, const void *payload,
                   size_t len) {
    struct feed_section *p =
        feed_has_room(f) ? section_new(h, payload, len) : NULL;
    if (p) {
        give(f, p, MEDIA_NEVER);
    }
    return p && !f->closed;
}

static void take_events(struct feed *f) {
    tltcp_event ev;
    struct ledger_entry lost;
    while (tltcp_next_event(f->socket, &ev, 0) == 1) {
        if (ev.type == TLTCP_EVENT_FATE) {
            if (ledger_fate(&f->ledger, &ev, &lost)) {
                (void)media__outq_on_lost(f->queue, &lost.item);
            }
        } else if (ev.type == TLTCP_EVENT_CLOSED) {
            f->closed = true;
            f->error = ev.error;
            memcpy(f->reason, ev.reason, sizeof(f->reason));
            ledger_abandon(&f->ledger, ev.now);
        }
    }
}

static media_link link_state(const struct feed *f) {
    tltcp_stats st;
    tltcp_stats_init(&st);
    (void)tltcp_get_stats(f->socket, &st);
    return media__link_state(&st);
}

static void give_up(struct feed *f, struct feed_section *p, int reason) {
    ledger_held_back(&f->ledger, &p->entry, reason, tltcp_now());
    if (f->on_given_up) {
        f->on_given_up(f->user, f, &p->entry.header, p->data + p->head);
    }
    free(p);
}

static uint64_t send_due(struct feed *f) {
    media_next next;
    struct feed_section *p;
    while (!f->held && !f->closed) {
        media_link link = link_state(f);
        media__outq_next(f->queue, &link, (int64_t)tltcp_now(), &next);
        if (next.verdict == MEDIA_WAIT) {
            return next.when == MEDIA_NEVER ? TLTCP_TIME_NEVER
                                            : (uint64_t)next.when;
        }
        p = next.item.user;
        p->entry.item = next.item;
        if (next.verdict == MEDIA_DROP) {
            give_up(f, p, next.reason);
        } else {
            give(f, p, media__item_deadline(&next.item, &link));
        }
    }
    return TLTCP_TIME_NEVER;
}

uint64_t feed_run(struct feed *f) {
    struct feed_section *held = f->held;
    take_events(f);
    if (f->closed) {
        return TLTCP_TIME_NEVER;
    }
    if (held) {
        f->held = NULL;
        give(f, held, held->entry.item.deadline);
    }
    return send_due(f);
}

nfds_t feed_poll(const struct feed *f, struct pollfd *fds) {
    nfds_t n = 0;
    fds[n++] =
        (struct pollfd){.fd = tltcp_event_fd(f->socket), .events = POLLIN};
    if (f->held) {
        fds[n++] = (struct pollfd){.fd = tltcp_writable_fd(f->socket),
                                   .events = POLLIN};
    }
    return n;
}

bool feed_is_idle(const struct feed *f) {
    return f->closed || (!f->held && media__outq_items(f->queue) == 0 &&
                         f->ledger.open == 0);
}

void feed_finish(struct feed *f) {
    const media_header h = {.kind = MEDIA_KIND_EVENT,
                            .picture = MEDIA_EVENT_EOS,
                            .generation = GENERATION,
                            .pts = MEDIA_TIME_NONE,
                            .dts = MEDIA_TIME_NONE,
                            .duration = MEDIA_TIME_NONE};
    (void)feed_send_now(f, &h, NULL, 0);
}

static void drop_item(void *user, media_item *item) {
    struct feed *f = user;
    f->on_given_up = NULL; /* nothing can be sent any more */
    give_up(f, item->user, MEDIA_DROP_LATE);
}

int feed_close(struct feed *f, int linger_ms) {
    int rc;
    if (f->held) {
        f->on_given_up = NULL;
        give_up(f, f->held, MEDIA_DROP_LATE);
        f->held = NULL;
    }
    media__outq_free(f->queue, drop_item, f);
    f->queue = NULL;
    rc = tltcp_close(f->socket, linger_ms);
    f->socket = NULL;
    ledger_abandon(&f->ledger, tltcp_now());
    return rc;
}

bool feed_free(struct feed *f) {
    if (f->queue || f->socket) {
        (void)feed_close(f, 0);
    }
    return ledger_free(&f->ledger);
}

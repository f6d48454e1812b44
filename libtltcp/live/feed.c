/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/live/feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WAITING_MAX (64u << 20)
#define GENERATION 1
#define MS INT64_C(1000000)

/* A section: header, if it has one, and payload in one piece. */
struct feed_section {
    struct feed_section *next;
    struct ledger_entry entry;
    struct tltcp_meta meta;
    tltcp_time deadline;
    media_item item; /* what its chain asks for */
    bool chained;    /* it has a chain */
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
    *p = (struct feed_section){.len = head + bytes,
                               .deadline = TLTCP_TIME_NEVER};
    p->entry.header = h ? *h : (media_header){.kind = MEDIA_KIND_FRAME};
    p->entry.header.length = (uint32_t)bytes;
    p->entry.is_frame = p->entry.header.kind == MEDIA_KIND_FRAME;
    p->entry.bytes = p->len;
    p->entry.deadline = MEDIA_NEVER;
    if (h) {
        media__header_write(&p->entry.header, p->data);
    }
    if (bytes) {
        memcpy(p->data + head, payload, bytes);
    }
    return p;
}

static void add_control(struct msghdr *msg, struct cmsghdr *c, int type,
                        const void *data, size_t len) {
    c->cmsg_level = SOL_TLTCP;
    c->cmsg_type = type;
    c->cmsg_len = CMSG_LEN(len);
    memcpy(CMSG_DATA(c), data, len);
    msg->msg_controllen += CMSG_SPACE(len);
}

/* One section with its deadline and what it is. */
static ssize_t send_section(struct feed *f, struct feed_section *p) {
    _Alignas(struct cmsghdr) char
        control[CMSG_SPACE(sizeof(p->deadline)) + CMSG_SPACE(sizeof(p->meta))];
    struct iovec iov = {p->data, p->len};
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control};
    memset(control, 0, sizeof(control));
    add_control(&msg, (struct cmsghdr *)(void *)control, TL_DEADLINE,
                &p->deadline, sizeof(p->deadline));
    add_control(
        &msg,
        (struct cmsghdr *)(void *)(control + CMSG_SPACE(sizeof(p->deadline))),
        TL_META, &p->meta, sizeof(p->meta));
    return tltcp_sendmsg(f->socket, &msg, MSG_TL | MSG_DONTWAIT);
}

static void fail(struct feed *f, int error) {
    int cause = tltcp_socket_error(f->socket, f->reason);
    f->closed = true;
    f->error = cause < 0 ? cause : error;
}

/* Ends what was not sent. */
static void hold_back(struct feed *f, struct feed_section *p, int reason) {
    ledger_held_back(&f->ledger, &p->entry, reason, tltcp_now());
    free(p);
}

/* Gives a section to the connection and frees it; false: there is no room. */
static bool feed_give(struct feed *f, struct feed_section *p) {
    media_chain *chain = &f->chain[p->meta.stream];
    media_gate *gate = &f->given[p->meta.stream];
    media_chain before = *chain;
    ssize_t n;
    if (p->chained && !media__gate_takes(gate, &p->item)) {
        hold_back(f, p, MEDIA_DROP_DEPENDS);
        return true;
    }
    if (p->chained) {
        p->meta.depends = media__chain_add(chain, &p->item, f->ledger.next);
    }
    n = send_section(f, p);
    if (n < 0) {
        *chain = before;
    }
    if (n == TLTCP_ERR_AGAIN) {
        return false;
    }
    if (n == TLTCP_ERR_TOO_BIG && p->entry.is_frame) {
        if (p->chained) {
            media__gate_leave_out(gate, &p->item);
        }
        hold_back(f, p, MEDIA_DROP_OVERFLOW);
        return true;
    }
    if (n < 0) {
        fail(f, (int)n);
    } else {
        p->entry.written = tltcp_now();
        if (!ledger_sent(&f->ledger, &p->entry)) {
            fail(f, TLTCP_ERR_NOMEM);
        }
    }
    free(p);
    return true;
}

/* Gives what waits, in order. */
static void give_waiting(struct feed *f) {
    while (f->first && !f->closed) {
        struct feed_section *p = f->first;
        struct feed_section *next = p->next;
        size_t len = p->len;
        if (!feed_give(f, p)) {
            return;
        }
        f->waiting -= len;
        f->first = next;
        f->last = next ? f->last : NULL;
    }
}

static void append(struct feed *f, struct feed_section *p) {
    if (f->waiting + p->len > WAITING_MAX && p->entry.is_frame) {
        if (p->chained) {
            media__gate_leave_out(&f->pushed[p->meta.stream], &p->item);
        }
        hold_back(f, p, MEDIA_DROP_OVERFLOW);
        return;
    }
    f->waiting += p->len;
    if (f->last) {
        f->last->next = p;
    } else {
        f->first = p;
    }
    f->last = p;
    give_waiting(f);
}

int feed_init(struct feed *f, const struct feed_settings *s) {
    memset(f, 0, sizeof(*f));
    f->settings = *s;
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
    return !f->closed && !f->first;
}

static void set_deadline(struct feed *f, const struct feed_frame *frame,
                         struct feed_section *p) {
    media_due due = media__deadline_next(&f->deadline[frame->slot], frame->what,
                                         &frame->times, MEDIA_TIME_NONE);
    p->meta.section_class = media__chain_class(frame->what);
    p->meta.stream = frame->stream;
    p->entry.deadline = due.deadline;
    p->chained = true;
    p->item = (media_item){.frame = *frame->what,
                           .stream = frame->stream,
                           .bytes = p->len,
                           .arrival = frame->times.arrival,
                           .due = due.due,
                           .deadline = due.deadline};
    if (due.deadline != MEDIA_NEVER) {
        p->deadline = (tltcp_time)due.deadline;
        p->meta.due = due.due == MEDIA_NEVER ? 0 : (tltcp_time)due.due;
    }
}

bool feed_push(struct feed *f, const struct feed_frame *frame) {
    struct feed_section *p =
        section_new(frame->header, frame->payload, frame->len);
    if (!p) {
        return false;
    }
    if (frame->what) {
        set_deadline(f, frame, p);
        if (!media__gate_takes(&f->pushed[frame->stream], &p->item)) {
            hold_back(f, p, MEDIA_DROP_DEPENDS);
            return true;
        }
    }
    append(f, p);
    return true;
}

void feed_join(struct feed *f) {
    for (size_t i = 0; i < TL_STREAMS_MAX; i++) {
        media__gate_join(&f->pushed[i], (int64_t)tltcp_now());
    }
}

bool feed_push_section(struct feed *f, const media_header *h,
                       const void *payload, size_t len) {
    struct feed_section *p = f->closed ? NULL : section_new(h, payload, len);
    if (p) {
        p->meta.section_class = TL_CLASS_HEADER;
        append(f, p);
    }
    return p && !f->closed;
}

void feed_run(struct feed *f) {
    tltcp_event ev;
    while (tltcp_next_event(f->socket, &ev, 0) == 1) {
        if (ev.type == TLTCP_EVENT_FATE) {
            ledger_fate(&f->ledger, &ev);
        } else if (ev.type == TLTCP_EVENT_CLOSED) {
            f->closed = true;
            f->error = ev.error;
            memcpy(f->reason, ev.reason, sizeof(f->reason));
            ledger_abandon(&f->ledger, ev.now);
        }
    }
    give_waiting(f);
}

nfds_t feed_poll(const struct feed *f, struct pollfd *fds) {
    nfds_t n = 0;
    fds[n++] =
        (struct pollfd){.fd = tltcp_event_fd(f->socket), .events = POLLIN};
    if (f->first) {
        fds[n++] = (struct pollfd){.fd = tltcp_writable_fd(f->socket),
                                   .events = POLLIN};
    }
    return n;
}

uint64_t feed_bytes(const struct feed *f) {
    tltcp_stats st;
    tltcp_stats_init(&st);
    (void)tltcp_get_stats(f->socket, &st);
    return f->waiting + st.bytes_queued;
}

bool feed_is_idle(const struct feed *f) {
    return f->closed || (!f->first && f->ledger.open == 0);
}

void feed_finish(struct feed *f) {
    const media_header h = {.kind = MEDIA_KIND_EVENT,
                            .picture = MEDIA_EVENT_EOS,
                            .generation = GENERATION,
                            .pts = MEDIA_TIME_NONE,
                            .dts = MEDIA_TIME_NONE,
                            .duration = MEDIA_TIME_NONE};
    (void)feed_push_section(f, &h, NULL, 0);
}

int feed_close(struct feed *f, int linger_ms) {
    int rc;
    while (f->first) {
        struct feed_section *p = f->first;
        f->first = p->next;
        hold_back(f, p, MEDIA_DROP_LATE);
    }
    f->last = NULL;
    f->waiting = 0;
    rc = tltcp_close(f->socket, linger_ms);
    f->socket = NULL;
    ledger_abandon(&f->ledger, tltcp_now());
    return rc;
}

bool feed_free(struct feed *f) {
    if (f->socket) {
        (void)feed_close(f, 0);
    }
    return ledger_free(&f->ledger);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The receiving side of ::tltcp_live, in the reading thread. */
#include <stdlib.h>
#include <string.h>

#include "internal/common/sized.h"
#include "internal/media/codec/config.h"
#include "libtltcp/live/live_impl.h"

#define NS_PER_MS UINT64_C(1000000)
#define END_LINGER_MS 200 /* for the last acknowledgement to arrive */
#define NOTHING (-1000)   /* nothing for the reader */
/* Descriptions of all streams. */
#define FORMATS_MAX ((size_t)8 << 20)

/* ---- Formats ---- */

static char *live_store_text(uint8_t **at, const media_span *span) {
    char *text = (char *)*at;
    if (span->len == 0) {
        return NULL;
    }
    memcpy(text, span->data, span->len);
    text[span->len] = '\0';
    *at += span->len + 1;
    return text;
}

static struct live_format *live_store_format(const media_config *c) {
    size_t room = c->codec.len + c->caps.len + c->extradata.len + c->title.len +
                  c->format.len + 5;
    struct live_format *f = calloc(1, sizeof(*f));
    uint8_t *at = f ? malloc(room) : NULL;
    if (at == NULL) {
        free(f);
        return NULL;
    }
    f->text = at;
    f->bytes = room;
    tltcp_live_format_init(&f->format);
    f->format.type = c->type;
    f->format.nal_length = c->nal_length;
    f->format.width = c->width;
    f->format.height = c->height;
    f->format.rate_num = c->rate_num;
    f->format.rate_den = c->rate_den;
    f->format.sample_rate = c->sample_rate;
    f->format.channels = c->channels;
    f->format.bit_rate = c->bit_rate;
    f->format.block_bytes = c->block_bytes;
    f->format.sample_bits = c->sample_bits;
    f->format.latency_ms = c->latency_ms;
    f->format.streams = c->streams;
    f->format.codec = live_store_text(&at, &c->codec);
    f->format.caps = live_store_text(&at, &c->caps);
    f->format.title = live_store_text(&at, &c->title);
    f->format.samples = live_store_text(&at, &c->format);
    f->format.extradata = live_store_text(&at, &c->extradata);
    f->format.extradata_len = c->extradata.len;
    return f;
}

static void live_forget_format(tltcp_live *l, size_t stream) {
    struct live_format *f = l->in.format[stream];
    l->in.format[stream] = NULL;
    if (f) {
        free(f->text);
        free(f);
    }
}

static bool live_starts(const media_span *s, const char *word) {
    size_t len = strlen(word);
    return s->len >= len && memcmp(s->data, word, len) == 0;
}

/* Whether the peer's descriptions take no more than they may. */
static bool live_may_store(const tltcp_live *l, size_t stream, size_t bytes) {
    for (size_t i = 0; i < LIVE_STREAMS; i++) {
        const struct live_format *f = l->in.format[i];
        bytes += f && i != stream ? f->bytes : 0;
    }
    return bytes <= FORMATS_MAX;
}

static int live_on_format(tltcp_live *l, const media_header *h,
                          const uint8_t *payload, tltcp_live_frame *f) {
    media_config c;
    if (media__config_parse(&c, payload, h->length) != MEDIA_OK ||
        !live_may_store(l, h->stream, h->length)) {
        return NOTHING;
    }
    live_forget_format(l, h->stream);
    l->in.format[h->stream] = live_store_format(&c);
    if (l->in.format[h->stream] == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    l->in.described = l->in.described || live_starts(&c.codec, "mpegts") ||
                      live_starts(&c.caps, "video/mpegts");
    f->stream = h->stream;
    return TLTCP_LIVE_READ_FORMAT;
}

int tltcp_live_get_format(const tltcp_live *l, unsigned stream,
                          tltcp_live_format *f) {
    if (stream >= LIVE_STREAMS || l->in.format[stream] == NULL ||
        !cmn__sized_is_set(f)) {
        return TLTCP_ERR_INVAL;
    }
    cmn__sized_give(f, &l->in.format[stream]->format, sizeof(*f));
    return 0;
}

/* ---- Connections ---- */

int tltcp__live_input_start(tltcp_live *l, tltcp_socket *socket) {
    tltcp_live_receiver *r = tltcp_live_receiver_new(socket);
    if (r == NULL) {
        (void)tltcp_close(socket, 0);
        return TLTCP_ERR_NOMEM;
    }
    atomic_store(&l->busy, true);
    (void)pthread_mutex_lock(&l->lock);
    l->in.socket = socket;
    l->in.receiver = r;
    l->connections++;
    (void)pthread_mutex_unlock(&l->lock);
    l->in.ended = l->in.described = false;
    for (size_t i = 0; i < LIVE_STREAMS; i++) {
        live_forget_format(l, i); /* the next peer has its own */
    }
    return 0;
}

/* Returns the connection, which the caller must close. */
static tltcp_socket *live_take_socket(tltcp_live *l) {
    tltcp_socket *socket;
    (void)pthread_mutex_lock(&l->lock);
    if (l->in.receiver) {
        tltcp_live_receiver_add_stats(l->in.receiver, &l->departed);
    }
    tltcp_live_receiver_free(l->in.receiver);
    socket = l->in.socket;
    tltcp__live_keep_last(l, socket);
    l->in.receiver = NULL;
    l->in.socket = NULL;
    (void)pthread_mutex_unlock(&l->lock);
    return socket;
}

static void live_drop_socket(tltcp_live *l, int linger_ms) {
    (void)tltcp_close(live_take_socket(l), linger_ms);
    atomic_store(&l->busy, false);
}

void tltcp__live_input_abort(tltcp_live *l, const char *reason) {
    (void)tltcp_abort(live_take_socket(l), reason);
}

void tltcp__live_input_stop(tltcp_live *l, int linger_ms) {
    bool orderly = l->in.over && linger_ms >= 0 && linger_ms < END_LINGER_MS;
    live_drop_socket(l, orderly ? END_LINGER_MS : linger_ms);
    free(l->in.section.data);
    for (size_t i = 0; i < LIVE_STREAMS; i++) {
        live_forget_format(l, i);
    }
}

/* Returns the end of the stream, an error, or NOTHING: another connection
 * follows. */
static int live_on_end(tltcp_live *l, int rc) {
    const tltcp_live_settings *s = tltcp__live_settings(l);
    tltcp_live_event ev = {.type = TLTCP_LIVE_EVENT_DISCONNECTED,
                           .was_open = true,
                           .now = tltcp_now()};
    bool ended = l->in.ended;
    bool again;
    ev.error = tltcp_socket_error(l->in.socket, ev.reason);
    ev.error = ev.error || rc == 0 ? ev.error : rc;
    again = s->listens
                ? s->reconnect
                : l->link && tltcp_live_link_lost(l->link, ev.error, ev.reason);
    if (again || rc != 0) {
        live_drop_socket(l, rc == 0 ? END_LINGER_MS : 0);
    }
    (void)pthread_mutex_lock(&l->lock); /* statistics read it */
    l->in.over = !again;
    (void)pthread_mutex_unlock(&l->lock);
    ev.final = !again || ended;
    tltcp__live_post(l, &ev);
    if (again && !ended) {
        return NOTHING;
    }
    return ended ? TLTCP_LIVE_READ_END : ev.error;
}

static void live_turn_away(tltcp_live *l) {
    tltcp_socket *listener = l->link ? tltcp_live_link_listener(l->link) : NULL;
    tltcp_socket *caller;
    while (listener && tltcp_accept(listener, &caller, 0) == 0) {
        (void)tltcp_reject(caller, TLTCP_LIVE_BUSY);
    }
}

/* ---- Sections ---- */

static int live_fill_frame(tltcp_live *l, const media_header *h, size_t payload,
                           tltcp_live_frame *f) {
    const tltcp_live_received *s = &l->in.section;
    f->data = s->data + payload;
    f->len = s->len - payload;
    f->stream = h->stream;
    f->flags = h->flags & 0xffff;
    f->frame_class = h->frame_class;
    f->picture = h->picture;
    f->pts = h->pts;
    f->dts = h->dts;
    f->duration = h->duration;
    f->number = h->number;
    return TLTCP_LIVE_READ_FRAME;
}

/* The sender does not frame media: its sections are the frames. */
static int live_fill_raw(tltcp_live *l, tltcp_live_frame *f) {
    f->data = l->in.section.data;
    f->len = l->in.section.len;
    f->frame_class = l->in.section.meta.section_class;
    return TLTCP_LIVE_READ_FRAME;
}

static void live_fill_section(const tltcp_live *l, tltcp_live_frame *f) {
    const tltcp_live_received *s = &l->in.section;
    tltcp_live_frame_init(f);
    f->complete = s->complete;
    f->missing = s->missing;
    f->section = s->number;
    f->tag = s->meta.tag;
    f->arrived = tltcp_now();
}

static int live_on_section(tltcp_live *l, tltcp_live_frame *f) {
    const tltcp_live_received *s = &l->in.section;
    media_header h;
    size_t payload;
    int rc = !s->begins    ? MEDIA_ERR_SHORT
             : s->complete ? media__section_parse(&h, s->data, s->len, &payload)
                           : media__header_parse(&h, s->data, s->len, &payload);
    live_fill_section(l, f);
    if (rc != MEDIA_OK) {
        bool raw = s->complete && l->in.format[0] == NULL &&
                   (rc == MEDIA_ERR_MAGIC || rc == MEDIA_ERR_SHORT);
        return raw ? live_fill_raw(l, f) : NOTHING;
    }
    switch (h.kind) {
    case MEDIA_KIND_FRAME:
        return live_fill_frame(l, &h, payload, f);
    case MEDIA_KIND_CONFIG:
        return s->complete ? live_on_format(l, &h, s->data + payload, f)
                           : NOTHING;
    default:
        l->in.ended = l->in.ended || h.picture == MEDIA_EVENT_EOS;
        return NOTHING;
    }
}

static int live_next_section(tltcp_live *l, tltcp_live_frame *f) {
    int rc;
    free(l->in.section.data);
    l->in.section.data = NULL;
    l->in.rest_len = 0;
    rc = tltcp_live_receiver_next(l->in.receiver, &l->in.section, MSG_DONTWAIT);
    if (rc == TLTCP_ERR_AGAIN || rc == TLTCP_ERR_NOMEM) {
        return rc;
    }
    if (rc <= 0) {
        return live_on_end(l, rc);
    }
    if (l->in.section.data == NULL) {
        tltcp_live_frame_init(f);
        f->missing = l->in.section.len;
        f->section = l->in.section.number;
        return TLTCP_LIVE_READ_GAP;
    }
    return live_on_section(l, f);
}

/* ---- Waiting ---- */

/* NOTHING: there may be data now. */
static int live_advance(tltcp_live *l, tltcp_live_frame *f, tltcp_time *when) {
    tltcp_socket *socket;
    int rc;
    *when = TLTCP_TIME_NEVER;
    if (l->in.over) {
        return TLTCP_ERR_CLOSED;
    }
    if (l->in.receiver) {
        live_turn_away(l);
        return live_next_section(l, f);
    }
    rc = tltcp_live_link_run(l->link, &socket, when);
    if (rc == 1) {
        rc = tltcp__live_input_start(l, socket);
        return rc < 0 ? rc : NOTHING;
    }
    return rc < 0 ? rc : TLTCP_ERR_AGAIN;
}

int tltcp_live_fds(const tltcp_live *l, int *fds, tltcp_time *when) {
    int n = 0;
    *when = l->in.when;
    if (l->in.socket && !l->in.over) {
        fds[n++] = tltcp_fd(l->in.socket);
    }
    if (l->link) {
        n += tltcp_live_link_fds(l->link, fds + n);
    }
    for (int i = 0; i < n; i++) {
        *when = fds[i] < 0 ? tltcp__live_soon(*when) : *when;
    }
    return n;
}

static void live_wait_input(tltcp_live *l, tltcp_time until) {
    struct pollfd fds[1 + TLTCP_LIVE_FDS] = {
        {.fd = l->wake[0], .events = POLLIN}};
    int fd[TLTCP_LIVE_FDS];
    tltcp_time when;
    nfds_t n = 1;
    for (int i = tltcp_live_fds(l, fd, &when); i-- > 0;) {
        fds[n++] = (struct pollfd){.fd = fd[i], .events = POLLIN};
    }
    tltcp__live_poll(fds, n, until);
    tltcp__live_woken(l);
}

static int live_read_next(tltcp_live *l, tltcp_live_frame *f, int timeout_ms) {
    tltcp_time end =
        tltcp_now() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * NS_PER_MS;
    tltcp_time when;
    while (!atomic_load(&l->interrupted)) {
        int rc = live_advance(l, f, &when);
        l->in.when = when;
        if (rc == NOTHING) {
            continue;
        }
        if (rc != TLTCP_ERR_AGAIN) {
            return rc;
        }
        if (timeout_ms >= 0 && tltcp_now() >= end) {
            return TLTCP_ERR_AGAIN;
        }
        live_wait_input(l, timeout_ms >= 0 && end < when ? end : when);
    }
    return TLTCP_ERR_ABORTED;
}

int tltcp_live_read(tltcp_live *l, tltcp_live_frame *f, int timeout_ms) {
    tltcp_live_frame full;
    int rc;
    if (l->direction != TLTCP_LIVE_RECEIVE || !cmn__sized_is_set(f)) {
        return TLTCP_ERR_INVAL;
    }
    tltcp_live_frame_init(&full);
    rc = live_read_next(l, &full, timeout_ms);
    if (rc > 0) {
        cmn__sized_give(f, &full, sizeof(full));
    }
    return rc;
}

ssize_t tltcp_live_read_ts(tltcp_live *l, void *data, size_t len,
                           int timeout_ms) {
    tltcp_live_frame f;
    size_t n;
    if (l->direction != TLTCP_LIVE_RECEIVE || data == NULL || len == 0) {
        return TLTCP_ERR_INVAL;
    }
    tltcp_live_frame_init(&f);
    while (l->in.rest_len == 0) {
        int rc = live_read_next(l, &f, timeout_ms);
        if (rc == TLTCP_LIVE_READ_FORMAT && !l->in.described) {
            return TLTCP_ERR_PROTOCOL;
        }
        if (rc <= 0) {
            return rc;
        }
        if (rc == TLTCP_LIVE_READ_FRAME && f.complete) {
            l->in.rest = f.data;
            l->in.rest_len = f.len;
        }
    }
    n = l->in.rest_len < len ? l->in.rest_len : len;
    memcpy(data, l->in.rest, n);
    l->in.rest += n;
    l->in.rest_len -= n;
    return (ssize_t)n;
}

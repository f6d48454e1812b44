/* SPDX-License-Identifier: MPL-2.0 */
/* A receiver: stores DATA and requests missing data. */
#include "libsaratoga/engine/session.h"

#define QUIET_MAX_DOUBLINGS 5

int saratoga__receiver_keep(saratoga__session *s, const saratoga_partial *p) {
    saratoga__receiver *in = &s->in;
    size_t bytes = p->count * sizeof(saratoga_range);
    saratoga_range *copy = NULL;
    for (size_t i = 0; i < p->count; i++) {
        if (p->ranges[i].start >= p->ranges[i].end ||
            (i > 0 && p->ranges[i].start < p->ranges[i - 1].end)) {
            return SARATOGA_ERR_INVAL;
        }
    }
    if (bytes > 0) {
        copy = cmn__resize(&s->ctx->mem, NULL, bytes);
        if (copy == NULL) {
            return SARATOGA_ERR_NOMEM;
        }
        memcpy(copy, p->ranges, bytes);
    }
    in->partial = *p;
    in->partial.ranges = copy;
    in->has_partial = true;
    return 0;
}

int saratoga__receiver_open(saratoga__session *s, saratoga_time now) {
    saratoga__receiver *in = &s->in;
    cmn__ranges_init(&in->got, &s->ctx->mem, s->opt.max_holes + 1);
    cmn__bytes_init(&in->window, &s->ctx->mem);
    saratoga__sink_init(&in->sink, &s->ctx->queue, s->handle, s->opt.blocks,
                        s->opt.block, s->opt.max_holes);
    in->size = SARATOGA_SIZE_UNKNOWN;
    in->quiet_at = SARATOGA_TIME_NEVER;
    in->linger_until = SARATOGA_TIME_NEVER;
    s->heard = now;
    return 0;
}

void saratoga__receiver_free(saratoga__session *s) {
    saratoga__receiver *in = &s->in;
    if (in->has_partial) {
        cmn__free(&s->ctx->mem, (void *)(uintptr_t)in->partial.ranges);
        in->has_partial = false;
    }
    if (in->got.mem != NULL) {
        cmn__ranges_free(&in->got);
        cmn__bytes_free(&in->window);
        saratoga__sink_free(&in->sink);
        in->got.mem = NULL;
    }
}

/* ---- DATA ---- */

/* The offset in the file or stream. False: out of range. */
static bool receiver_offset(const saratoga__session *s, const saratoga__data *d,
                            uint64_t *at) {
    const saratoga__receiver *in = &s->in;
    uint64_t top = saratoga__highest(s->descriptor);
    *at = d->offset.lo;
    if (d->offset.hi != 0) {
        return false;
    }
    if (s->kind == SARATOGA_STREAM && top != UINT64_MAX) {
        uint64_t ahead = (d->offset.lo - in->highest) & top;
        if (ahead <= top / 2) {
            *at = in->highest + ahead;
        } else {
            uint64_t back = (in->highest - d->offset.lo) & top;
            if (back > in->highest) {
                return false;
            }
            *at = in->highest - back;
        }
    }
    return *at <= UINT64_MAX - d->len &&
           (s->kind == SARATOGA_STREAM || *at + d->len <= top);
}

static uint32_t data_fault(saratoga__session *s, const saratoga__data *d,
                           uint64_t *at) {
    saratoga__receiver *in = &s->in;
    if (!in->has_data && !in->has_metadata) {
        s->kind = d->kind;
        s->descriptor = d->descriptor;
    }
    if (d->kind != s->kind || d->descriptor != s->descriptor) {
        return SARATOGA_FLAGS_CHANGED;
    }
    if (!receiver_offset(s, d, at) ||
        (in->size != SARATOGA_SIZE_UNKNOWN && *at + d->len > in->size)) {
        return SARATOGA_BAD_DESCRIPTOR;
    }
    if (d->eod && in->size != SARATOGA_SIZE_UNKNOWN &&
        *at + d->len < in->size) {
        return SARATOGA_UNSPECIFIED;
    }
    if (d->eod && *at + d->len < in->highest) {
        return SARATOGA_UNSPECIFIED;
    }
    return 0;
}

static bool store_stream(saratoga__session *s, uint64_t at,
                         const uint8_t *bytes, size_t len) {
    saratoga__receiver *in = &s->in;
    if (s->opt.unreliable) {
        return saratoga__sink_put(&in->sink, at, bytes, len);
    }
    /* Reserved once at its final size, while it is empty. */
    if (at + len > in->delivered + s->opt.window ||
        cmn__bytes_reserve(&in->window, in->delivered, in->delivered,
                           in->delivered + s->opt.window) != 0) {
        return false;
    }
    cmn__bytes_put(&in->window, at, bytes, len);
    return true;
}

/* Stores bytes not held yet. False: no room, nothing was stored. */
static bool store(saratoga__session *s, uint64_t start, uint64_t end,
                  const uint8_t *bytes) {
    saratoga__receiver *in = &s->in;
    size_t len = (size_t)(end - start);
    if (!saratoga__sink_has_room(&in->sink, start, len) ||
        cmn__ranges_add(&in->got, start, end, NULL) != 0) {
        return false;
    }
    if (s->kind == SARATOGA_STREAM
            ? store_stream(s, start, bytes, len)
            : saratoga__sink_put(&in->sink, start, bytes, len)) {
        return true;
    }
    (void)cmn__ranges_sub(&in->got, start, end, NULL);
    return false;
}

/* Stores the new parts; the first copy of a byte wins. */
static bool receiver_take(saratoga__session *s, uint64_t at,
                          const saratoga__data *d) {
    saratoga__receiver *in = &s->in;
    uint64_t end = at + d->len;
    uint64_t from = at;
    if (s->kind == SARATOGA_STREAM && from < in->delivered) {
        from = in->delivered < end ? in->delivered : end;
    }
    while (from < end) {
        cmn__range r;
        uint64_t stop = end;
        if (cmn__ranges_next(&in->got, from, &r) && r.start < end) {
            if (r.start <= from) {
                s->st.duplicate_bytes += (r.end < end ? r.end : end) - from;
                from = r.end;
                continue;
            }
            stop = r.start;
        }
        if (!store(s, from, stop, d->bytes + (from - at))) {
            return false;
        }
        from = stop;
    }
    return true;
}

static saratoga__answer_due answer_to(const saratoga__data *d, uint64_t end) {
    saratoga__answer_due a = {.irt = end, .due = true};
    if (d->timestamp != NULL) {
        a.has_timestamp = true;
        memcpy(a.timestamp, d->timestamp, sizeof(a.timestamp));
    }
    return a;
}

static void note_asked(saratoga__session *s, const saratoga__data *d,
                       uint64_t end, saratoga_time now) {
    saratoga__receiver *in = &s->in;
    saratoga__answer_due a = answer_to(d, end);
    if (d->asks) {
        in->spacing = in->ask_seen > 0 ? now - in->ask_seen : 0;
        in->ask_seen = now;
        /* Within a batch, answer the highest request: it reports most. */
        if (!in->asked.due || a.irt >= in->asked.irt) {
            in->asked = a;
        }
    }
    if (end >= in->highest) {
        in->highest_echo = a;
    }
}

static void first_data(saratoga__session *s) {
    s->in.has_data = true;
    if (!s->in.reported_first) {
        s->in.reported_first = true;
        s->in.volunteer = true;
    }
}

/* Late DATA of a finished transfer. */
static void on_late_data(saratoga__session *s, const saratoga__data *d) {
    s->in.volunteer |= s->in.complete || d->asks;
    s->in.highest_echo = answer_to(d, s->in.size);
}

/* Without METADATA the size is unknown; only a bounded prefix is kept. */
static bool is_too_early(const saratoga__session *s, uint64_t end) {
    return s->kind != SARATOGA_STREAM && end > s->opt.early;
}

/* Whether DATA deserve a prompt STATUS. A steady flow from a sender that
 * requests STATUS does not: answers may be queued on a thin uplink. */
static bool is_worth_reporting(const saratoga__session *s,
                               const saratoga__data *d, saratoga_time now) {
    const saratoga__receiver *in = &s->in;
    return d->asks || in->spacing == 0 || s->opt.multicast ||
           now >= saratoga__later(in->data_at, s->opt.quiet_status);
}

/* A sender that repeats data held before, and asks, does not know of it yet. */
static bool is_news_to_sender(const saratoga__receiver *in,
                              const saratoga__data *d, uint64_t at) {
    cmn__range r;
    return in->resumed > 0 && d->asks && d->len > 0 &&
           cmn__ranges_next(&in->got, at, &r) && r.start <= at &&
           r.end >= at + d->len;
}

static void accept_data(saratoga__session *s, const saratoga__data *d,
                        uint64_t at, saratoga_time now) {
    saratoga__receiver *in = &s->in;
    uint64_t end = at + d->len;
    in->resume_untold |= is_news_to_sender(in, d, at);
    note_asked(s, d, end, now);
    saratoga__receiver_hold_status(s, now);
    if (!in->has_metadata && (in->has_partial || is_too_early(s, end))) {
        in->volunteer |= d->asks;
        return; /* the partial file may be of another version */
    }
    if (receiver_take(s, at, d) && end > in->highest) {
        in->highest = end;
    }
    if (in->quiet_at == SARATOGA_TIME_NEVER ||
        (in->quiet_rounds > 0 && is_worth_reporting(s, d, now))) {
        in->quiet_rounds = 0;
        in->quiet_at = saratoga__later(now, s->opt.quiet_status);
    }
    in->data_at = now;
    if (d->eod) {
        in->eod = true;
        in->size = end;
    }
    saratoga__receiver_advance(s, now);
}

/* An empty packet before all others is an address challenge and does not fix
 * width and kind. */
static bool is_probe(const saratoga__session *s, const saratoga__data *d) {
    return d->len == 0 && d->asks && !d->eod && !s->in.has_data &&
           !s->in.has_metadata;
}

void saratoga__receiver_on_data(saratoga__session *s, const saratoga__data *d,
                                saratoga_time now) {
    uint64_t at = 0;
    uint32_t fault;
    if (s->state == SARATOGA__LINGER || s->in.complete) {
        on_late_data(s, d);
        return;
    }
    fault = data_fault(s, d, &at);
    if (fault != 0) {
        saratoga__session_end(s, SARATOGA_ERR_PROTOCOL, fault, false, true,
                              now);
        return;
    }
    if (is_probe(s, d)) {
        note_asked(s, d, at, now);
        return;
    }
    s->st.data_packets++;
    s->st.data_bytes += d->len;
    s->st.requests_packets += d->asks ? 1 : 0;
    if (!s->in.has_data) {
        first_data(s);
    }
    accept_data(s, d, at, now);
}

/* ---- getting done ---- */

void saratoga__receiver_on_work(saratoga__session *s, saratoga__work_item *work,
                                int64_t result, saratoga_time now) {
    int rv = saratoga__sink_on_done(&s->in.sink, work, result);
    if (rv != 0 && s->state == SARATOGA__OPEN) {
        saratoga__session_fail(s, rv, now);
        return;
    }
    saratoga__receiver_advance(s, now);
}

/* ---- time ---- */

static saratoga_time quiet_interval(const saratoga__session *s) {
    const saratoga__receiver *in = &s->in;
    saratoga_time t = 2 * in->spacing;
    uint32_t n = in->quiet_rounds;
    t = t > s->opt.quiet_status ? t : s->opt.quiet_status;
    n = n < QUIET_MAX_DOUBLINGS ? n : QUIET_MAX_DOUBLINGS;
    return t >= SARATOGA_TIME_NEVER >> n ? SARATOGA_TIME_NEVER : t << n;
}

static void metadata_is_late(saratoga__session *s, saratoga_time now) {
    if (s->type == SARATOGA_BLIND_PUT || s->in.has_partial) {
        saratoga__session_end(s, SARATOGA_ERR_PROTOCOL,
                              SARATOGA_METADATA_REQUIRED, false, true, now);
        return;
    }
    s->in.unverifiable = true;
    saratoga__receiver_advance(s, now);
}

static saratoga_time metadata_limit(const saratoga__session *s) {
    const saratoga__receiver *in = &s->in;
    if (!in->whole || in->has_metadata || in->unverifiable) {
        return SARATOGA_TIME_NEVER;
    }
    return saratoga__later(in->whole_at, s->opt.metadata_wait);
}

void saratoga__receiver_on_timeout(saratoga__session *s, saratoga_time now) {
    saratoga__receiver *in = &s->in;
    if (s->state == SARATOGA__LINGER) {
        if (now >= in->linger_until) {
            s->state = SARATOGA__OVER;
        }
        return;
    }
    if (now >= metadata_limit(s)) {
        metadata_is_late(s, now);
        return;
    }
    if (now >= in->quiet_at) {
        in->quiet_rounds += in->volunteer || in->asked.due ? 0 : 1;
        in->volunteer = true;
        saratoga__receiver_hold_status(s, now);
        in->quiet_at = saratoga__later(now, quiet_interval(s));
    }
    /* Retries writes that failed for lack of memory, for example. */
    saratoga__receiver_advance(s, now);
}

saratoga_time saratoga__receiver_wake(const saratoga__session *s,
                                      saratoga_time now) {
    const saratoga__receiver *in = &s->in;
    saratoga_time at = saratoga__sooner(in->quiet_at, metadata_limit(s));
    if (s->state == SARATOGA__LINGER) {
        return in->linger_until;
    }
    if (in->volunteer || in->asked.due) {
        if (in->hold_until > now) {
            at = saratoga__sooner(at, in->hold_until);
        }
        if (in->whole && in->patient_until > now) {
            at = saratoga__sooner(at, in->patient_until);
        }
    }
    return at;
}

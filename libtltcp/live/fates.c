/* SPDX-License-Identifier: MPL-2.0 */
/* Counts the fates of a connection's sections. */
#include "libtltcp/live/fates.h"

#include <stdlib.h>

#include "internal/media/stream/chain.h"

#define CAPACITY_MIN 1024

struct live_sent tltcp__live_sent_of(const tltcp_live_section *s) {
    const media_header *h = &s->header;
    return (struct live_sent){
        .open = true,
        .is_frame = s->is_frame,
        .stream = h->stream,
        .frame_class = s->timed.frame.frame_class,
        .sent_class = (uint8_t)media__chain_class(&s->timed.frame),
        .wire_class = h->frame_class,
        .picture = h->kind == MEDIA_KIND_FRAME ? h->picture : 0,
        .number = h->number,
        .length = h->length,
        .bytes = s->len,
        .tag = s->timed.tag,
        .pts = h->pts,
        .dts = h->dts,
        .deadline = s->timed.deadline,
        .clock = s->clock};
}

enum tltcp_live_kind tltcp__live_kind(const struct live_sent *s) {
    if (s->wire_class == MEDIA_CLASS_AUDIO) {
        return TLTCP_LIVE_KIND_AUDIO;
    }
    switch (s->picture) {
    case MEDIA_PICTURE_I:
        return TLTCP_LIVE_KIND_I;
    case MEDIA_PICTURE_P:
        return TLTCP_LIVE_KIND_P;
    case MEDIA_PICTURE_B:
        return TLTCP_LIVE_KIND_B;
    default:
        return TLTCP_LIVE_KIND_OTHER;
    }
}

static struct live_sent *live_sent_at(const struct live_fates *f, uint64_t n) {
    return &f->sent[n & (f->capacity - 1)];
}

static bool live_fates_grow(struct live_fates *f) {
    size_t capacity = f->capacity ? f->capacity * 2 : CAPACITY_MIN;
    struct live_sent *sent = calloc(capacity, sizeof(*sent));
    if (sent == NULL) {
        return false;
    }
    for (uint64_t n = f->first; n < f->next; n++) {
        sent[n & (capacity - 1)] = *live_sent_at(f, n);
    }
    free(f->sent);
    f->sent = sent;
    f->capacity = capacity;
    return true;
}

/* The counters of a section. */
struct live_counters {
    tltcp_live_count *count[3];
    unsigned n;
};

static struct live_counters live_counters_of(struct live_fates *f,
                                             const struct live_sent *s) {
    tltcp_live_stats *st = &f->stats;
    struct live_counters c = {
        {&st->sections, &st->classes[s->frame_class], NULL}, 2};
    if (s->is_frame) {
        c.count[c.n++] = &st->kinds[tltcp__live_kind(s)];
    }
    return c;
}

static void live_fates_offer(struct live_fates *f, const struct live_sent *s) {
    struct live_counters c = live_counters_of(f, s);
    for (unsigned i = 0; i < c.n; i++) {
        c.count[i]->offered++;
    }
    f->stats.bytes_offered += s->bytes;
}

static void live_count_fate(tltcp_live_count *c, uint32_t fate) {
    switch (fate) {
    case TLTCP_FATE_DELIVERED:
        c->delivered++;
        break;
    case TLTCP_FATE_PARTIAL:
        c->partial++;
        break;
    case TLTCP_FATE_EXPIRED:
        c->expired++;
        break;
    case TLTCP_FATE_ABANDONED:
        c->abandoned++;
        break;
    default:
        c->dropped++;
        break;
    }
}

static void live_fates_count(struct live_fates *f, const struct live_sent *s,
                             uint32_t fate, unsigned cause) {
    struct live_counters c = live_counters_of(f, s);
    for (unsigned i = 0; i < c.n; i++) {
        live_count_fate(c.count[i], fate);
    }
    if (s->is_frame && (fate == TLTCP_FATE_UNSENT || fate == 0)) {
        f->stats.dropped[cause]++;
    }
}

bool tltcp__live_fates_reserve(struct live_fates *f) {
    return f->next - f->first < f->capacity || live_fates_grow(f);
}

bool tltcp__live_fates_add(struct live_fates *f, const struct live_sent *sent) {
    if (!tltcp__live_fates_reserve(f)) {
        return false;
    }
    *live_sent_at(f, f->next) = *sent;
    live_sent_at(f, f->next)->section = f->next;
    f->next++;
    f->open++;
    live_fates_offer(f, sent);
    return true;
}

void tltcp__live_fates_drop(struct live_fates *f, const struct live_sent *sent,
                            unsigned cause) {
    live_fates_offer(f, sent);
    live_fates_count(f, sent, 0, cause);
    f->stats.bytes_dropped += sent->bytes;
}

bool tltcp__live_fates_settle(struct live_fates *f, uint64_t number,
                              uint32_t fate, unsigned cause,
                              struct live_sent *sent) {
    struct live_sent *s;
    s = f->capacity ? live_sent_at(f, number) : NULL;
    if (s == NULL || !s->open || s->section != number) {
        return false;
    }
    *sent = *s;
    s->open = false;
    f->open--;
    live_fates_count(f, sent, fate, cause);
    while (f->first < f->next && !live_sent_at(f, f->first)->open) {
        f->first++;
    }
    return true;
}

bool tltcp__live_fates_is_stub(const struct live_fates *f, uint64_t number) {
    const struct live_sent *s = f->capacity ? live_sent_at(f, number) : NULL;
    return s && s->open && s->section == number && s->is_stub;
}

void tltcp__live_fates_clear(struct live_fates *f) {
    for (uint64_t n = f->first; n < f->next; n++) {
        if (live_sent_at(f, n)->open) {
            tltcp_live_section_unref(live_sent_at(f, n)->clock);
        }
    }
    free(f->sent);
    f->sent = NULL;
    f->capacity = 0;
    f->first = f->next;
}

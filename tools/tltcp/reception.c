/* SPDX-License-Identifier: MPL-2.0 */
/* Sections of one caller: counted, and written to a file. */
#include "tools/tltcp/reception.h"

#include <inttypes.h>
#include <string.h>

static unsigned kind_of(const media_header *h) {
    static const unsigned kinds[] = {TLTCP_LIVE_KIND_OTHER, TLTCP_LIVE_KIND_I,
                                     TLTCP_LIVE_KIND_P, TLTCP_LIVE_KIND_B};
    return h->frame_class == MEDIA_CLASS_AUDIO ? TLTCP_LIVE_KIND_AUDIO
           : h->picture < MEDIA_PICTURE_COUNT  ? kinds[h->picture]
                                               : TLTCP_LIVE_KIND_OTHER;
}

void reception_init(struct reception *r, const struct reception_wishes *wishes,
                    struct reception_totals *totals, struct mux *mux) {
    memset(r, 0, sizeof(*r));
    r->wishes = wishes;
    r->totals = totals;
    r->mux = mux;
    r->latency = wishes->latency < 0 ? 0 : wishes->latency;
    media__timemap_init(&r->map);
    for (int i = 0; i < MUX_STREAMS_MAX; i++) {
        media__reftrack_init(&r->track[i]);
    }
}

static void stamp(struct reception *r, uint64_t now) {
    r->totals->first = r->totals->first ? r->totals->first : now;
    r->totals->last = now;
}

static void fail(struct reception *r) {
    char ignored[MUX_WHY_MAX];
    r->failed = true;
    (void)mux_close(r->mux, ignored);
    r->mux = NULL;
}

static void on_config(struct reception *r, const media_header *h,
                      const uint8_t *payload) {
    media_config c;
    if (media__config_parse(&c, payload, h->length) != MEDIA_OK) {
        r->totals->foreign++;
        return;
    }
    if (r->wishes->latency < 0) {
        r->latency = (int64_t)c.latency_ms * 1000000;
    }
    if (r->mux && !mux_describe(r->mux, h->stream, &c, r->why)) {
        fail(r);
    }
}

/* How long before its deadline the frame arrived, ns. */
static int64_t margin_of(struct reception *r, const media_header *h,
                         uint64_t now) {
    int64_t shown = h->pts != MEDIA_TIME_NONE ? h->pts : h->dts;
    int64_t sent = h->dts != MEDIA_TIME_NONE ? h->dts : h->pts;
    if (sent == MEDIA_TIME_NONE) {
        return 0;
    }
    r->media_time = sent;
    (void)media__timemap_arrival(&r->map, sent, (int64_t)now);
    return media__timemap_local(&r->map, shown) + r->latency - (int64_t)now;
}

static void csv_line(const struct reception *r, const media_header *h,
                     const char *state, int64_t margin, uint64_t now) {
    if (!r->wishes->csv) {
        return;
    }
    (void)fprintf(
        r->wishes->csv,
        "%" PRIu64 ",%u,%" PRIu32 ",%s,%s,%" PRIu32 ",%.3f,%.3f,%.3f,%s,%.3f\n",
        r->totals->callers, h->stream, h->number,
        tltcp_live_kind_name(kind_of(h)), media__class_name(h->frame_class),
        h->length, (double)h->pts / 1e6, (double)h->dts / 1e6,
        (double)(now - r->totals->first) / 1e6, state, (double)margin / 1e6);
}

static media_reftrack *track_of(struct reception *r, const media_header *h) {
    return &r->track[h->stream % MUX_STREAMS_MAX];
}

static void on_frame(struct reception *r, const media_header *h,
                     const media_section *section, size_t payload,
                     uint64_t now) {
    struct reception_count *c = &r->totals->kind[kind_of(h)];
    int64_t margin = margin_of(r, h, now);
    bool decodable = media__reftrack_frame(track_of(r, h), h, true) &&
                     media__arrivals_has_parent(&r->arrivals, section->number,
                                                section->meta.depends);
    bool helps = track_of(r, h)->recovering > 0; /* it helps later frames */
    media__arrivals_note(&r->arrivals, section->number, decodable);
    c->received++;
    if (decodable) {
        c->decodable++;
        c->on_time += margin >= 0;
        c->late += margin < 0;
    }
    csv_line(r, h, decodable ? "decodable" : "undecodable", margin, now);
    if (r->mux && (decodable || helps || r->wishes->keep_broken) &&
        !mux_write(r->mux, h, section->data + payload, r->why)) {
        fail(r);
    }
}

static void on_end(struct reception *r, const media_header *h) {
    r->ended = true;
    if (r->mux) {
        mux_end(r->mux, h->stream);
    }
}

void reception_section(struct reception *r, const media_section *section,
                       uint64_t now) {
    media_header h;
    size_t payload;
    stamp(r, now);
    r->totals->bytes += section->len;
    if (media__section_parse(&h, section->data, section->len, &payload) !=
        MEDIA_OK) {
        r->totals->foreign++;
        return;
    }
    switch (h.kind) {
    case MEDIA_KIND_CONFIG:
        on_config(r, &h, section->data + payload);
        break;
    case MEDIA_KIND_FRAME:
        on_frame(r, &h, section, payload, now);
        break;
    default:
        if (h.picture == MEDIA_EVENT_EOS) {
            on_end(r, &h);
        }
        break;
    }
}

void reception_cut(struct reception *r, const media_section *section,
                   uint64_t now) {
    media_header h;
    size_t payload;
    if (section->len == 0 ||
        media__header_parse(&h, section->data, section->len, &payload) !=
            MEDIA_OK ||
        h.kind != MEDIA_KIND_FRAME) {
        return;
    }
    r->totals->kind[kind_of(&h)].cut++;
    (void)media__reftrack_frame(track_of(r, &h), &h, false);
    media__arrivals_note(&r->arrivals, section->number, false);
    csv_line(r, &h, "cut", 0, now);
}

bool reception_end(struct reception *r) {
    bool ok = !r->failed;
    if (r->mux) {
        r->missing = mux_missing(r->mux);
        ok = mux_close(r->mux, r->why) && ok;
        r->mux = NULL;
    }
    return ok;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Tracks which pictures of a transport stream can be decoded. */
#include "internal/media/stream/tstrack.h"

#include "internal/media/stream/ts.h"

static bool is_needed(const media_header *h) {
    return h->frame_class == MEDIA_CLASS_KEY ||
           (h->frame_class == MEDIA_CLASS_REFERENCE &&
            !(h->flags & MEDIA_FLAG_BRANCH));
}

static unsigned counter_of(const uint8_t *packet) {
    return packet[3] & 0x0f;
}

static unsigned pid_of(const uint8_t *packet) {
    return (packet[1] & 0x1fu) << 8 | packet[2];
}

/* Decreasing numbers mean that the sender restarted. */
static void count_missing(media_tstrack *t, const media_header *h) {
    uint32_t missing = h->number - t->next;
    uint32_t refs = h->refs - t->refs;

    if (t->started && (missing > INT32_MAX || refs > missing)) {
        t->lost_refs++;
    } else if (t->started) {
        t->lost += missing;
        t->lost_refs += refs;
    }
    t->started = true;
    t->next = h->number + 1;
    t->refs = h->refs + is_needed(h);
}

static media_tstrack_pid *tstrack_find(media_tstrack *t, unsigned pid) {
    media_tstrack_pid *p = t->pids;

    while (p < t->pids + t->count && p->pid != pid) {
        p++;
    }
    if (p == t->pids + t->count && t->count < MEDIA_TSTRACK_PIDS) {
        t->count++;
        *p = (media_tstrack_pid){.pid = (uint16_t)pid,
                                 .lost_refs = t->lost_refs};
        media__reftrack_init(&p->track);
    }
    return p < t->pids + t->count ? p : NULL;
}

/* Whether a reference picture is missing since the last picture. */
static bool lost_some(const media_tstrack *t, const media_tstrack_pid *p,
                      bool follows) {
    return p->track.started && t->lost_refs != p->lost_refs &&
           (t->videos == 1 || !follows);
}

static bool tstrack_step(media_tstrack *t, media_tstrack_pid *p,
                         const media_header *h, const uint8_t *data,
                         bool intact) {
    bool follows = counter_of(data) == ((p->counter + 1u) & 0x0f);
    bool starts = data[1] & 0x40;
    bool lost = lost_some(t, p, follows);
    media_header own = *h;

    if (!p->pictures) {
        p->pictures = true;
        t->videos++;
    }
    if (!starts && own.frame_class == MEDIA_CLASS_KEY) {
        own.frame_class = MEDIA_CLASS_REFERENCE; /* continues a reference */
    }
    p->lost_refs = t->lost_refs;
    own.number = p->track.next + lost;
    own.refs = p->track.refs + lost;
    bool ok =
        media__reftrack_frame(&p->track, &own, intact && (starts || follows));
    t->recovering = p->track.recovering > 0;
    return ok;
}

bool media__tstrack_frame(media_tstrack *t, const media_header *h,
                          const uint8_t *data, size_t len, bool intact) {
    media_tstrack_pid *p;
    bool ok = intact;

    if (h->frame_class == MEDIA_CLASS_HEADER || !media__ts_is(data, len)) {
        return intact;
    }
    count_missing(t, h);
    p = tstrack_find(t, pid_of(data));
    if (!p) {
        return intact;
    }
    if (media__is_picture(h->frame_class)) {
        ok = tstrack_step(t, p, h, data, intact);
    }
    p->counter = (uint8_t)counter_of(data + len - len % MEDIA_TS_PACKET -
                                     MEDIA_TS_PACKET);
    return ok;
}

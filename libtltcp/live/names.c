/* SPDX-License-Identifier: MPL-2.0 */
/* Names, and structs of the size that the caller was compiled with. */
#include <string.h>

#include "internal/common/sized.h"
#include "internal/media/stream/drop.h"
#include "libtltcp/live/section.h"

/* The public numbers equal those on the wire and in the engine. */
_Static_assert((int)TLTCP_LIVE_KEY == (int)MEDIA_FLAG_KEY &&
                   (int)TLTCP_LIVE_DECODE_ONLY == (int)MEDIA_FLAG_DECODE_ONLY &&
                   (int)TLTCP_LIVE_CLOSED == (int)MEDIA_FLAG_CLOSED,
               "flags");
_Static_assert((int)TLTCP_LIVE_DATA == (int)MEDIA_TYPE_DATA &&
                   (int)TLTCP_LIVE_UNITS == (int)MEDIA_FORM_UNITS &&
                   (int)TLTCP_LIVE_PICTURE_B == (int)MEDIA_PICTURE_B,
               "types");
_Static_assert((int)TLTCP_LIVE_CAUSE_OVERFLOW == (int)MEDIA_DROP_OVERFLOW &&
                   (int)TLTCP_LIVE_CAUSE_COUNT == (int)MEDIA_DROP_REASONS &&
                   (int)TLTCP_LIVE_DEADLINE_NONE == (int)MEDIA_DEADLINE_NONE &&
                   (int)TLTCP_LIVE_MARK_TAGS == (int)MEDIA_EVENT_TAGS,
               "causes, modes, events");
_Static_assert((int)TL_CLASS_LAST + 1 == (int)MEDIA_CLASS_COUNT &&
                   (int)TL_CLASS_AUDIO == (int)MEDIA_CLASS_AUDIO,
               "classes");
#if TLTCP_LIVE_TIME_NONE != MEDIA_TIME_NONE
#error "times"
#endif

/* Padding at the end would hide that a member was added there. */
_Static_assert(
    sizeof(tltcp_live_format) ==
            offsetof(tltcp_live_format, streams) + sizeof(uint32_t) &&
        sizeof(tltcp_live_frame) ==
            offsetof(tltcp_live_frame, arrived) + sizeof(tltcp_time) &&
        sizeof(tltcp_live_stats) ==
            offsetof(tltcp_live_stats, queued_bytes) + sizeof(uint64_t),
    "padding");

void tltcp_live_format_init_sized(tltcp_live_format *f, size_t size) {
    memset(f, 0, size);
    f->struct_size = size;
}

void tltcp_live_frame_init_sized(tltcp_live_frame *f, size_t size) {
    memset(f, 0, size);
    f->struct_size = size;
    f->pts = f->dts = f->duration = TLTCP_LIVE_TIME_NONE;
}

/* A field in tail padding would not change the size, and struct_size could no
 * longer distinguish old callers from new ones. */
_Static_assert(sizeof(tltcp_live_event) ==
                   offsetof(tltcp_live_event, reserved) +
                       sizeof(((tltcp_live_event *)0)->reserved),
               "tail padding in tltcp_live_event");

void tltcp_live_event_init_sized(tltcp_live_event *ev, size_t size) {
    memset(ev, 0, size);
    ev->struct_size = size;
}

void tltcp_live_stats_init_sized(tltcp_live_stats *s, size_t size) {
    memset(s, 0, size);
    s->struct_size = size;
}

const char *tltcp_live_cause_name(unsigned cause) {
    return media__drop_name((int)cause);
}

const char *tltcp_live_kind_name(unsigned kind) {
    static const char *const names[TLTCP_LIVE_KIND_COUNT] = {"I", "P", "B",
                                                             "audio", "other"};
    return names[kind < TLTCP_LIVE_KIND_COUNT ? kind : TLTCP_LIVE_KIND_OTHER];
}

static void live_count_add(tltcp_live_count *to, const tltcp_live_count *c) {
    to->offered += c->offered;
    to->delivered += c->delivered;
    to->partial += c->partial;
    to->expired += c->expired;
    to->dropped += c->dropped;
    to->abandoned += c->abandoned;
}

static void live_stats_add(tltcp_live_stats *to, const tltcp_live_stats *s) {
    live_count_add(&to->sections, &s->sections);
    for (size_t i = 0; i <= TL_CLASS_LAST; i++) {
        live_count_add(&to->classes[i], &s->classes[i]);
    }
    for (size_t i = 0; i < TLTCP_LIVE_KIND_COUNT; i++) {
        live_count_add(&to->kinds[i], &s->kinds[i]);
    }
    for (size_t i = 0; i < TLTCP_LIVE_CAUSE_COUNT; i++) {
        to->dropped[i] += s->dropped[i];
    }
    to->bytes_offered += s->bytes_offered;
    to->bytes_dropped += s->bytes_dropped;
    to->keys_wanted += s->keys_wanted;
    to->sections_complete += s->sections_complete;
    to->sections_cut += s->sections_cut;
    to->bytes_received += s->bytes_received;
    to->gaps += s->gaps;
    to->gap_bytes += s->gap_bytes;
    to->queued_sections += s->queued_sections;
    to->queued_bytes += s->queued_bytes;
}

void tltcp__live_stats_add(tltcp_live_stats *to, const tltcp_live_stats *s) {
    tltcp_live_stats sum;
    if (!cmn__sized_is_set(to)) {
        return;
    }
    tltcp_live_stats_init(&sum);
    cmn__sized_take(&sum, sizeof(sum), to);
    live_stats_add(&sum, s);
    cmn__sized_give(to, &sum, sizeof(sum));
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Reference-counted sections. */
#include "libtltcp/live/section.h"

#include <stdlib.h>
#include <string.h>

tltcp_live_section *tltcp__live_section_new(const media_header *h, bool framed,
                                            size_t bytes, uint8_t **payload) {
    size_t head = framed ? MEDIA_HEADER_LEN : 0;
    tltcp_live_section *s = malloc(sizeof(*s) + head + bytes);
    if (s == NULL || bytes > UINT32_MAX) {
        free(s);
        return NULL;
    }
    memset(s, 0, sizeof(*s));
    atomic_init(&s->references, 1);
    s->is_frame = h->kind == MEDIA_KIND_FRAME;
    s->header = *h;
    s->header.length = (uint32_t)bytes;
    s->len = head + bytes;
    s->timed.frame.frame_class = MEDIA_CLASS_HEADER;
    s->timed.frame.tsn = -1;
    s->timed.bytes = s->len;
    s->timed.due = s->timed.deadline = MEDIA_NEVER;
    if (framed) {
        media__header_write(&s->header, s->data);
    }
    *payload = s->data + head;
    return s;
}

tltcp_live_section *tltcp_live_section_ref(tltcp_live_section *s) {
    (void)atomic_fetch_add_explicit(&s->references, 1, memory_order_relaxed);
    return s;
}

void tltcp_live_section_unref(tltcp_live_section *s) {
    if (s && atomic_fetch_sub_explicit(&s->references, 1,
                                       memory_order_acq_rel) == 1) {
        tltcp_live_section_unref(s->begin);
        tltcp_live_section_unref(s->clock);
        free(s);
    }
}

size_t tltcp_live_section_bytes(const tltcp_live_section *s) {
    return s->len;
}

unsigned tltcp_live_section_class(const tltcp_live_section *s) {
    return s->timed.frame.frame_class;
}

static tltcp_time section_time(int64_t t) {
    return t == MEDIA_NEVER ? TLTCP_TIME_NEVER : t > 0 ? (tltcp_time)t : 0;
}

tltcp_time tltcp_live_section_deadline(const tltcp_live_section *s) {
    return section_time(s->timed.deadline);
}

tltcp_time tltcp_live_section_due(const tltcp_live_section *s) {
    return section_time(s->timed.due);
}

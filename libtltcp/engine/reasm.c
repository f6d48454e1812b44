/* SPDX-License-Identifier: MPL-2.0 */
/* Reassembles the stream from packets, into data and gaps. */
#include "libtltcp/engine/reasm.h"

#include <assert.h>

/* Bytes of an incomplete section that are worth waking a reader. */
#define MUCH ((size_t)65536)
#define KEEP_MAX ((size_t)256 << 10) /* more than a FEC block */
#define HOLES_MAX 16384u /* further packets are dropped as if lost */
/* How far beyond the window a sender may expire: its largest send buffer. */
#define UPDATE_MAX (UINT64_C(1) << 30)
#define RECORDS_PER_PAGE 8u

void tltcp__reasm_init(tltcp__reasm *r, const cmn__mem *mem, size_t limit,
                       uint32_t max_sections, bool unordered,
                       tltcp__counters *stats) {
    *r = (tltcp__reasm){.limit = limit,
                        .max_sections = max_sections,
                        .granted_seq = limit, /* by PARAMS */
                        .granted_section = max_sections,
                        .unordered = unordered,
                        .boundary = true,
                        .stats = stats};
    cmn__pages_init(&r->recs.pages, mem,
                    RECORDS_PER_PAGE * sizeof(tltcp__incoming), true);
    cmn__ring_init(&r->ready, mem, sizeof(uint64_t), 0);
    cmn__pages_init(&r->buf, mem, CMN__PAGE_BYTES, false);
    cmn__ranges_init(&r->got, mem, UINT32_MAX);
    cmn__ranges_init(&r->have, mem, UINT32_MAX);
}

void tltcp__reasm_free(tltcp__reasm *r) {
    cmn__pages_free(&r->recs.pages);
    cmn__ring_free(&r->ready);
    cmn__pages_free(&r->buf);
    tltcp__lent_free(r->lent);
    cmn__ranges_free(&r->got);
    cmn__ranges_free(&r->have);
}

tltcp__incoming *tltcp__reasm_rec(const tltcp__reasm *r, uint64_t section) {
    tltcp__incoming *page =
        section < r->recs.tail
            ? cmn__pages_at(&r->recs.pages, section / RECORDS_PER_PAGE)
            : NULL;
    return page != NULL ? &page[section % RECORDS_PER_PAGE] : NULL;
}

/* The same, created when needed, for a section at or after the one at
 * cursor. */
static tltcp__incoming *reasm_record(tltcp__reasm *r, uint64_t section) {
    uint64_t n = section / RECORDS_PER_PAGE;
    tltcp__incoming *page = cmn__pages_at(&r->recs.pages, n);
    if (page == NULL) {
        page = cmn__pages_take(&r->recs.pages, n);
    }
    if (page == NULL) {
        return NULL;
    }
    if (r->recs.tail <= section) {
        r->recs.tail = section + 1;
    }
    return &page[section % RECORDS_PER_PAGE];
}

/* Removes the records of sections before this one. */
static void reasm_pass_records(tltcp__reasm *r, uint64_t section) {
    r->recs.head = section;
    r->recs.tail = r->recs.tail > section ? r->recs.tail : section;
    cmn__pages_drop(&r->recs.pages, section / RECORDS_PER_PAGE);
}

static bool in_window(const tltcp__reasm *r, uint64_t section) {
    return section >= r->recs.head && section < r->recs.head + r->max_sections;
}

/* Whether data at start would add a range beyond the limit. */
static bool too_many_holes(const tltcp__reasm *r, uint64_t start) {
    return (start > r->cum && r->have.count >= HOLES_MAX) ||
           r->got.count >= 2 * HOLES_MAX;
}

/* Notes [start, end) as received or skipped and moves cum. */
static int account(tltcp__reasm *r, uint64_t start, uint64_t end) {
    cmn__range first;
    if (end <= r->cum) {
        return 0;
    }
    if (start <= r->cum) {
        r->cum = end;
        if (r->have.count == 0) {
            return 0;
        }
    } else if (cmn__ranges_add(&r->have, start, end, NULL) != 0) {
        return TLTCP_ERR_NOMEM;
    }
    if (cmn__ranges_next(&r->have, r->cum, &first) && first.start <= r->cum) {
        r->cum = first.end;
    }
    (void)cmn__ranges_sub(&r->have, 0, r->cum, NULL);
    return 0;
}

/* Records that `section` begins at seq, if that is useful. */
static int note_start(tltcp__reasm *r, uint64_t seq, uint64_t section) {
    tltcp__incoming *in;
    if (!in_window(r, section) || seq < r->cursor) {
        return 0;
    }
    in = reasm_record(r, section);
    if (in == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    if (in->start_known && in->start != seq) {
        return TLTCP_ERR_PROTOCOL;
    }
    in->start = seq;
    in->start_known = true;
    return 0;
}

static bool reasm_whole(const tltcp__reasm *r, const tltcp__incoming *in) {
    cmn__range x;
    return in->start_known && in->end_known && in->got == in->end - in->start &&
           cmn__ranges_next(&r->got, in->start, &x) && x.start <= in->start &&
           x.end >= in->end;
}

static int queue_if_whole(tltcp__reasm *r, uint64_t section) {
    tltcp__incoming *in = tltcp__reasm_rec(r, section);
    uint64_t *slot;
    if (!r->unordered || in->queued || !reasm_whole(r, in)) {
        return 0;
    }
    slot = cmn__ring_push(&r->ready);
    if (slot == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    *slot = section;
    in->queued = true;
    return 0;
}

static bool consistent(const tltcp__incoming *in, uint64_t seq, uint64_t end,
                       unsigned flags) {
    bool starts = (flags & TLTCP__DATA_START) != 0;
    bool ends = (flags & TLTCP__DATA_END) != 0;
    return !(in->start_known &&
             (seq < in->start || (starts && seq != in->start))) &&
           !(in->end_known && (end > in->end || (ends && end != in->end))) &&
           !(in->got > 0 &&
             ((starts && in->low < seq) || (ends && in->high > end)));
}

static void note_bounds(tltcp__incoming *in, uint64_t seq, uint64_t end,
                        unsigned flags) {
    if ((flags & TLTCP__DATA_START) != 0) {
        in->start = seq;
        in->start_known = true;
    }
    if ((flags & TLTCP__DATA_END) != 0) {
        in->end = end;
        in->end_known = true;
    }
    if (in->got == 0 || seq < in->low) {
        in->low = seq;
    }
    if (in->got == 0 || end > in->high) {
        in->high = end;
    }
}

/* Checks that data lies within the window and before the end. */
static int reasm_admit(const tltcp__reasm *r, uint64_t seq, uint64_t end,
                       uint64_t section) {
    if (end > r->cursor + r->limit ||
        section >= r->recs.head + r->max_sections) {
        return TLTCP_ERR_FLOW;
    }
    if (section < r->recs.head ||
        (r->has_final && (end > r->final || section >= r->final_section))) {
        return TLTCP_ERR_PROTOCOL;
    }
    return too_many_holes(r, seq) ? TLTCP_ERR_LIMIT : 0;
}

static int store(tltcp__reasm *r, uint64_t seq, const uint8_t *data,
                 uint64_t end, uint64_t *added) {
    uint64_t start = seq > r->cursor ? seq : r->cursor;
    if (cmn__pages_reserve(&r->buf, start, end) != 0 ||
        cmn__ranges_add(&r->got, start, end, added) != 0) {
        return TLTCP_ERR_NOMEM;
    }
    cmn__pages_put(&r->buf, start, data + (start - seq), (size_t)(end - start));
    r->top = end > r->top ? end : r->top;
    return account(r, start, end);
}

int tltcp__reasm_on_data(tltcp__reasm *r, uint64_t seq, const void *data,
                         size_t len, uint64_t section, unsigned flags) {
    uint64_t end = seq + len;
    uint64_t added = 0;
    tltcp__incoming *in;
    int rv;
    if (end <= r->cursor) {
        return 0; /* already read or skipped */
    }
    rv = reasm_admit(r, seq, end, section);
    if (rv != 0) {
        return rv;
    }
    in = reasm_record(r, section);
    if (in == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    if (!consistent(in, seq, end, flags)) {
        return TLTCP_ERR_PROTOCOL;
    }
    rv = store(r, seq, data, end, &added);
    if (rv != 0) {
        return rv;
    }
    note_bounds(in, seq, end, flags);
    in->got += added;
    r->stats->bytes_received += added;
    return queue_if_whole(r, section);
}

int tltcp__reasm_on_meta(tltcp__reasm *r, uint64_t section,
                         const tltcp__meta *m) {
    tltcp__incoming *in;
    if (m->depends > section) {
        return TLTCP_ERR_PROTOCOL;
    }
    if (!in_window(r, section) || tltcp__meta_flags(m) == 0) {
        return 0;
    }
    in = reasm_record(r, section);
    if (in == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    in->meta = *m;
    return 0;
}

int tltcp__reasm_on_update(tltcp__reasm *r, uint64_t seq, uint64_t section) {
    int rv;
    if (seq <= r->update) {
        return 0;
    }
    if (seq > r->cursor + r->limit + UPDATE_MAX) {
        return TLTCP_ERR_FLOW;
    }
    if (section < r->update_section || (r->has_final && seq > r->final)) {
        return TLTCP_ERR_PROTOCOL;
    }
    rv = account(r, 0, seq);
    if (rv == 0) {
        rv = note_start(r, seq, section);
    }
    if (rv == 0) {
        r->update = seq;
        r->update_section = section;
    }
    return rv;
}

int tltcp__reasm_on_skip(tltcp__reasm *r, uint64_t start, uint64_t end,
                         uint64_t section) {
    int rv;
    if (end <= r->cursor) {
        return 0;
    }
    if (end > r->cursor + r->limit + UPDATE_MAX) {
        return TLTCP_ERR_FLOW;
    }
    if (start >= end || (r->has_final && end > r->final)) {
        return TLTCP_ERR_PROTOCOL;
    }
    if (!in_window(r, section)) {
        return 0; /* no record to number later sections; an UPDATE will
                     follow */
    }
    if (too_many_holes(r, start)) {
        return TLTCP_ERR_LIMIT;
    }
    rv = account(r, start, end);
    return rv != 0 ? rv : note_start(r, end, section);
}

int tltcp__reasm_on_fin(tltcp__reasm *r, uint64_t seq, uint64_t section) {
    if (r->has_final) {
        return seq == r->final && section == r->final_section
                   ? 0
                   : TLTCP_ERR_PROTOCOL;
    }
    if (seq < r->top || seq < r->cum || section < r->recs.head) {
        return TLTCP_ERR_PROTOCOL;
    }
    r->final = seq;
    r->final_section = section;
    r->has_final = true;
    return 0;
}

bool tltcp__reasm_at_end(const tltcp__reasm *r) {
    return r->has_final && r->cursor == r->final;
}

/* The received bytes at cursor, or the gap up to the next data or cum. */
static bool data_at_cursor(const tltcp__reasm *r, cmn__range *x) {
    cmn__range next;
    if (cmn__ranges_next(&r->got, r->cursor, &next) &&
        next.start <= r->cursor) {
        *x = (cmn__range){r->cursor, next.end};
        return true;
    }
    x->start = r->cursor;
    x->end = cmn__ranges_next(&r->got, r->cursor, &next) && next.start < r->cum
                 ? next.start
                 : r->cum;
    return false;
}

/* Whether there is a gap at cursor, or data up to the end of its section or up
 * to a gap. */
static bool section_is_decided(const tltcp__reasm *r) {
    const tltcp__incoming *in = tltcp__reasm_rec(r, r->recs.head);
    cmn__range x;
    return !data_at_cursor(r, &x) || x.end < r->cum ||
           (in != NULL && in->end_known && in->end <= r->cum);
}

/* Whether the data or gap at cursor may be delivered in order. When unordered,
 * data waits until its section is known to be cut. */
static bool in_order_ready(const tltcp__reasm *r) {
    return r->cursor < r->cum && (!r->unordered || section_is_decided(r));
}

bool tltcp__reasm_readable(const tltcp__reasm *r) {
    return cmn__ring_len(&r->ready) > 0 || in_order_ready(r) ||
           tltcp__reasm_at_end(r);
}

bool tltcp__reasm_section_ready(const tltcp__reasm *r) {
    size_t much = r->limit / 4 < MUCH ? r->limit / 4 : MUCH;
    return cmn__ring_len(&r->ready) > 0 || tltcp__reasm_at_end(r) ||
           (r->cursor < r->cum &&
            (section_is_decided(r) ||
             (!r->unordered && r->cum - r->cursor >= much)));
}

void tltcp__reasm_get(const tltcp__reasm *r, uint64_t at, void *data,
                      size_t len) {
    uint8_t *to = data;
    while (len > 0) {
        size_t n = len;
        if (!tltcp__lent_get(r->lent, at, to, &n)) {
            cmn__pages_get(&r->buf, at, to, n);
        }
        at += n;
        to += n;
        len -= n;
    }
}

/* The section at cursor is over. */
static void next_section(tltcp__reasm *r, bool complete) {
    if (complete) {
        r->stats->sections_complete++;
    } else {
        r->stats->sections_cut++;
    }
    reasm_pass_records(r, r->recs.head + 1);
}

/* Never moves back, whatever a peer declares. */
static void move_cursor(tltcp__reasm *r, uint64_t to) {
    r->cursor = to > r->cursor ? to : r->cursor;
    if (r->cursor - r->floor > r->keep) {
        r->floor = r->cursor - r->keep;
    }
    (void)cmn__ranges_sub(&r->got, 0, r->floor, NULL);
    cmn__pages_drop(&r->buf, r->floor / CMN__PAGE_BYTES);
    if (r->lent != NULL) {
        tltcp__lent_drop(r->lent, r->floor);
    }
    assert(r->floor <= r->cursor && r->cursor <= r->cum);
}

/* Skips data delivered out of order. */
static void pass_delivered(tltcp__reasm *r) {
    const tltcp__incoming *in;
    while ((in = tltcp__reasm_rec(r, r->recs.head)) != NULL && in->delivered &&
           in->start <= r->cursor) {
        move_cursor(r, in->end);
        next_section(r, true);
        r->boundary = true;
    }
}

static int64_t reasm_read_data(tltcp__reasm *r, cmn__range x, tltcp_buf *buf,
                               struct tltcp_segment *seg) {
    tltcp__incoming *in = reasm_record(r, r->recs.head);
    bool last;
    if (in == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    if (in->end_known && in->end < x.end && in->end > x.start) {
        x.end = in->end;
    }
    if (x.end - x.start > buf->len) {
        x.end = x.start + buf->len;
    }
    last = in->end_known && in->end == x.end;
    seg->kind = TL_DATA;
    seg->flags =
        (uint32_t)((in->start_known && in->start == x.start ? TL_SECTION_START
                                                            : 0) |
                   (last ? TL_SECTION_END : 0));
    buf->len = (size_t)(x.end - x.start);
    tltcp__reasm_get(r, x.start, buf->base, buf->len);
    move_cursor(r, x.end);
    r->boundary = last;
    if (last) {
        next_section(r, !in->cut && in->start_known);
    }
    return (int64_t)buf->len;
}

/* Removes the sections that a gap up to `to` covers; true when a section begins
 * there. */
static bool swallow(tltcp__reasm *r, uint64_t to) {
    bool numbered = to == r->update;
    while (r->recs.head < r->recs.tail &&
           !(numbered && r->recs.head >= r->update_section)) {
        tltcp__incoming *in = tltcp__reasm_rec(r, r->recs.head);
        if (in != NULL && in->start_known && in->start >= to) {
            return true;
        }
        if (in != NULL && in->got > 0 && in->high > to) {
            in->cut = true; /* the gap ends inside it */
            return false;
        }
        next_section(r, false);
    }
    if (numbered && r->recs.head < r->update_section) {
        /* in one step: a peer may declare any number */
        r->stats->sections_cut += r->update_section - r->recs.head;
        reasm_pass_records(r, r->update_section);
    }
    return numbered;
}

static int64_t read_gap(tltcp__reasm *r, cmn__range x, tltcp_buf *buf,
                        struct tltcp_segment *seg) {
    seg->kind = TL_GAP;
    seg->flags = r->boundary ? TL_SECTION_START : 0;
    buf->len = (size_t)(x.end - x.start);
    move_cursor(r, x.end);
    r->boundary = swallow(r, x.end);
    seg->flags |= r->boundary ? TL_SECTION_END : 0;
    r->stats->gaps++;
    r->stats->gap_bytes += x.end - x.start;
    return (int64_t)buf->len;
}

/* Reads the oldest whole section, or its rest. */
static int64_t read_ready(tltcp__reasm *r, tltcp_buf *buf,
                          struct tltcp_segment *seg) {
    uint64_t section = *(uint64_t *)cmn__ring_at(&r->ready, r->ready.head);
    tltcp__incoming *in = tltcp__reasm_rec(r, section);
    uint64_t start = in->start + r->taken;
    if (buf->len > in->end - start) {
        buf->len = (size_t)(in->end - start);
    }
    seg->kind = TL_DATA;
    seg->seq = start;
    seg->section = section;
    seg->flags = r->taken == 0 ? TL_SECTION_START : 0;
    tltcp__reasm_get(r, start, buf->base, buf->len);
    r->taken += buf->len;
    if (start + buf->len == in->end) {
        seg->flags |= TL_SECTION_END;
        in->delivered = true;
        r->taken = 0;
        cmn__ring_pop(&r->ready);
        pass_delivered(r);
    }
    return (int64_t)buf->len;
}

/* Copies the metadata of a section for the application. */
static void copy_meta(const tltcp__reasm *r, uint64_t section,
                      struct tltcp_meta *meta) {
    const tltcp__incoming *in = tltcp__reasm_rec(r, section);
    *meta = (struct tltcp_meta){0};
    if (in != NULL && tltcp__meta_flags(&in->meta) != 0) {
        const tltcp__meta *m = &in->meta;
        meta->section_class = m->cls <= TL_CLASS_LAST ? m->cls : TL_CLASS_OTHER;
        meta->stream = m->stream;
        meta->depends = m->depends != 0 ? m->depends : TL_DEPENDS_NONE;
        meta->tag = m->tag;
    }
}

int64_t tltcp__reasm_read(tltcp__reasm *r, tltcp_buf *buf,
                          struct tltcp_segment *seg, struct tltcp_meta *meta) {
    cmn__range x;
    int64_t n;
    if (cmn__ring_len(&r->ready) > 0) {
        copy_meta(r, *(uint64_t *)cmn__ring_at(&r->ready, r->ready.head), meta);
        n = read_ready(r, buf, seg);
        r->stats->bytes_read += (uint64_t)n;
        return n;
    }
    if (!in_order_ready(r)) {
        return tltcp__reasm_at_end(r) ? 0 : TLTCP_ERR_AGAIN;
    }
    seg->seq = r->cursor;
    seg->section = r->recs.head;
    copy_meta(r, r->recs.head, meta);
    if (data_at_cursor(r, &x)) {
        n = reasm_read_data(r, x, buf, seg);
        r->stats->bytes_read += n > 0 ? (uint64_t)n : 0;
    } else {
        n = read_gap(r, x, buf, seg);
    }
    pass_delivered(r);
    return n;
}

void tltcp__reasm_window(const tltcp__reasm *r, uint64_t *seq,
                         uint64_t *section) {
    *seq = r->cursor + r->limit;
    *section = r->recs.head + r->max_sections;
}

void tltcp__reasm_on_granted(tltcp__reasm *r) {
    tltcp__reasm_window(r, &r->granted_seq, &r->granted_section);
}

bool tltcp__reasm_window_due(const tltcp__reasm *r) {
    uint64_t seq;
    uint64_t section;
    tltcp__reasm_window(r, &seq, &section);
    return seq - r->granted_seq >= r->limit / 2 ||
           section - r->granted_section >= r->max_sections / 2;
}

void tltcp__reasm_keep(tltcp__reasm *r) {
    size_t share = r->limit / 4;
    r->keep = share < KEEP_MAX ? share : KEEP_MAX;
}

bool tltcp__reasm_needs_memory(const tltcp__reasm *r, uint64_t start,
                               uint64_t end, uint64_t section) {
    uint64_t page = section / RECORDS_PER_PAGE;
    return cmn__pages_need_memory(&r->buf, start / CMN__PAGE_BYTES,
                                  (end - 1) / CMN__PAGE_BYTES) ||
           cmn__pages_need_memory(&r->recs.pages, page, page);
}

size_t tltcp__reasm_held(const tltcp__reasm *r) {
    size_t ranges = (size_t)r->got.count + r->have.count;
    size_t lent = r->lent != NULL ? tltcp__lent_held(r->lent) : 0;
    return r->buf.bytes + lent + r->recs.pages.bytes +
           ranges * sizeof(cmn__range) + (size_t)r->ready.cap * r->ready.elem;
}

void tltcp__reasm_trim(tltcp__reasm *r) {
    if (r->top <= r->cursor) {
        cmn__ranges_clear(&r->got);
        r->floor = r->cursor;
        cmn__pages_free(&r->buf);
        cmn__pages_drop(&r->buf, r->floor / CMN__PAGE_BYTES);
        tltcp__lent_free(r->lent);
        r->lent = NULL;
        if (r->recs.head == r->recs.tail) {
            cmn__pages_free(&r->recs.pages);
            reasm_pass_records(r, r->recs.head);
        }
        cmn__ring_trim(&r->ready);
        cmn__ranges_trim(&r->got);
        cmn__ranges_trim(&r->have);
    }
}

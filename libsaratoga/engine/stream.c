/* SPDX-License-Identifier: MPL-2.0 */
/* saratoga_stream_write() and saratoga_stream_finish(). */
#include "libsaratoga/engine/engine_internal.h"

static bool is_open(const saratoga__session *s) {
    return s->sends && s->kind == SARATOGA_STREAM && s->has_entry &&
           s->state == SARATOGA__OPEN && !s->out.finished;
}

/* Offset of the next byte. */
static uint64_t written(const saratoga__sender *o) {
    cmn__range last;
    uint64_t end = o->next > o->base ? o->next : o->base;
    if (cmn__ranges_prev(&o->todo, UINT64_MAX, &last) && last.end > end) {
        end = last.end;
    }
    return end;
}

int64_t saratoga_stream_write(saratoga_engine *engine, saratoga_handle handle,
                              const void *data, size_t len, saratoga_time now) {
    saratoga__session *s = saratoga__engine_find(engine, handle);
    saratoga__sender *o;
    uint64_t end;
    size_t room;
    if (s == NULL) {
        return SARATOGA_ERR_GONE;
    }
    if (!is_open(s)) {
        return SARATOGA_ERR_STATE;
    }
    if (len == 0) {
        return 0;
    }
    o = &s->out;
    end = written(o);
    room = s->opt.window - (size_t)(end - o->base);
    if (room == 0) {
        o->wants_room = true;
        return SARATOGA_ERR_AGAIN;
    }
    len = len < room ? len : room;
    if (cmn__bytes_reserve(&o->window, o->base, end, end + len) != 0 ||
        cmn__ranges_add(&o->todo, end, end + len, NULL) != 0) {
        return SARATOGA_ERR_NOMEM;
    }
    cmn__bytes_put(&o->window, end, data, len);
    saratoga__engine_touch(engine, s, now);
    return (int64_t)len;
}

int saratoga_stream_finish(saratoga_engine *engine, saratoga_handle handle,
                           saratoga_time now) {
    saratoga__session *s = saratoga__engine_find(engine, handle);
    if (s == NULL) {
        return SARATOGA_ERR_GONE;
    }
    if (!is_open(s)) {
        return SARATOGA_ERR_STATE;
    }
    s->out.finished = true;
    s->out.size = written(&s->out);
    if (s->out.next >= s->out.size) { /* the last byte was sent without EOD */
        s->out.poll_due = true;
    }
    saratoga__engine_touch(engine, s, now);
    return 0;
}

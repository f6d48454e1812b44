/* SPDX-License-Identifier: MPL-2.0 */
/* METADATA at a receiver: resume, comparison, refusal. */
#include "libsaratoga/engine/session.h"

static void take_sum(saratoga__session *s, const saratoga__metadata *m) {
    s->sum_type = m->sum_type;
    s->sum_len = m->sum_len;
    memcpy(s->sum, m->sum, m->sum_len);
}

/* While either checksum is unknown, compare only the types: the whole file will
 * be checked later. */
static bool is_same_sum(const saratoga_partial *p,
                        const saratoga__metadata *m) {
    if (p->checksum == SARATOGA_NONE) {
        return true;
    }
    if (saratoga__sum_follows(m->sum_type, m->sum_len)) {
        return m->sum[m->sum_len - 1] == (p->checksum & 0xF);
    }
    return m->sum_type == (p->checksum & 0xF) &&
           m->sum_len == saratoga_digest_len(p->checksum) &&
           memcmp(m->sum, p->digest, m->sum_len) == 0;
}

static bool is_same_copy(const saratoga__session *s,
                         const saratoga__metadata *m) {
    const saratoga_partial *p = &s->in.partial;
    /* The ctime of a complete local copy differs. */
    return m->entry.size == p->entry.size && m->entry.mtime == p->entry.mtime &&
           (m->entry.ctime == p->entry.ctime || s->opt.update_check) &&
           is_same_sum(p, m);
}

/* Whether METADATA agree about the checksum; one may have announced the
 * other. */
static bool is_sum_kept(const saratoga__session *s,
                        const saratoga__metadata *m) {
    bool had = saratoga__sum_follows(s->sum_type, s->sum_len);
    bool has = saratoga__sum_follows(m->sum_type, m->sum_len);
    if (had && !has) {
        return (m->sum_type == SARATOGA_NONE && !s->ctx->cfg.auth_files) ||
               m->sum_type == s->sum[s->sum_len - 1];
    }
    if (has && !had) { /* reordered on the path */
        return m->sum[m->sum_len - 1] == s->sum_type;
    }
    return s->sum_len == 0 ||
           (m->sum_type == s->sum_type && m->sum_len == s->sum_len &&
            memcmp(m->sum, s->sum, s->sum_len) == 0);
}

static void take_partial(saratoga__session *s, saratoga_time now) {
    saratoga__receiver *in = &s->in;
    const saratoga_partial *p = &in->partial;
    for (size_t i = 0; i < p->count; i++) {
        const saratoga_range *r = &p->ranges[i];
        uint64_t end = r->end < in->size ? r->end : in->size;
        if (r->start < end &&
            (cmn__ranges_add(&in->got, r->start, end, NULL) != 0 ||
             cmn__ranges_add(&in->sink.held, r->start, end, NULL) != 0)) {
            saratoga__session_fail(s, SARATOGA_ERR_NOMEM, now);
            return;
        }
        in->highest = end > in->highest ? end : in->highest;
    }
    in->resumed = in->got.total;
    in->resume_untold = in->resumed > 0;
    in->volunteer = in->resume_untold;
}

static void resume_or_purge(saratoga__session *s, const saratoga__metadata *m,
                            saratoga_time now) {
    saratoga_event ev = {0};
    if (is_same_copy(s, m)) {
        take_partial(s, now);
    } else if (s->in.partial.count > 0) {
        (void)saratoga__sink_truncate(&s->in.sink);
        (void)saratoga__session_event(s, SARATOGA_EVENT_PURGED, &ev);
    }
}

/* Whether the receiver holds a complete copy identical to the sender's. */
static bool is_unchanged(const saratoga__session *s) {
    const saratoga__receiver *in = &s->in;
    return s->opt.update_check && in->resumed > 0 && in->resumed == in->size;
}

static void report_metadata(saratoga__session *s) {
    bool follows = saratoga__sum_follows(s->sum_type, s->sum_len);
    saratoga_event ev = {.has_entry = true,
                         .checksum = follows ? SARATOGA_NONE : s->sum_type,
                         .resumed = s->in.resumed,
                         .entry = s->entry};
    size_t n = s->sum_len < sizeof(ev.digest) ? s->sum_len : sizeof(ev.digest);
    memcpy(ev.digest, s->sum, follows ? 0 : n);
    (void)saratoga__session_event(s, SARATOGA_EVENT_METADATA, &ev);
}

static bool is_keyed(const saratoga__metadata *m) {
    uint32_t type = saratoga__sum_follows(m->sum_type, m->sum_len)
                        ? m->sum[m->sum_len - 1]
                        : m->sum_type;
    return type == SARATOGA_HMAC_SHA256;
}

/* The status code for a protocol violation in METADATA; 0: none.
 */
static uint32_t metadata_fault(const saratoga__session *s,
                               const saratoga__metadata *m) {
    const saratoga__receiver *in = &s->in;
    uint64_t size = m->kind == SARATOGA_STREAM ? UINT64_MAX : m->entry.size;
    if (m->entry.huge || (m->kind != SARATOGA_STREAM &&
                          m->entry.size > saratoga__highest(m->descriptor))) {
        return SARATOGA_BAD_DESCRIPTOR;
    }
    if (m->descriptor > s->opt.max_descriptor) {
        return SARATOGA_TOO_LONG;
    }
    if (s->ctx->cfg.auth_files && !is_keyed(m)) {
        return SARATOGA_DENIED(SARATOGA_DENIED_FILE_KEY);
    }
    if (in->has_data &&
        (m->kind != s->kind || m->descriptor != s->descriptor)) {
        return SARATOGA_FLAGS_CHANGED;
    }
    return in->highest > size ? (uint32_t)SARATOGA_BAD_DESCRIPTOR : 0;
}

static int error_for(uint32_t fault) {
    switch (fault) {
    case SARATOGA_TOO_LONG:
        return SARATOGA_ERR_TOO_LONG;
    case SARATOGA_DENIED(SARATOGA_DENIED_FILE_KEY):
        return SARATOGA_ERR_AUTH;
    default:
        return SARATOGA_ERR_PROTOCOL;
    }
}

static void first_metadata(saratoga__session *s, const saratoga__metadata *m,
                           saratoga_time now) {
    saratoga__receiver *in = &s->in;
    uint32_t fault = metadata_fault(s, m);
    if (fault != 0) {
        saratoga__session_end(s, error_for(fault), fault, false, true, now);
        return;
    }
    in->has_metadata = true;
    s->kind = m->kind;
    s->descriptor = m->descriptor;
    s->entry = m->entry;
    s->has_entry = true;
    take_sum(s, m);
    if (s->kind != SARATOGA_STREAM) {
        in->size = m->entry.size;
    }
    if (in->has_partial && s->kind == SARATOGA_FILE) {
        resume_or_purge(s, m, now);
    }
    report_metadata(s);
    s->unchanged = is_unchanged(s);
}

/* Repeated METADATA must match, except that a checksum may follow and a stream
 * may end. */
static bool is_changed(const saratoga__session *s,
                       const saratoga__metadata *m) {
    return !is_sum_kept(s, m) || m->kind != s->kind ||
           m->descriptor != s->descriptor || m->entry.size != s->entry.size ||
           m->entry.mtime != s->entry.mtime;
}

static void more_metadata(saratoga__session *s, const saratoga__metadata *m,
                          saratoga_time now) {
    if (is_changed(s, m)) {
        saratoga__session_end(s, SARATOGA_ERR_CHANGED, SARATOGA_UNSPECIFIED,
                              false, true, now);
        return;
    }
    if (saratoga__sum_follows(s->sum_type, s->sum_len)) {
        if (!saratoga__sum_follows(m->sum_type, m->sum_len)) {
            take_sum(s, m);
            report_metadata(s);
        }
    } else if (s->sum_len == 0 && m->sum_len != 0 && s->in.sink.digested == 0 &&
               !s->in.whole) {
        take_sum(s, m);
    }
}

void saratoga__receiver_on_metadata(saratoga__session *s,
                                    const saratoga__metadata *m,
                                    saratoga_time now) {
    saratoga__receiver *in = &s->in;
    if (!in->has_metadata) {
        first_metadata(s, m, now);
    } else {
        more_metadata(s, m, now);
    }
    if (s->state != SARATOGA__OPEN) {
        return;
    }
    if (m->ended && s->kind == SARATOGA_STREAM && !in->eod &&
        in->highest == in->delivered) {
        in->size = in->highest;
    }
    if (in->quiet_at == SARATOGA_TIME_NEVER) {
        in->quiet_at = saratoga__later(now, s->opt.quiet_status);
    }
    saratoga__receiver_advance(s, now);
}

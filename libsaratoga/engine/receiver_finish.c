/* SPDX-License-Identifier: MPL-2.0 */
/* The end of a receiver: checksum, commit, last STATUS. */
#include "libsaratoga/engine/session.h"

#define MULTICAST_DELAY (100 * SARATOGA_MS)

/* The checksum to compute over the file, also before the expected value is
 * known; none for unknown types. */
uint32_t saratoga__receiver_checksum(const saratoga__session *s) {
    bool follows = saratoga__sum_follows(s->sum_type, s->sum_len);
    uint32_t type = follows ? s->sum[s->sum_len - 1] : s->sum_type;
    size_t len = saratoga_digest_len(type);
    if ((type == SARATOGA__WIRE_SHA256 && !s->ctx->cfg.sha256) ||
        (type == SARATOGA_HMAC_SHA256 && s->ctx->auth.key_len == 0)) {
        return SARATOGA_NONE;
    }
    return follows || len == s->sum_len ? type : SARATOGA_NONE;
}

bool saratoga__receiver_has_checksum(const saratoga__session *s) {
    return s->in.has_metadata &&
           !saratoga__sum_follows(s->sum_type, s->sum_len);
}

/* Many receivers must not answer at once. */
void saratoga__receiver_hold_status(saratoga__session *s, saratoga_time now) {
    if (s->opt.multicast && now >= s->in.hold_until) {
        s->in.hold_until = now + cmn__rng_below(&s->ctx->rng, MULTICAST_DELAY);
    }
}

static void deliver_stream(saratoga__session *s) {
    saratoga__receiver *in = &s->in;
    uint8_t piece[2048];
    cmn__range r;
    if (s->opt.unreliable) {
        in->delivered = in->highest;
        return;
    }
    while (cmn__ranges_next(&in->got, in->delivered, &r) &&
           r.start <= in->delivered) {
        uint64_t n = r.end - in->delivered;
        size_t len = n < sizeof(piece) ? (size_t)n : sizeof(piece);
        if (!saratoga__sink_has_room(&in->sink, in->delivered, len)) {
            return;
        }
        cmn__bytes_get(&in->window, in->delivered, piece, len);
        if (!saratoga__sink_put(&in->sink, in->delivered, piece, len)) {
            return;
        }
        in->delivered += len;
    }
}

static bool has_all(const saratoga__session *s) {
    const saratoga__receiver *in = &s->in;
    if (in->size == SARATOGA_SIZE_UNKNOWN) {
        return false;
    }
    if (s->kind == SARATOGA_STREAM) {
        return in->delivered >= in->size;
    }
    return in->got.total >= in->size;
}

static void receiver_complete(saratoga__session *s, saratoga_time now) {
    saratoga__receiver *in = &s->in;
    saratoga_time four = s->rtt.srtt > 0 ? 4 * (saratoga_time)s->rtt.srtt : 0;
    saratoga_time linger = s->opt.linger > four ? s->opt.linger : four;
    in->complete = true;
    saratoga__receiver_hold_status(s, now);
    in->verified =
        in->has_metadata && saratoga__receiver_checksum(s) != SARATOGA_NONE;
    in->volunteer = true;
    in->asked.due = false;
    in->group.due = false;
    in->quiet_at = SARATOGA_TIME_NEVER;
    in->linger_until = saratoga__later(now, linger);
    s->st.bytes = in->size;
    saratoga__session_end(s, 0, SARATOGA_SUCCESS, false, false, now);
}

/* All bytes have arrived: writes, digests and commits them. */
static void finish_file(saratoga__session *s, saratoga_time now) {
    saratoga__receiver *in = &s->in;
    bool stream = s->kind == SARATOGA_STREAM;
    uint32_t sum =
        stream ? (uint32_t)SARATOGA_NONE : saratoga__receiver_checksum(s);
    if (in->sink.committed || s->unchanged) {
        receiver_complete(s, now);
        return;
    }
    saratoga__sink_flush(&in->sink);
    if (in->sink.order != NULL || in->sink.writing > 0 ||
        (!stream && !saratoga__sink_is_whole(&in->sink, in->size))) {
        return;
    }
    if (sum != SARATOGA_NONE && in->sink.digested < in->size) {
        saratoga__sink_digest(&in->sink, sum, true);
    } else if (in->has_metadata && !saratoga__receiver_has_checksum(s)) {
        return; /* only the expected checksum is missing */
    } else if (!saratoga__sink_commit(&in->sink, sum, s->sum, in->size)) {
        saratoga__session_fail(s, SARATOGA_ERR_NOMEM, now);
    }
}

void saratoga__receiver_advance(saratoga__session *s, saratoga_time now) {
    saratoga__receiver *in = &s->in;
    if (s->state != SARATOGA__OPEN) {
        return;
    }
    if (s->kind == SARATOGA_STREAM) {
        deliver_stream(s);
    } else if (in->has_metadata) {
        saratoga__sink_digest(&in->sink, saratoga__receiver_checksum(s), false);
    }
    if (!has_all(s)) {
        return;
    }
    if (!in->whole) {
        in->whole = true;
        in->whole_at = now;
        in->patience = SARATOGA__VERIFY_PATIENCE;
        in->patient_until = saratoga__later(now, in->patience);
    }
    if (in->has_metadata || in->unverifiable) {
        finish_file(s, now);
    }
}

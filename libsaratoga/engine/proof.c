/* SPDX-License-Identifier: MPL-2.0 */
/* Return routability: what a session may send before its peer has proven its
 * address. */
#include "libsaratoga/engine/session.h"
#include "libsaratoga/engine/token.h"

/* Bytes sent per byte received from an unproven peer (as RFC 9000, 8.1). */
#define AMPLIFICATION 3u
/* Bits that a peer without timestamps must guess. */
#define BITS_WANTED 24u

bool saratoga__proof_is_missing(const saratoga__session *s) {
    return !s->proof.proven && !s->initiator && !s->opt.no_status &&
           !(s->sends && s->opt.multicast) && s->opt.unconfirmed != UINT64_MAX;
}

static uint64_t room_in(const saratoga__session *s, uint64_t header) {
    const saratoga__proof *p = &s->proof;
    uint64_t limit = AMPLIFICATION * (p->received + header * p->packets_in);
    uint64_t used = p->sent + header * (p->packets_out + 1);
    limit += s->opt.unconfirmed;
    return limit > used ? limit - used : 0;
}

size_t saratoga__proof_room(const saratoga__session *s) {
    uint64_t bare = room_in(s, 0);
    uint64_t full = room_in(s, s->overhead);
    return !saratoga__proof_is_missing(s) ? SIZE_MAX
                                          : (size_t)(bare < full ? bare : full);
}

void saratoga__proof_on_received(saratoga__session *s, size_t len) {
    s->proof.received += len;
    s->proof.packets_in++;
}

void saratoga__proof_on_sent(saratoga__session *s, size_t len, size_t packets) {
    s->proof.sent += len;
    s->proof.packets_out += packets;
}

bool saratoga__proof_by_echo(const saratoga__session *s) {
    return s->sends && s->opt.timestamps != SARATOGA_TS_OFF &&
           saratoga__proof_is_missing(s);
}

void saratoga__proof_seal(const saratoga__session *s, uint8_t *timestamp) {
    saratoga__token_seal(s->ctx->token_key, s->host, s->id, timestamp);
}

static unsigned bits_of(uint64_t choices) {
    unsigned bits = 0;
    while (choices >>= 1) {
        bits++;
    }
    return bits;
}

bool saratoga__proof_by_length(const saratoga__session *s) {
    return s->opt.timestamps == SARATOGA_TS_OFF &&
           saratoga__proof_is_missing(s);
}

uint64_t saratoga__proof_draw_end(saratoga__session *s, cmn__range r) {
    uint64_t len = r.end - r.start;
    s->proof.drawn = 0;
    if (!saratoga__proof_by_length(s) || len < 2 || r.start < s->out.next) {
        return r.end;
    }
    s->out.source.aligned = true; /* realign after random lengths */
    s->proof.drawn = bits_of(len);
    return r.start + 1 + cmn__rng_below(&s->ctx->rng, len);
}

void saratoga__proof_on_data(saratoga__session *s, uint64_t end) {
    if (s->proof.drawn > 0 && end != s->out.size) {
        s->proof.end = end;
        s->proof.end_bits = s->proof.drawn;
    }
    s->proof.drawn = 0;
}

bool saratoga__proof_awaits_answer(const saratoga__session *s) {
    return saratoga__proof_by_length(s) && s->proof.end_bits > 0;
}

/* A STATUS without an echo reports the end of the last DATA, whose length was
 * random, or an older end, or no end yet; anything else is a wrong guess. */
static bool answers_length(saratoga__session *s, uint64_t progress,
                           uint64_t irt) {
    saratoga__proof *p = &s->proof;
    if (p->end_bits > 0 && (progress == p->end || irt == p->end)) {
        p->bits += p->end_bits;
        p->end_bits = 0;
    } else {
        p->end_bits = 0; /* the packet may be lost; the next gets a new random
                            length */
        if (irt != 0 && saratoga__sentlog_by_end(&s->out.log, irt) == 0) {
            p->bits = 0;
        }
    }
    return p->bits >= BITS_WANTED;
}

bool saratoga__proof_in_status(saratoga__session *s,
                               const saratoga__status_pkt *p) {
    if (s->initiator || p->code != SARATOGA_SUCCESS || p->bare) {
        return false;
    }
    if (p->timestamp != NULL) {
        return saratoga__token_is_genuine(s->ctx->token_key, s->host, s->id,
                                          p->timestamp);
    }
    if (saratoga__proof_by_echo(s) && !p->voluntary) {
        s->opt.timestamps = SARATOGA_TS_OFF; /* this peer echoes none */
    }
    return saratoga__proof_by_length(s) &&
           answers_length(s, p->progress.lo, p->irt.lo);
}

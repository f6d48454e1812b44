/* SPDX-License-Identifier: MPL-2.0 */
/* Parses and writes the PARAMS chunk. */
#include "libtltcp/engine/params.h"

#include "internal/secure/packet.h"

static bool take_stream_id(tltcp__params *out, const uint8_t *p, size_t len) {
    if (len > TLTCP_STREAM_ID_MAX || memchr(p, 0, len) != NULL) {
        return false;
    }
    memcpy(out->stream_id, p, len);
    out->stream_id[len] = '\0';
    out->stream_id_len = len;
    return true;
}

static bool take_proof(tltcp__params *out, const uint8_t *p, size_t len) {
    cmn__reader r = cmn__reader_of(p, len);
    out->local = cmn__get64(&r);
    return !r.bad && r.p == r.end;
}

static uint32_t *number(tltcp__params *p, uint8_t id) {
    switch (id) {
    case TLTCP__PARAM_WINDOW:
        return &p->window;
    case TLTCP__PARAM_SECTIONS:
        return &p->sections;
    case TLTCP__PARAM_IDLE_MS:
        return &p->idle_ms;
    case TLTCP__PARAM_DATAGRAM:
        return &p->datagram;
    case TLTCP__PARAM_FEATURES:
        return &p->features;
    case TLTCP__PARAM_ACK_EVERY:
        return &p->ack_every;
    case TLTCP__PARAM_ACK_DELAY_MS:
        return &p->ack_delay_ms;
    case TLTCP__PARAM_FIRST_SEQ:
        return &p->first_seq;
    default:
        return NULL;
    }
}

static bool in_range(const tltcp__params *p) {
    return p->window >= 1 && p->window <= UINT32_C(1) << 30 &&
           p->sections >= 1 && p->sections <= UINT32_C(1) << 20 &&
           p->datagram >= SEC__DATAGRAM_MIN && p->ack_every >= 1 &&
           p->ack_every <= 64 && p->ack_delay_ms <= 1000;
}

bool tltcp__params_parse(const tltcp__chunk *c, tltcp__params *out) {
    cmn__reader r = cmn__reader_of(c->body, c->len);
    *out = (tltcp__params){.ack_every = 2, .ack_delay_ms = 25};
    while (r.p < r.end) {
        uint8_t id = cmn__get8(&r);
        size_t len = cmn__get16(&r);
        const uint8_t *p = cmn__get_bytes(&r, len);
        uint32_t *field = number(out, id);
        if (r.bad || (field != NULL && len != 4)) {
            return false;
        }
        if (field != NULL) {
            cmn__reader value = cmn__reader_of(p, len);
            *field = cmn__get32(&value);
        } else if ((id == TLTCP__PARAM_STREAM_ID &&
                    !take_stream_id(out, p, len)) ||
                   (id == TLTCP__PARAM_LOCAL && !take_proof(out, p, len))) {
            return false;
        }
    }
    return in_range(out);
}

static void params_put_number(cmn__writer *w, uint8_t id, uint32_t value) {
    cmn__put8(w, id);
    cmn__put16(w, 4);
    cmn__put32(w, value);
}

void tltcp__params_put(cmn__writer *w, const tltcp__params *p) {
    size_t len = (size_t)8 * (3 + 4);
    if (p->local != 0) {
        len += 3 + sizeof(p->local);
    }
    if (p->stream_id_len > 0) {
        len += 3 + p->stream_id_len;
    }
    tltcp__chunk_put(w, TLTCP__PARAMS, 0, len);
    params_put_number(w, TLTCP__PARAM_WINDOW, p->window);
    params_put_number(w, TLTCP__PARAM_SECTIONS, p->sections);
    params_put_number(w, TLTCP__PARAM_IDLE_MS, p->idle_ms);
    params_put_number(w, TLTCP__PARAM_DATAGRAM, p->datagram);
    params_put_number(w, TLTCP__PARAM_FEATURES, p->features);
    params_put_number(w, TLTCP__PARAM_ACK_EVERY, p->ack_every);
    params_put_number(w, TLTCP__PARAM_ACK_DELAY_MS, p->ack_delay_ms);
    params_put_number(w, TLTCP__PARAM_FIRST_SEQ, p->first_seq);
    if (p->local != 0) {
        cmn__put8(w, TLTCP__PARAM_LOCAL);
        cmn__put16(w, sizeof(p->local));
        cmn__put64(w, p->local);
    }
    if (p->stream_id_len > 0) {
        cmn__put8(w, TLTCP__PARAM_STREAM_ID);
        cmn__put16(w, (uint16_t)p->stream_id_len);
        cmn__put_bytes(w, p->stream_id, p->stream_id_len);
    }
}

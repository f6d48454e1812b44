/* SPDX-License-Identifier: MPL-2.0 */
/* Parses and writes packet headers. */
#include "internal/secure/packet.h"

#include "internal/common/crc32c.h"

static bool is_long(uint8_t type) {
    return type >= SEC__INITIAL && type <= SEC__REJECT;
}

static bool has_number(uint8_t type) {
    return type == SEC__INITIAL || type == SEC__ANSWER;
}

static uint32_t check_of(const uint8_t *dgram, size_t len) {
    cmn__reader tail =
        cmn__reader_of(dgram + len - SEC__CHECK_LEN, SEC__CHECK_LEN);
    return cmn__get32(&tail);
}

bool sec__packet_is_intact(const uint8_t *dgram, size_t len) {
    return check_of(dgram, len) == cmn__crc32c(0, dgram, len - SEC__CHECK_LEN);
}

bool sec__packet_is_unchecked(const uint8_t *dgram, size_t len) {
    return check_of(dgram, len) == 0;
}

static void parse_long(cmn__reader *r, sec__packet *out) {
    out->version = cmn__get32(r);
    out->dcid = cmn__get64(r);
    out->scid = cmn__get64(r);
    if (has_number(out->type)) {
        out->pn = cmn__get32(r);
    }
    if (out->type != SEC__VERSIONS) {
        out->token_len = cmn__get8(r);
        out->token = cmn__get_bytes(r, out->token_len);
    }
}

static bool has_good_length(size_t len) {
    return len >= SEC__SHORT_LEN + SEC__CHECK_LEN && len <= SEC__DATAGRAM_MAX;
}

/* Parses a datagram that is intact and has a good length. */
static bool parse_intact(const void *dgram, size_t len, sec__packet *out) {
    cmn__reader r = cmn__reader_of(dgram, len - SEC__CHECK_LEN);
    out->type = cmn__get8(&r);
    if (out->type == SEC__SHORT) {
        out->dcid = cmn__get64(&r);
        out->pn = cmn__get32(&r);
    } else if (is_long(out->type)) {
        parse_long(&r, out);
    } else {
        return false;
    }
    out->body = r.p;
    out->body_len = cmn__reader_left(&r);
    return !r.bad && out->token_len <= SEC__TOKEN_MAX;
}

bool sec__packet_parse(const void *dgram, size_t len, sec__packet *out) {
    *out = (sec__packet){0};
    return has_good_length(len) && sec__packet_is_intact(dgram, len) &&
           parse_intact(dgram, len, out);
}

bool sec__packet_parse_local(const void *dgram, size_t len, sec__packet *out) {
    const uint8_t *bytes = dgram;
    if (has_good_length(len) && bytes[0] == SEC__SHORT &&
        sec__packet_is_unchecked(bytes, len)) {
        *out = (sec__packet){0};
        return parse_intact(dgram, len, out);
    }
    return sec__packet_parse(dgram, len, out);
}

bool sec__packet_parse_sealed(const void *dgram, size_t len, sec__packet *out) {
    cmn__reader r = cmn__reader_of(dgram, len);
    *out = (sec__packet){0};
    out->type = cmn__get8(&r);
    out->dcid = cmn__get64(&r);
    out->pn = cmn__get32(&r);
    out->body = r.p;
    out->body_len = cmn__reader_left(&r);
    return !r.bad && (out->type & ~SEC__PHASE) == SEC__SHORT;
}

bool sec__packet_peek(const void *dgram, size_t len, uint8_t *type,
                      uint64_t *dcid) {
    cmn__reader r = cmn__reader_of(dgram, len);
    *type = cmn__get8(&r);
    if ((*type & ~SEC__PHASE) == SEC__SHORT) {
        *type = SEC__SHORT;
    } else {
        (void)cmn__get32(&r);
    }
    *dcid = cmn__get64(&r);
    return !r.bad && (*type == SEC__SHORT || is_long(*type));
}

void sec__packet_put(cmn__writer *w, const sec__packet *p) {
    cmn__put8(w, p->type);
    if ((p->type & ~SEC__PHASE) == SEC__SHORT) {
        cmn__put64(w, p->dcid);
        cmn__put32(w, p->pn);
        return;
    }
    cmn__put32(w, p->version);
    cmn__put64(w, p->dcid);
    cmn__put64(w, p->scid);
    if (has_number(p->type)) {
        cmn__put32(w, p->pn);
    }
    if (p->type != SEC__VERSIONS) {
        cmn__put8(w, (uint8_t)p->token_len);
        cmn__put_bytes(w, p->token, p->token_len);
    }
}

void sec__packet_seal(cmn__writer *w, const uint8_t *start) {
    cmn__put32(w, cmn__crc32c(0, start, (size_t)(w->p - start)));
}

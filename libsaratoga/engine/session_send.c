/* SPDX-License-Identifier: MPL-2.0 */
/* Packets of both roles: REQUEST, METADATA, last STATUS. */
#include "libsaratoga/engine/session.h"

#define PLAIN_STATUS_LEN 13 /* with a denial */

void saratoga__sign(saratoga__context *e, cmn__writer *w, const uint8_t *packet,
                    size_t len, saratoga_time now) {
    uint8_t field[SARATOGA__AUTH_LEN];
    if (!w->bad && e->auth.key_len > 0) {
        saratoga__auth_write(&e->auth, packet, len,
                             now + (uint64_t)e->cfg.posix_offset, &e->rng,
                             field);
        cmn__put_bytes(w, field, sizeof(field));
    }
}

/* If there is a key, adds the field, with the newest challenge of the
 * responder. Members of a group send no challenge. */
static void sign_request(saratoga__session *s, cmn__writer *w,
                         const uint8_t *packet, size_t len, saratoga_time now) {
    saratoga__context *e = s->ctx;
    uint8_t field[SARATOGA__BOUND_LEN];
    saratoga__challenge c;
    if (s->of_group || (s->to.flags & SARATOGA_PKT_MULTICAST) != 0) {
        saratoga__sign(e, w, packet, len, now);
    } else if (!w->bad && e->auth.key_len > 0) {
        c = saratoga__challenges_find(&e->challenges, s->host);
        saratoga__auth_bind(&e->auth, packet, len, &c, &e->rng, field);
        cmn__put_bytes(w, field, sizeof(field));
    }
}

static size_t write_request(saratoga__session *s, uint8_t *buf, size_t cap,
                            saratoga_time now) {
    cmn__writer w = cmn__writer_of(buf, cap);
    saratoga__request q = {.abilities = saratoga__context_abilities(s->ctx),
                           .descriptor = s->opt.max_descriptor,
                           .type = s->type,
                           .id = s->id,
                           .path = s->path,
                           .path_len = strlen(s->path),
                           .auth = s->auth,
                           .auth_len = s->auth_len};
    saratoga__request_write(&w, &q);
    if (s->auth_len == 0) {
        sign_request(s, &w, buf, 8 + q.path_len, now);
    }
    s->send_request = false;
    s->asked_at = now;
    s->tries++;
    s->retry_at = saratoga__later(now, s->retry_wait);
    s->retry_wait = saratoga__later(s->retry_wait, s->retry_wait);
    return w.bad ? 0 : (size_t)(w.p - buf);
}

static size_t write_metadata(saratoga__session *s, uint8_t *buf, size_t cap,
                             saratoga_time now) {
    cmn__writer w = cmn__writer_of(buf, cap);
    saratoga__metadata m;
    m.descriptor = s->descriptor;
    m.kind = s->kind;
    m.ended = s->kind == SARATOGA_STREAM && s->out.finished &&
              s->out.next >= s->out.size; /* not before everything has left */
    m.lite = s->entry.lite;
    m.id = s->id;
    m.sum_type = s->sum_type;
    m.sum_len = s->sum_len;
    m.sum = s->sum;
    m.entry = s->entry;
    saratoga__metadata_write(&w, &m);
    s->send_metadata = false;
    s->out.meta_sent = true;
    s->out.meta_at = now;
    s->st.metadata_packets++;
    return w.bad ? 0 : (size_t)(w.p - buf);
}

size_t saratoga__write_plain_status(uint32_t id, uint32_t code, uint8_t *buf,
                                    size_t cap) {
    cmn__writer w = cmn__writer_of(buf, cap);
    saratoga__status_pkt p = {.voluntary = true,
                              .code = code & 0xFF,
                              .denial = code & ~0xFFu,
                              .id = id};
    p.no_metadata = code == SARATOGA_METADATA_REQUIRED;
    saratoga__status_write_head(&w, &p);
    return w.bad ? 0 : (size_t)(w.p - buf);
}

static size_t write_announcement(saratoga__session *s, uint8_t *buf,
                                 size_t cap) {
    cmn__writer w = cmn__writer_of(buf, cap);
    const saratoga_partial *p = &s->in.partial;
    saratoga__metadata m = {.kind = SARATOGA_FILE, .id = s->id};
    m.sum_len = saratoga_digest_len(p->checksum);
    m.sum_type = p->checksum & 0xF;
    m.sum = p->digest;
    m.entry = p->entry;
    m.entry.descriptor = SARATOGA_DESCRIPTOR_FIT;
    m.descriptor = saratoga__descriptor_for(m.entry.size);
    saratoga__metadata_write(&w, &m);
    s->announce = false;
    return w.bad ? 0 : (size_t)(w.p - buf);
}

static size_t metadata_len(const saratoga__session *s) {
    uint32_t d = s->entry.descriptor < SARATOGA_DESCRIPTOR_FIT
                     ? s->entry.descriptor
                     : saratoga__descriptor_for(s->entry.size);
    return 8 + s->sum_len + 2 + saratoga__width(d) + 8 + strlen(s->entry.path) +
           1;
}

/* To an unproven peer, METADATA leave only if a packet that requests an answer
 * still fits: without an answer, nothing more may be sent. */
static bool metadata_may_leave(const saratoga__session *s) {
    size_t room = saratoga__proof_room(s);
    size_t ask = s->overhead + 8 + saratoga__width(s->descriptor);
    return s->state == SARATOGA__OPEN && s->send_metadata &&
           !saratoga__proof_by_echo(s) &&
           (room == SIZE_MAX || room >= metadata_len(s) + ask);
}

static size_t write_last_status(saratoga__session *s, uint8_t *buf, size_t cap,
                                saratoga_time now) {
    uint32_t code = s->send_error ? s->status : SARATOGA_SUCCESS;
    size_t n = saratoga__write_plain_status(s->id, code, buf, cap);
    s->send_error = false;
    s->send_reply = false;
    saratoga__context_uplink_used(s->ctx, n + s->overhead, now);
    return n;
}

size_t saratoga__session_write(saratoga__session *s, uint8_t *buf, size_t cap,
                               size_t *segment, uint32_t *flags,
                               saratoga_time now) {
    size_t room = saratoga__proof_room(s);
    size_t n = 0;
    *flags = 0;
    if (s->down) {
        return 0;
    }
    if ((s->send_error || s->send_reply) && room < PLAIN_STATUS_LEN) {
        s->send_error = false; /* one reply is enough */
        s->send_reply = false;
    } else if (s->send_error || s->send_reply) {
        n = write_last_status(s, buf, cap, now);
    } else if (s->announce) {
        n = write_announcement(s, buf, cap);
    } else if (s->send_request) {
        n = write_request(s, buf, cap, now);
    } else if (metadata_may_leave(s)) {
        n = write_metadata(s, buf, cap, now);
    } else if (s->state == SARATOGA__OPEN && s->sends) {
        return saratoga__sender_write(s, buf, cap < room ? cap : room, segment,
                                      flags, now);
    }
    *segment = n;
    return n;
}

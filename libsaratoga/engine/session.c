/* SPDX-License-Identifier: MPL-2.0 */
/* Shared by the sender and receiver of a session. */
#include "libsaratoga/engine/session.h"

#define RTO_MIN (200 * SARATOGA_MS)
#define NO_PROGRESS 4 /* multiple of the inactivity timeout */

int saratoga__session_init(saratoga__session *s, saratoga__context *ctx,
                           const saratoga_options *opt, saratoga_time now) {
    s->ctx = ctx;
    s->opt = *opt;
    s->born = now;
    s->heard = now;
    s->retry_at = SARATOGA_TIME_NEVER;
    s->retry_wait = s->opt.request_retry;
    s->timer_slot = UINT32_MAX;
    s->proof.slot = SARATOGA__NO_SLOT;
    s->peer_descriptor = SARATOGA_128_BIT;
    cong_rtt_init(&s->rtt, (cong_time)SARATOGA_MS, (cong_time)RTO_MIN);
    if (s->opt.rtt_hint > 0) {
        cong_rtt_sample_at(&s->rtt, (cong_time)s->opt.rtt_hint, (cong_time)now);
    }
    return saratoga__options_own(&s->opt, &ctx->mem, &s->opt_block);
}

void saratoga__session_free(saratoga__session *s) {
    saratoga__sender_free(s);
    saratoga__receiver_free(s);
    saratoga__pre_accept_free(&s->pre_accept, s->ctx);
    s->ctx->done_pending -= s->done_pending ? 1 : 0;
    s->done_pending = false;
    cmn__free(&s->ctx->mem, s->asked_packet);
    cmn__free(&s->ctx->mem, s->auth);
    cmn__free(&s->ctx->mem, s->opt_block);
    s->asked_packet = NULL;
    s->auth = NULL;
}

static uint32_t wire_sum(uint32_t checksum) {
    return checksum == SARATOGA_SHA256 ? SARATOGA__WIRE_SHA256 : checksum;
}

int saratoga__session_describe(saratoga__session *s, const saratoga_source *src,
                               uint32_t widest) {
    uint32_t want = s->opt.descriptor;
    uint32_t least = saratoga__descriptor_for(src->entry.size);
    bool stream = src->kind == SARATOGA_STREAM;
    size_t sum = saratoga_digest_len(src->checksum);
    if (memchr(src->entry.path, 0, sizeof(src->entry.path)) == NULL ||
        (src->kind == SARATOGA_BUNDLE && !s->opt.emit_bundle) ||
        src->kind > SARATOGA_STREAM || src->checksum > SARATOGA_SHA256 ||
        (src->checksum != SARATOGA_NONE && sum == 0)) {
        return SARATOGA_ERR_INVAL;
    }
    if (want == SARATOGA_DESCRIPTOR_FIT) {
        want = stream ? SARATOGA_64_BIT : least;
        want = stream && want > widest ? widest : want;
    }
    if (want < least || want > widest) {
        return SARATOGA_ERR_TOO_LONG;
    }
    s->kind = src->kind;
    s->descriptor = want;
    s->entry = src->entry;
    s->entry.special |= stream;
    s->entry.lite = s->opt.lite;
    s->entry.descriptor =
        s->opt.wide_entries || stream ? want : SARATOGA_DESCRIPTOR_FIT;
    s->has_entry = true;
    s->sum_len = 0;
    s->sum_type = 0;
    s->out.digest_pending =
        src->digest_later && !stream && src->checksum != SARATOGA_NONE;
    if (s->out.digest_pending) {
        s->sum_type = SARATOGA__WIRE_FOLLOWS;
        s->sum_len = 4;
        memcpy(s->sum, (const uint8_t[4]){0, 0, 0, (uint8_t)src->checksum}, 4);
    } else if (!stream) {
        s->sum_type = wire_sum(src->checksum);
        s->sum_len = sum;
        memcpy(s->sum, src->digest, sum);
    }
    s->unchanged = src->unchanged;
    return 0;
}

void saratoga__session_ask(saratoga__session *s, const saratoga__request *q) {
    saratoga_event ev = {.abilities = s->peer_abilities,
                         .proven = !saratoga__proof_is_missing(s),
                         .descriptor = s->peer_descriptor,
                         .has_entry = s->has_entry,
                         .entry = s->entry};
    s->state = SARATOGA__ASKED;
    if (q != NULL && s->asked_packet != NULL) {
        ev.packet = s->asked_packet;
        ev.auth_covers = 8 + q->path_len;
        ev.auth = s->asked_packet + ev.auth_covers + 1;
        ev.auth_len = q->auth_len;
    }
    (void)saratoga__session_event(s, SARATOGA_EVENT_REQUEST, &ev);
}

void saratoga__session_open(saratoga__session *s, saratoga_time now) {
    int rv;
    if (s->state >= SARATOGA__OPEN) {
        return;
    }
    s->state = SARATOGA__OPEN;
    s->send_request = false;
    s->retry_at = SARATOGA_TIME_NEVER;
    rv = s->sends ? saratoga__sender_open(s, now)
                  : saratoga__receiver_open(s, now);
    if (rv != 0) {
        saratoga__session_fail(s, rv, now);
    }
}

/* The first answer to a REQUEST that was sent only once gives the RTT. */
static void heard_answer(saratoga__session *s, saratoga_time now) {
    if (s->state == SARATOGA__ASKING && s->tries == 1 && now > s->asked_at) {
        cong_rtt_sample_at(&s->rtt, (cong_time)(now - s->asked_at),
                           (cong_time)now);
    }
}

/* METADATA or DATA arrived. False if the transfer expects none. */
static bool heard_sender(saratoga__session *s, saratoga_time now) {
    s->heard = now;
    if (s->sends || s->type == SARATOGA_DELETE) {
        return false;
    }
    heard_answer(s, now);
    if (s->state == SARATOGA__ASKING) {
        saratoga__session_open(s, now);
    }
    return true;
}

void saratoga__session_on_data(saratoga__session *s, const saratoga__data *d,
                               saratoga_time now) {
    if (!heard_sender(s, now)) {
        return;
    }
    if (s->state == SARATOGA__OPEN || s->state == SARATOGA__LINGER) {
        saratoga__receiver_on_data(s, d, now);
    }
}

void saratoga__session_replay(saratoga__session *s, saratoga_time now) {
    for (size_t at = 0; at < s->pre_accept.len;) {
        size_t len;
        const uint8_t *packet =
            saratoga__pre_accept_at(&s->pre_accept, &at, &len);
        saratoga__data d;
        if (saratoga__data_parse(packet, len, &d)) {
            saratoga__session_on_data(s, &d, now);
        }
    }
    saratoga__pre_accept_free(&s->pre_accept, s->ctx);
}

void saratoga__session_on_metadata(saratoga__session *s,
                                   const saratoga__metadata *m,
                                   saratoga_time now) {
    if (heard_sender(s, now) && s->state == SARATOGA__OPEN) {
        s->st.metadata_packets++;
        saratoga__receiver_on_metadata(s, m, now);
    }
}

static void on_accepted(saratoga__session *s, saratoga_time now) {
    saratoga_event ev = {0};
    if (s->accepted) {
        return;
    }
    heard_answer(s, now);
    s->accepted = true;
    if (s->type == SARATOGA_DELETE) {
        saratoga__session_end(s, 0, SARATOGA_SUCCESS, true, false, now);
        return;
    }
    (void)saratoga__session_event(s, SARATOGA_EVENT_ACCEPTED, &ev);
    if (s->state == SARATOGA__ASKING) {
        saratoga__session_open(s, now);
    }
}

static bool is_refusal(const saratoga__session *s,
                       const saratoga__status_pkt *p) {
    return p->code != SARATOGA_SUCCESS &&
           !(s->type == SARATOGA_DELETE && p->code == SARATOGA_NOT_FOUND);
}

/* A failure of one member of a group does not end the transfer of another. */
void saratoga__session_on_status(saratoga__session *s,
                                 const saratoga__status_pkt *p, size_t len,
                                 saratoga_time now) {
    bool group = s->opt.multicast;
    if (!saratoga__session_lives(s) || s->state == SARATOGA__EXPECTING) {
        return;
    }
    s->heard = now;
    if (is_refusal(s, p)) {
        if (!group) {
            saratoga__session_end(s, SARATOGA_ERR_REFUSED, p->code | p->denial,
                                  true, false, now);
        }
        return;
    }
    if (p->bare && s->type != SARATOGA_DELETE) {
        return;
    }
    if (s->initiator) {
        on_accepted(s, now);
    }
    if (s->state != SARATOGA__OPEN) {
        return;
    }
    if (s->sends) {
        saratoga__sender_on_status(s, p, len, now);
    } else if (group) {
        saratoga__receiver_on_other(s, p);
    }
}

void saratoga__session_on_work(saratoga__session *s, saratoga__work_item *work,
                               int64_t result, saratoga_time now) {
    if (s->sends) {
        int rv = saratoga__source_on_read(&s->out.source, work, result);
        if (rv != 0 && saratoga__session_lives(s)) {
            saratoga__session_fail(s, rv, now);
        }
        saratoga__sender_plan(s);
    } else {
        saratoga__receiver_on_work(s, work, result, now);
    }
}

static bool is_silent(const saratoga__session *s, saratoga_time now) {
    return now >= saratoga__later(s->heard, s->opt.inactivity);
}

/* One-way senders do not wait for the peer. */
static bool has_idle_timeout(const saratoga__session *s) {
    return s->state != SARATOGA__ASKED &&
           !(s->sends &&
             (s->opt.no_status || s->opt.unreliable || s->opt.multicast));
}

/* The peer answers but its file does not grow: only small packets get through,
 * or its disk hangs. Streams are exempt: their reader may pause. So is a
 * receiver that lacks but the last octet: it is verifying. */
static saratoga_time no_progress_end(const saratoga__session *s) {
    if (!s->sends || s->state != SARATOGA__OPEN || !has_idle_timeout(s) ||
        s->kind == SARATOGA_STREAM || s->out.held + 1 == s->out.size ||
        s->out.unacked_packets < SARATOGA__NO_PROGRESS_PACKETS) {
        return SARATOGA_TIME_NEVER;
    }
    return s->opt.inactivity < SARATOGA_TIME_NEVER / NO_PROGRESS
               ? saratoga__later(s->out.unacked_since,
                                 NO_PROGRESS * s->opt.inactivity)
               : SARATOGA_TIME_NEVER;
}

static void retry(saratoga__session *s, saratoga_time now) {
    if (s->tries >= s->opt.request_tries) {
        saratoga__session_end(s, SARATOGA_ERR_TIMEOUT, SARATOGA_TIMED_OUT,
                              false, false, now);
        return;
    }
    s->send_request = true;
    s->retry_at = SARATOGA_TIME_NEVER;
}

/* DATA without METADATA have no name. */
static void expect_end(saratoga__session *s, saratoga_time now) {
    if (now < saratoga__later(s->born, s->opt.metadata_wait)) {
        return;
    }
    if (s->announced) {
        saratoga__session_ask(s, NULL);
    } else {
        s->done_reported = true; /* the application never saw it */
        s->released = true;
        saratoga__session_end(s, SARATOGA_ERR_PROTOCOL,
                              SARATOGA_METADATA_REQUIRED, false, true, now);
    }
}

void saratoga__session_on_timeout(saratoga__session *s, saratoga_time now) {
    if (s->down) {
        return;
    }
    if (s->state == SARATOGA__EXPECTING) {
        expect_end(s, now);
    } else if (saratoga__session_lives(s) && has_idle_timeout(s) &&
               is_silent(s, now)) {
        saratoga__session_fail(s, SARATOGA_ERR_TIMEOUT, now);
    } else if (now >= no_progress_end(s)) {
        saratoga__session_fail(s, SARATOGA_ERR_IN_VAIN, now);
    } else if (s->state == SARATOGA__ASKING && now >= s->retry_at) {
        retry(s, now);
    } else if (s->state == SARATOGA__OPEN && s->sends) {
        saratoga__sender_on_timeout(s, now);
    } else if (!s->sends &&
               (s->state == SARATOGA__OPEN || s->state == SARATOGA__LINGER)) {
        saratoga__receiver_on_timeout(s, now);
    }
}

saratoga_time saratoga__session_wake(const saratoga__session *s,
                                     saratoga_time now) {
    saratoga_time at = SARATOGA_TIME_NEVER;
    if (s->down || s->state == SARATOGA__OVER) {
        return at;
    }
    if (s->state == SARATOGA__EXPECTING) {
        return saratoga__later(s->born, s->opt.metadata_wait);
    }
    if (s->state != SARATOGA__LINGER && has_idle_timeout(s)) {
        at = saratoga__later(s->heard, s->opt.inactivity);
    }
    at = saratoga__sooner(at, no_progress_end(s));
    if (s->state == SARATOGA__ASKING) {
        at = saratoga__sooner(at, s->retry_at);
    } else if (s->state == SARATOGA__OPEN && s->sends) {
        at = saratoga__sooner(at, saratoga__sender_wake(s, now));
    } else if (!s->sends && s->state >= SARATOGA__OPEN) {
        at = saratoga__sooner(at, saratoga__receiver_wake(s, now));
    }
    return at;
}

bool saratoga__session_wants_status(const saratoga__session *s,
                                    saratoga_time now) {
    return !s->down && !s->sends &&
           (s->state == SARATOGA__OPEN || s->state == SARATOGA__LINGER) &&
           s->type != SARATOGA_DELETE &&
           saratoga__receiver_wants_status(s, now);
}

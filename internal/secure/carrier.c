/* SPDX-License-Identifier: MPL-2.0 */
/* The public calls of the carrier of sealed datagrams. */
#include "internal/secure/carrier.h"

#include <string.h>

#include "internal/secure/carrier_impl.h"

/* --- The carrier --------------------------------------------------------- */

static bool take_keys(sec__carrier *c, const sec__key_source *from) {
    if (!sec__keys_any(from)) {
        return true;
    }
    c->keys = cmn__alloc(&c->mem, SEC__KEYS_MAX * sizeof(*c->keys));
    c->n_keys = c->keys != NULL ? sec__keys_take(from, c->admission.salt,
                                                 c->keys, SEC__KEYS_MAX)
                                : -1;
    if (c->n_keys > 0 && sec__keys_own(from)) {
        c->own = cmn__alloc(&c->mem, sizeof(*c->own));
        return c->own != NULL && sec__caller_init(c->own, from);
    }
    return c->n_keys > 0;
}

int sec__carrier_new(sec__carrier **out, const cmn__mem *mem,
                     const sec__carrier_config *config, const uint8_t *seed,
                     uint64_t now) {
    sec__carrier *c = cmn__alloc(mem, sizeof(*c));
    sec__limits limits = config->limits;
    bool ok;
    if (c == NULL) {
        return -1;
    }
    c->mem = *mem;
    c->version = config->version;
    c->max_datagram = config->max_datagram;
    c->rekey_packets = config->rekey_packets;
    c->wake = UINT64_MAX;
    sec__secret_init(&c->secret, seed);
    c->salt = sec__secret_next(&c->secret);
    limits.secured = true;
    ok = sec__admission_init(&c->admission, &c->mem, &limits, &c->secret, now);
    c->plain = cmn__alloc(mem, c->max_datagram);
    if (!ok || c->salt == 0 || c->plain == NULL ||
        !take_keys(c, &config->keys)) {
        sec__carrier_free(c);
        return -1;
    }
    *out = c;
    return 0;
}

void sec__carrier_free(sec__carrier *c) {
    cmn__mem mem;
    if (c == NULL) {
        return;
    }
    mem = c->mem;
    while (c->all != NULL) {
        sec__session_free(c, c->all);
    }
    if (c->keys != NULL) {
        sec__keys_clear(c->keys, SEC__KEYS_MAX);
        cmn__free(&mem, c->keys);
    }
    if (c->own != NULL) {
        sec__caller_clear(c->own);
        cmn__free(&mem, c->own);
    }
    sec__admission_free(&c->admission);
    sec__secret_clear(&c->secret);
    cmn__free(&mem, c->plain);
    cmn__free(&mem, c);
}

void sec__carrier_defer_keys(sec__carrier *c) {
    c->defers_keys = true;
}

bool sec__carrier_wants_key(const sec__carrier *c) {
    return c->wants_key;
}

void sec__carrier_key_job(sec__carrier *c, sec__key_job *job) {
    c->wants_key = false;
    c->makes_key = true;
    sec__key_job_init(job, c->own, c->salt_wanted);
}

void sec__carrier_take_key(sec__carrier *c, sec__key_job *job) {
    c->makes_key = false;
    if (!sec__key_job_end(job, c->own)) {
        return; /* no memory: what waits will cause another call later */
    }
    for (sec__session *s = c->all; s != NULL; s = s->next) {
        if (s->awaits_key && s->state == SEC__CALLING) {
            s->want = SEC__WANT_CALL;
            sec__session_ready(c, s);
        }
        s->awaits_key = false;
    }
}

enum sec__carried sec__carrier_recv(sec__carrier *c, const sec__place *from,
                                    const uint8_t *dgram, size_t len,
                                    sec__delivery *out, uint64_t now) {
    enum sec__carried what = SEC__NOTHING;
    uint8_t type;
    uint64_t id;
    if (!sec__packet_peek(dgram, len, &type, &id)) {
        c->stats.foreign++;
    } else if (type == SEC__SHORT) {
        what = sec__session_take(c, from, dgram, len, out, now);
    } else {
        what = sec__call_take(c, from, dgram, len, out, now);
    }
    return what;
}

size_t sec__carrier_seal(sec__carrier *c, const sec__place *to,
                         const uint8_t *dgram, size_t len, uint8_t *buf,
                         uint64_t *path, uint64_t now) {
    sec__session *s = sec__session_of_path(c, to->path, SEC__OPEN);
    if (s != NULL) {
        if (sec__session_on_use(c, s, now)) {
            (void)sec__call(c, &s->peer, s->at, now);
        }
        *path = s->at;
        return sec__session_seal(c, s, SEC__KIND_CARGO, dgram, len, buf);
    }
    s = sec__call(c, to, to->path, now);
    if (s == NULL) {
        c->stats.lost++;
        return 0;
    }
    sec__session_keep(c, s, dgram, len);
    return 0;
}

static size_t carrier_put(sec__carrier *c, sec__session *s, uint8_t *buf,
                          size_t cap, uint64_t *path, uint64_t now) {
    *path = s->at;
    return (s->want & (SEC__WANT_CALL | SEC__WANT_ANSWER)) != 0
               ? sec__call_put(c, s, buf, now)
               : sec__session_put(c, s, buf, cap, path, now);
}

static bool has_more(const sec__session *s) {
    return s->want != 0 || (s->state == SEC__OPEN && s->kept != NULL);
}

/* The first session in the queue sends one datagram and moves to the end. */
size_t sec__carrier_send(sec__carrier *c, uint8_t *buf, size_t cap,
                         uint64_t *path, uint64_t now) {
    size_t len = 0;
    while (len == 0 && c->ready != NULL) {
        sec__session *s = c->ready;
        sec__session_unready(c, s);
        len = carrier_put(c, s, buf, cap, path, now);
        if (has_more(s)) {
            sec__session_ready(c, s);
        }
    }
    return len;
}

uint64_t sec__carrier_timeout(const sec__carrier *c) {
    return c->ready != NULL ? 0 : c->wake;
}

void sec__carrier_on_timeout(sec__carrier *c, uint64_t now) {
    sec__session *next;
    if (now < c->wake) {
        return;
    }
    c->wake = UINT64_MAX;
    for (sec__session *s = c->all; s != NULL; s = next) {
        next = s->next;
        if (s->due <= now) {
            if (s->state == SEC__CALLING) {
                sec__call_on_timeout(c, s, now);
            } else {
                sec__session_on_timeout(c, s, now);
            }
        } else if (s->due < c->wake) {
            c->wake = s->due;
        }
    }
}

bool sec__carrier_next_refusal(sec__carrier *c, sec__refused *out) {
    if (c->n_refused == 0) {
        return false;
    }
    *out = c->refused[0];
    c->n_refused--;
    memmove(c->refused, c->refused + 1, c->n_refused * sizeof(*out));
    return true;
}

void sec__carrier_close(sec__carrier *c) {
    for (sec__session *s = c->all; s != NULL; s = s->next) {
        if (s->state == SEC__OPEN) {
            s->want = SEC__WANT_BYE;
            sec__session_ready(c, s);
        }
    }
}

uint64_t sec__carrier_rejected(const sec__carrier *c) {
    return c->admission.rejected;
}

void sec__carrier_get_stats(const sec__carrier *c, sec__carrier_stats *st) {
    *st = c->stats;
    st->rejected = c->admission.rejected;
}

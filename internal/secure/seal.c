/* SPDX-License-Identifier: MPL-2.0 */
/* Seals and opens SHORT packets; key phases and their limits. */
#include "internal/secure/seal.h"

#include <string.h>

#include <openssl/crypto.h>

#include "internal/secure/packet.h"
#include "internal/secure/record.h"

/* AES-GCM loses confidentiality after about 2^23 full packets (RFC 9001 section
 * 6.6); half of that leaves time for the peer to follow. */
#define SEALED_MAX (UINT64_C(1) << 22)

static bool next_key(uint8_t *key) {
    static const uint8_t label[] = "tltcp next key";
    uint8_t out[1][SEC__KEY_LEN];
    bool ok = sec__hkdf(key, label, sizeof(label) - 1, out, 1);
    if (ok) {
        memcpy(key, out[0], SEC__KEY_LEN);
    }
    OPENSSL_cleanse(out, sizeof(out));
    return ok;
}

/* NULL without memory: then it can be tried again. */
static sec__packet_key *next_rx(sec__seal *s) {
    sec__packet_key *c;
    uint8_t key[SEC__KEY_LEN];
    memcpy(key, s->rx_key, sizeof(key));
    c = next_key(key) ? sec__packet_key_new(s->suite, key, false) : NULL;
    if (c != NULL) {
        memcpy(s->rx_key, key, sizeof(key));
    }
    OPENSSL_cleanse(key, sizeof(key));
    return c;
}

sec__seal *sec__seal_new(const cmn__mem *mem, uint8_t suite,
                         const uint8_t *tx_key, const uint8_t *rx_key,
                         size_t room, uint64_t limit) {
    sec__seal *s = cmn__alloc(mem, sizeof(*s));
    if (s == NULL) {
        return NULL;
    }
    s->mem = mem;
    s->suite = suite;
    s->room_len = room;
    s->limit = limit > 0 && limit < SEALED_MAX ? limit : SEALED_MAX;
    memcpy(s->tx_key, tx_key, SEC__KEY_LEN);
    memcpy(s->rx_key, rx_key, SEC__KEY_LEN);
    s->tx = sec__packet_key_new(suite, tx_key, true);
    s->rx = sec__packet_key_new(suite, rx_key, false);
    if ((room > 0 && sec__seal_plain(s) == NULL) || s->tx == NULL ||
        s->rx == NULL) {
        sec__seal_free(s, mem);
        return NULL;
    }
    return s;
}

uint8_t *sec__seal_plain(sec__seal *s) {
    if (s->room == NULL) {
        s->room = cmn__alloc(s->mem, SEC__RECORD_LEAD + s->room_len);
        s->plain = s->room != NULL ? s->room + SEC__RECORD_LEAD : NULL;
    }
    return s->plain;
}

void sec__seal_trim(sec__seal *s) {
    cmn__free(s->mem, s->room);
    s->room = NULL;
    s->plain = NULL;
    if (s->waits == 0) {
        cmn__free(s->mem, s->waiting);
        s->waiting = NULL;
    }
}

void sec__seal_free(sec__seal *s, const cmn__mem *mem) {
    if (s == NULL) {
        return;
    }
    sec__packet_key_free(s->tx);
    sec__packet_key_free(s->rx);
    sec__packet_key_free(s->rx_old);
    sec__packet_key_free(s->rx_next);
    cmn__free(mem, s->room);
    cmn__free(mem, s->waiting);
    OPENSSL_cleanse(s, sizeof(*s));
    cmn__free(mem, s);
}

size_t sec__seal_packet(const sec__seal *s, size_t cap) {
    size_t more = SEC__SHORT_LEN + SEC__TAG_LEN;
    return s->suite == SEC__AES_GCM ? more + sec__record_text(cap - more) : cap;
}

/* Whether one more packet may be sealed with these keys. */
static bool count_one(sec__seal *s, uint64_t pn) {
    if (s->sealed == 0) {
        s->tx_from = pn;
    }
    /* limits sealing if the peer never confirms */
    return ++s->sealed < 2 * SEALED_MAX;
}

bool sec__seal_close(sec__seal *s, uint64_t pn, const uint8_t *header,
                     size_t header_len, uint8_t *text, size_t len) {
    return count_one(s, pn) &&
           sec__packet_key_seal(s->tx, pn, header, header_len, text, len);
}

/* False if this or an earlier packet could not be sealed. */
static bool seal_now(sec__seal *s, const sec__unsealed *u) {
    if (!sec__packet_key_seal(s->tx, u->pn, u->packet, SEC__SHORT_LEN,
                              u->packet + SEC__SHORT_LEN, u->len)) {
        s->failed = true;
    }
    return !s->failed;
}

bool sec__seal_put(sec__seal *s, uint64_t pn, uint8_t *packet, size_t len) {
    bool batches = sec__packet_key_batches(s->tx);
    sec__unsealed u;
    if (!count_one(s, pn) ||
        (s->waits == SEC__SEAL_BATCH && !sec__seal_flush(s))) {
        return false;
    }
    if (batches && s->waiting == NULL) {
        s->waiting = cmn__alloc(s->mem, SEC__SEAL_BATCH * sizeof(*s->waiting));
    }
    u.pn = pn;
    u.packet = packet;
    u.len = len;
    if (!batches || s->waiting == NULL) { /* or without memory */
        return seal_now(s, &u);
    }
    s->waiting[s->waits++] = u;
    return true;
}

bool sec__seal_puts_from(const sec__seal *s) {
    return sec__packet_key_seals_from(s->tx);
}

bool sec__seal_put_from(sec__seal *s, uint64_t pn, uint8_t *packet,
                        const uint8_t *text, size_t len) {
    return count_one(s, pn) &&
           sec__packet_key_seal_from(s->tx, pn, packet, SEC__SHORT_LEN, text,
                                     len, packet + SEC__SHORT_LEN);
}

bool sec__seal_flush(sec__seal *s) {
    for (unsigned i = 0; i < s->waits; i++) {
        (void)seal_now(s, &s->waiting[i]);
    }
    s->waits = 0;
    return !s->failed;
}

static void renew_tx(sec__seal *s) {
    sec__packet_key *fresh;
    uint8_t key[SEC__KEY_LEN];
    (void)sec__seal_flush(s); /* with the keys of the phase in their headers */
    memcpy(key, s->tx_key, sizeof(key));
    fresh = next_key(key) ? sec__packet_key_new(s->suite, key, true) : NULL;
    if (fresh != NULL) { /* without memory: later */
        sec__packet_key_free(s->tx);
        s->tx = fresh;
        memcpy(s->tx_key, key, sizeof(key));
        s->tx_phase++;
        s->sealed = 0;
        s->confirmed = false;
    }
    OPENSSL_cleanse(key, sizeof(key));
}

static bool is_due(const sec__seal *s) {
    return s->tx_phase < s->rx_phase || s->sealed >= s->limit;
}

bool sec__seal_waits(const sec__seal *s) {
    return is_due(s) && !s->confirmed;
}

uint8_t sec__seal_phase(sec__seal *s) {
    if (is_due(s) && s->confirmed) {
        renew_tx(s);
    }
    return (uint8_t)(s->tx_phase & 1);
}

void sec__seal_on_acked(sec__seal *s, uint64_t pn) {
    s->confirmed |= s->sealed > 0 && pn >= s->tx_from;
}

void sec__seal_renew(sec__seal *s) {
    s->sealed = s->sealed > s->limit ? s->sealed : s->limit;
}

/* The peer uses new keys: follows. */
static void go_on(sec__seal *s, uint64_t pn) {
    sec__packet_key_free(s->rx_old);
    s->rx_old = s->rx;
    s->rx = s->rx_next;
    s->rx_next = NULL;
    s->rx_phase++;
    s->rx_from = pn;
}

/* The key for a packet, or NULL. */
static sec__packet_key *rx_key_for(sec__seal *s, uint8_t phase, uint64_t pn) {
    if (phase == (s->rx_phase & 1)) {
        return s->rx;
    }
    if (pn >= s->rx_from && s->rx_next == NULL) {
        s->rx_next = next_rx(s); /* once, however many are forged */
    }
    return pn < s->rx_from ? s->rx_old : s->rx_next;
}

/* A packet was opened with that key. */
static void on_opened(sec__seal *s, const sec__packet_key *key, uint64_t pn) {
    if (key == s->rx_next) {
        go_on(s, pn);
    }
}

bool sec__seal_open(sec__seal *s, uint8_t phase, uint64_t pn,
                    const uint8_t *header, size_t header_len,
                    const uint8_t *text, size_t len, uint8_t *plain) {
    sec__packet_key *key = rx_key_for(s, phase, pn);
    if (key == NULL || len < SEC__TAG_LEN ||
        !sec__packet_key_open(key, pn, header, header_len, text, len, plain,
                              plain == s->plain)) {
        return false;
    }
    on_opened(s, key, pn);
    return true;
}

bool sec__seal_open_packet(sec__seal *s, uint8_t phase, uint64_t pn,
                           uint8_t *packet, size_t len) {
    sec__packet_key *key = rx_key_for(s, phase, pn);
    uint8_t header[SEC__SHORT_LEN];
    uint8_t *text = packet + sizeof(header);
    memcpy(header, packet, sizeof(header));
    if (key == NULL || len < SEC__TAG_LEN ||
        !sec__packet_key_open(key, pn, header, sizeof(header), text, len, text,
                              true)) {
        return false;
    }
    on_opened(s, key, pn);
    return true;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The checksum of a file while it is read or written. */
#include "libsaratoga/node/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "libsaratoga/node/errors.h"
#include "libsaratoga/node/file_io.h"

#define PIECE ((size_t)64 * 1024)

saratoga_digest *saratoga__digest_begin(uint32_t type, const uint8_t *key,
                                        size_t key_len) {
    if (type == SARATOGA_HMAC_SHA256) {
        return key_len > 0 ? saratoga_digest_new_keyed(type, key, key_len)
                           : NULL;
    }
    return saratoga_digest_new(type);
}

int saratoga__hash_init(struct saratoga__hash *h, const uint8_t *key,
                        size_t key_len) {
    int rv = uv_mutex_init(&h->lock);

    if (rv != 0) {
        return rv;
    }
    rv = uv_cond_init(&h->idle);
    if (rv != 0) {
        uv_mutex_destroy(&h->lock);
    }
    h->key = key;
    h->key_len = key_len;
    return rv;
}

void saratoga__hash_free(struct saratoga__hash *h) {
    saratoga_digest_free(h->digest);
    uv_cond_destroy(&h->idle);
    uv_mutex_destroy(&h->lock);
}

/* --- The computing thread ------------------------------------------------ */

static void claim(struct saratoga__hash *h) {
    uv_mutex_lock(&h->lock);
    while (h->busy) {
        uv_cond_wait(&h->idle, &h->lock);
    }
    h->busy = true;
    uv_mutex_unlock(&h->lock);
}

static void hash_release(struct saratoga__hash *h) {
    uv_mutex_lock(&h->lock);
    h->busy = false;
    uv_cond_signal(&h->idle);
    uv_mutex_unlock(&h->lock);
}

/* Called by the computing thread. */
static void hash_forget(struct saratoga__hash *h) {
    saratoga_digest_free(h->digest);
    h->digest = NULL;
    h->status = 0;
    uv_mutex_lock(&h->lock);
    h->at = 0;
    uv_mutex_unlock(&h->lock);
}

void saratoga__hash_reset(struct saratoga__hash *h) {
    claim(h);
    hash_forget(h);
    h->known = 0;
    hash_release(h);
}

int saratoga__hash_begin(struct saratoga__hash *h, uint32_t type) {
    int rv;

    claim(h);
    if (h->digest == NULL || h->type != type) {
        hash_forget(h);
        h->type = type;
        h->digest = saratoga__digest_begin(type, h->key, h->key_len);
    }
    rv = h->digest != NULL ? 0 : UV_ENOMEM;
    hash_release(h);
    return rv;
}

/* --- Bytes --------------------------------------------------------------- */

static void add(struct saratoga__hash *h, const uint8_t *bytes, size_t len) {
    if (saratoga_digest_update(h->digest, bytes, len) != 0) {
        h->status = UV_EIO;
    }
    uv_mutex_lock(&h->lock);
    h->at += len;
    uv_mutex_unlock(&h->lock);
}

void saratoga__hash_offer(struct saratoga__hash *h, uint64_t offset,
                          const uint8_t *bytes, size_t len, bool leisure) {
    bool next;

    uv_mutex_lock(&h->lock);
    if (offset <= h->known && offset + len > h->known) {
        h->known = offset + len;
    }
    next = leisure && !h->busy && h->digest != NULL && offset == h->at;
    h->busy = h->busy || next;
    uv_mutex_unlock(&h->lock);
    if (next) {
        add(h, bytes, len);
        hash_release(h);
    }
}

static int add_from(struct saratoga__hash *h, int fd, uint64_t end,
                    uint8_t *piece) {
    uint64_t left = end - h->at;
    size_t want = left < PIECE ? (size_t)left : PIECE;
    int64_t n = saratoga__read_at(fd, piece, want, h->at);

    if (n != (int64_t)want) {
        return n < 0 ? (int)n : SARATOGA__CHANGED;
    }
    add(h, piece, want);
    return h->status;
}

/* Whether data is left to compute; if not, the computing thread stops. */
static bool is_behind(struct saratoga__hash *h, uint64_t *end) {
    bool behind;

    uv_mutex_lock(&h->lock);
    behind = h->at < h->known;
    *end = h->known;
    h->busy = behind;
    if (!behind) {
        uv_cond_signal(&h->idle);
    }
    uv_mutex_unlock(&h->lock);
    return behind;
}

static void know(struct saratoga__hash *h, uint64_t end) {
    uv_mutex_lock(&h->lock);
    h->known = end > h->known ? end : h->known;
    uv_mutex_unlock(&h->lock);
}

int saratoga__hash_catch_up(struct saratoga__hash *h, int fd, uint64_t end) {
    uint8_t *piece = malloc(PIECE);
    int rv = piece != NULL ? 0 : UV_ENOMEM;

    if (rv == 0) {
        claim(h);
        know(h, end);
        while (rv == 0 && is_behind(h, &end)) {
            rv = add_from(h, fd, end, piece);
        }
        if (rv != 0) {
            hash_release(h);
        }
    }
    free(piece);
    return rv;
}

uint64_t saratoga__hash_at(struct saratoga__hash *h) {
    uint64_t at;

    uv_mutex_lock(&h->lock);
    at = h->at;
    uv_mutex_unlock(&h->lock);
    return at;
}

int saratoga__hash_end(struct saratoga__hash *h, uint8_t *digest) {
    int rv;

    claim(h);
    rv = h->status;
    if (rv == 0 && saratoga_digest_final(h->digest, digest) != 0) {
        rv = UV_EIO;
    }
    hash_forget(h);
    hash_release(h);
    return rv;
}

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_HASH_H
#define LIBSARATOGA_NODE_HASH_H

#include <saratoga/digest.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

/*
 * The checksum of a file, computed from its beginning while the file is read or
 * written.
 *
 * Readers and writers offer their bytes: bytes that come next are added and
 * need not be read again. Bytes not offered in order are read from the file.
 * One thread at a time computes; the others skip or wait.
 */

struct saratoga__hash {
    uv_mutex_t lock;
    uv_cond_t idle;
    const uint8_t *key; /* for types that need one */
    size_t key_len;
    saratoga_digest *digest; /* NULL: none */
    uint32_t type;
    int status;     /* result of the computation: 0 or UV_E... */
    uint64_t at;    /* bytes included */
    uint64_t known; /* bytes that the file is known to hold */
    bool busy;      /* a thread is computing */
};

/* Starts a checksum, with the key if it needs one; NULL: not available. */
saratoga_digest *saratoga__digest_begin(uint32_t type, const uint8_t *key,
                                        size_t key_len);

/* Returns 0 or UV_E...; the key stays the caller's. */
int saratoga__hash_init(struct saratoga__hash *h, const uint8_t *key,
                        size_t key_len);
void saratoga__hash_free(struct saratoga__hash *h);
/* Starts from the first byte, unless one of that type is running.  Returns 0 or
 * UV_ENOMEM. */
int saratoga__hash_begin(struct saratoga__hash *h, uint32_t type);
/* Discards the computation. */
void saratoga__hash_reset(struct saratoga__hash *h);
/* Offers bytes of the file that were just read or written. `leisure`: there is
 * time to add them. */
void saratoga__hash_offer(struct saratoga__hash *h, uint64_t offset,
                          const uint8_t *bytes, size_t len, bool leisure);
/* Adds all bytes up to `end`, and those that become known meanwhile, from the
 * file. Returns 0, UV_E... or SARATOGA__CHANGED: the file is too short. */
int saratoga__hash_catch_up(struct saratoga__hash *h, int fd, uint64_t end);
/* Bytes included so far; a thread may be adding more. */
uint64_t saratoga__hash_at(struct saratoga__hash *h);
/* Ends it.  Returns 0 or UV_E... */
int saratoga__hash_end(struct saratoga__hash *h, uint8_t *digest);

#endif /* LIBSARATOGA_NODE_HASH_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_HASH_H
#define LIBSARATOGA_NODE_HASH_H

#include <saratoga/digest.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

/*
 * The checksum of a file, computed from its beginning on while the file is read
 * or written.
 *
 * Those who have bytes at hand offer them: they count when they are the next,
 * and so need not be read again.  What was not offered in order is read from
 * the file.  One thread at a time computes; the others pass by or wait.
 */

struct saratoga__hash {
    uv_mutex_t lock;
    uv_cond_t idle;
    const uint8_t *key; /* of the types that need one */
    size_t key_len;
    saratoga_digest *digest; /* NULL: none */
    uint32_t type;
    int status;     /* of the computation: 0 or UV_E... */
    uint64_t at;    /* bytes in it */
    uint64_t known; /* bytes that the file is known to hold */
    bool busy;      /* a thread is at it */
};

/* A checksum, with the key if it needs one; NULL: not available. */
saratoga_digest *saratoga__digest_begin(uint32_t type, const uint8_t *key,
                                        size_t key_len);

/* Returns 0 or UV_E...; the key stays the caller's. */
int saratoga__hash_init(struct saratoga__hash *h, const uint8_t *key,
                        size_t key_len);
void saratoga__hash_free(struct saratoga__hash *h);
/* From the first byte on, unless one of that type is running.  Returns 0 or
 * UV_ENOMEM. */
int saratoga__hash_begin(struct saratoga__hash *h, uint32_t type);
/* Forgets what was computed. */
void saratoga__hash_reset(struct saratoga__hash *h);
/* These bytes of the file were just read or written.  `leisure`: there is time
 * to add them. */
void saratoga__hash_offer(struct saratoga__hash *h, uint64_t offset,
                          const uint8_t *bytes, size_t len, bool leisure);
/* Adds all up to `end`, and what becomes known meanwhile, from the file.
 * Returns 0, UV_E... or SARATOGA__CHANGED: it is too short. */
int saratoga__hash_catch_up(struct saratoga__hash *h, int fd, uint64_t end);
/* Bytes in it so far; a thread may be adding more. */
uint64_t saratoga__hash_at(struct saratoga__hash *h);
/* Ends it.  Returns 0 or UV_E... */
int saratoga__hash_end(struct saratoga__hash *h, uint8_t *digest);

#endif /* LIBSARATOGA_NODE_HASH_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_CHALLENGE_H
#define LIBSARATOGA_CHALLENGE_H

#include <stdbool.h>
#include <stdint.h>

#define SARATOGA__CHALLENGE_LEN 16u /* a timestamp */
#define SARATOGA__CHALLENGES 16u

/* The challenges that peers sent to this engine's REQUESTs.  A signed REQUEST
 * names the newest of its server.  One serves for many REQUESTs; a server that
 * takes it no more sends another. */

typedef struct saratoga__challenge {
    uint32_t id; /* of the transfer that it was made for */
    uint8_t timestamp[SARATOGA__CHALLENGE_LEN];
} saratoga__challenge;

typedef struct saratoga__challenge_of {
    saratoga__challenge challenge;
    uint64_t host;
    bool used;
} saratoga__challenge_of;

typedef struct saratoga__challenges {
    saratoga__challenge_of of[SARATOGA__CHALLENGES];
    uint32_t next; /* to be replaced */
} saratoga__challenges;

/* The host's newest; zeroed when none is known. */
saratoga__challenge saratoga__challenges_find(const saratoga__challenges *c,
                                              uint64_t host);
void saratoga__challenges_learn(saratoga__challenges *c, uint64_t host,
                                uint32_t id, const uint8_t *timestamp);

#endif /* LIBSARATOGA_CHALLENGE_H */

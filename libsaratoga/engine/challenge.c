/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/engine/challenge.h"

#include <string.h>

static uint32_t challenges_at(const saratoga__challenges *c, uint64_t host) {
    uint32_t i = 0;

    while (i < SARATOGA__CHALLENGES &&
           !(c->of[i].used && c->of[i].host == host)) {
        i++;
    }
    return i;
}

saratoga__challenge saratoga__challenges_find(const saratoga__challenges *c,
                                              uint64_t host) {
    uint32_t i = challenges_at(c, host);

    return i < SARATOGA__CHALLENGES ? c->of[i].challenge
                                    : (saratoga__challenge){0};
}

void saratoga__challenges_learn(saratoga__challenges *c, uint64_t host,
                                uint32_t id, const uint8_t *timestamp) {
    uint32_t i = challenges_at(c, host);

    if (i == SARATOGA__CHALLENGES) {
        i = c->next;
        c->next = (c->next + 1) % SARATOGA__CHALLENGES;
    }
    c->of[i].used = true;
    c->of[i].host = host;
    c->of[i].challenge.id = id;
    memcpy(c->of[i].challenge.timestamp, timestamp, SARATOGA__CHALLENGE_LEN);
}

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_PLACES_H
#define LIBSARATOGA_NODE_PLACES_H

#include <stdbool.h>

#include "internal/common/tally.h"
#include "internal/net/route.h"

/* Limits the hosts served at once, and those of one network, so that an
 * attacker with many addresses cannot exclude others. */

#define SARATOGA__NETWORKS 3 /* of an IPv6 address: /64, /56, /48 */

typedef struct saratoga__place_key {
    uint64_t host;                        /* token; 0: no place */
    uint64_t network[SARATOGA__NETWORKS]; /* tokens; 0: IPv4 */
} saratoga__place_key;

struct saratoga__places {
    cmn__tally transfers; /* by host */
    cmn__tally hosts;     /* by network */
    unsigned count;       /* hosts */
};

void saratoga__places_init(struct saratoga__places *p);
void saratoga__places_free(struct saratoga__places *p);
/* Counts a transfer with the host `remote`, of at most `max` hosts; 0: no
 * limit. False: no place; nothing is counted. */
bool saratoga__places_enter(struct saratoga__places *p, unsigned max,
                            const uint8_t *key, const net__addr *remote,
                            saratoga__place_key *place);
/* Removes that transfer from the count; does nothing without a place. */
void saratoga__places_leave(struct saratoga__places *p,
                            saratoga__place_key *place);

#endif /* LIBSARATOGA_NODE_PLACES_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_SECTION_H
#define LIBTLTCP_SECTION_H

#include <tltcp/types.h>

/* One section on its way out. */

enum tltcp__section_state {
    TLTCP__SECTION_LIVE,
    TLTCP__SECTION_EXPIRED, /* past its deadline, or given up before */
    TLTCP__SECTION_DONE     /* its fate is reported */
};

typedef struct tltcp__section {
    uint64_t start, end; /* stream offsets */
    uint64_t acked;      /* bytes of it */
    uint64_t tag;
    uint64_t refers; /* number of the section that it is dropped with; its own:
                      * none */
    uint64_t after;  /* number of the section that it cannot pass, but as this
                        leaves ahead too; its own: none */
    tltcp_time deadline;
    tltcp_time due; /* when it should be there; not after the deadline */
    tltcp_time written;
    uint32_t flying;  /* pieces of it in packets in flight */
    uint32_t slot;    /* in the heap of deadlines */
    uint32_t depends; /* sections back to what it refers to; 0: to none */
    uint8_t state;
    uint8_t cls;    /* tltcp_class */
    uint8_t stream; /* below TL_STREAMS_MAX */
    uint8_t cause;  /* tltcp_cause */
    bool sent;      /* a byte of it left */
    bool ahead;     /* before its turn */
    bool wanted;    /* a later one refers to it */
    bool lost;      /* it is known that it will not arrive whole */
} tltcp__section;

#endif /* LIBTLTCP_SECTION_H */

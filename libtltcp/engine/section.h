/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_SECTION_H
#define LIBTLTCP_SECTION_H

#include <tltcp/types.h>

/* A section being sent. */

enum tltcp__section_state {
    TLTCP__SECTION_LIVE,
    TLTCP__SECTION_EXPIRED, /* past its deadline, or given up earlier */
    TLTCP__SECTION_DONE     /* its fate is reported */
};

typedef struct tltcp__section {
    uint64_t start, end; /* stream offsets */
    uint64_t acked;      /* bytes acknowledged */
    uint64_t tag;
    uint64_t refers; /* number of the section it depends on and is dropped with;
                        its own: none */
    uint64_t after;  /* number of the section that it cannot overtake unless
                        that leaves ahead too; its own: none */
    tltcp_time deadline;
    tltcp_time due; /* when it should arrive; not after the deadline */
    tltcp_time written;
    uint32_t flying;  /* number of its pieces in flight */
    uint32_t slot;    /* index in the heap of deadlines */
    uint32_t depends; /* distance in sections to its dependency; 0: none */
    /* Those that refer to it, from the newest on: */
    uint32_t newest; /* distance to that one; 0: there is none */
    uint32_t before; /* distance back to the one that refers to the same
                        section; 0: there is none */
    uint8_t state;
    uint8_t cls;    /* tltcp_class */
    uint8_t stream; /* below TL_STREAMS_MAX */
    uint8_t cause;  /* tltcp_cause */
    bool sent;      /* at least one byte was sent */
    bool ahead;     /* it leaves before its turn */
    bool lost;      /* it will certainly not arrive whole */
} tltcp__section;

#endif /* LIBTLTCP_SECTION_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_DEPENDENCIES_H
#define LIBTLTCP_DEPENDENCIES_H

#include <tltcp/config.h>

#include "internal/common/ranges.h"
#include "libtltcp/engine/section.h"

/* Dependencies among sections, which sections are lost, and the cadence of
 * those that others need. Allocated when the first section with a class is
 * written; many connections need none. */

/* The cadence of the sections of a stream that others need; times in ns. */
typedef struct tltcp__cadence {
    tltcp_time last;     /* when the newest was written; 0: none yet */
    tltcp_time last_key; /* likewise for the newest KEY */
    tltcp_time gap;      /* mean interval; 0: not known */
    tltcp_time gop;      /* interval of KEYs; 0: not known */
    uint64_t count;      /* number since the newest KEY, inclusive */
    tltcp_time due[2];   /* time from writing to due: REFERENCE, KEY */
    tltcp_time dead[2];  /* time from writing to the deadline, likewise */
    double bytes[2];     /* size of a REFERENCE, smoothed; of the newest KEY */
} tltcp__cadence;

typedef struct tltcp__stream {
    uint64_t reference;  /* newest KEY or REFERENCE, plus one; 0: none */
    uint64_t picture;    /* newest picture, likewise */
    uint64_t key;        /* newest KEY, likewise */
    uint64_t disposable; /* newest DISPOSABLE, likewise */
    uint64_t newest;     /* of any class, likewise */
    tltcp_time broken;   /* since when a loss affects later sections; 0: none */
    tltcp__cadence cadence;
} tltcp__stream;

typedef struct tltcp__dependencies {
    cmn__ranges lost; /* numbers of the newest lost sections */
    tltcp__stream stream[TL_STREAMS_MAX];
    uint32_t policy; /* tltcp_drop_policy */
} tltcp__dependencies;

void tltcp__dependencies_init(tltcp__dependencies *d, const cmn__mem *mem,
                              uint32_t policy);
void tltcp__dependencies_free(tltcp__dependencies *d);

/* Sets the dependencies of a written section (depends, refers, after) and
 * updates the cadence. */
void tltcp__dependencies_on_written(tltcp__dependencies *d, uint64_t number,
                                    tltcp__section *s, uint32_t depends);
/* The section will not arrive whole. 0 or TLTCP_ERR_NOMEM. */
int tltcp__dependencies_on_lost(tltcp__dependencies *d, uint64_t number,
                                const tltcp__section *s);
/* Whether a dependency of the section is lost. Sections without a deadline are
 * reliable and never given up. */
bool tltcp__dependencies_lost(const tltcp__dependencies *d, uint64_t number,
                              const tltcp__section *s);

#endif /* LIBTLTCP_DEPENDENCIES_H */

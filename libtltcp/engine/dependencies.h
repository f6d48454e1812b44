/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_DEPENDENCIES_H
#define LIBTLTCP_DEPENDENCIES_H

#include <tltcp/config.h>

#include "internal/common/ranges.h"
#include "libtltcp/engine/section.h"

/* Dependencies among sections, which of them are lost, and the cadence of those
 * that others need.  Made when the first section with a class is written: most
 * connections need none. */

/* The cadence of a stream's sections that others need; times in ns. */
typedef struct tltcp__cadence {
    tltcp_time last;     /* the newest was written; 0: none yet */
    tltcp_time last_key; /* likewise the newest KEY */
    tltcp_time gap;      /* between two on average; 0: not known */
    tltcp_time gop;      /* between two KEYs; 0: not known */
    uint64_t count;      /* since the newest KEY, and it */
    tltcp_time due[2];   /* from writing to due: REFERENCE, KEY */
    tltcp_time dead[2];  /* from writing to the deadline, likewise */
    double bytes[2];     /* of a REFERENCE, smoothed; of the newest KEY */
} tltcp__cadence;

typedef struct tltcp__stream {
    uint64_t reference;  /* newest KEY or REFERENCE, plus one; 0: none */
    uint64_t picture;    /* newest picture, likewise */
    uint64_t key;        /* newest KEY, likewise */
    uint64_t disposable; /* newest DISPOSABLE, likewise */
    uint64_t newest;     /* of any class, likewise */
    tltcp_time broken;   /* a loss has harmed what follows since; 0: none has */
    tltcp__cadence cadence;
} tltcp__stream;

typedef struct tltcp__dependencies {
    cmn__ranges lost; /* numbers of lost sections, of the newest ones */
    tltcp__stream stream[TL_STREAMS_MAX];
    uint32_t policy; /* tltcp_drop_policy */
} tltcp__dependencies;

void tltcp__dependencies_init(tltcp__dependencies *d, const cmn__mem *mem,
                              uint32_t policy);
void tltcp__dependencies_free(tltcp__dependencies *d);

/* A section was written: sets its dependencies (depends, refers, after) and
 * learns the cadence. */
void tltcp__dependencies_on_written(tltcp__dependencies *d, uint64_t number,
                                    tltcp__section *s, uint32_t depends);
/* It will not arrive whole.  0 or TLTCP_ERR_NOMEM. */
int tltcp__dependencies_on_lost(tltcp__dependencies *d, uint64_t number,
                                const tltcp__section *s);
/* Whether what a section refers to is lost.  What has no deadline is reliable,
 * and is not given up for them. */
bool tltcp__dependencies_lost(const tltcp__dependencies *d, uint64_t number,
                              const tltcp__section *s);

#endif /* LIBTLTCP_DEPENDENCIES_H */

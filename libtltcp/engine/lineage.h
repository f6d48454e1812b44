/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_LINEAGE_H
#define LIBTLTCP_LINEAGE_H

#include <tltcp/config.h>

#include "internal/common/ranges.h"
#include "libtltcp/engine/section.h"

/* Which section refers to which, which are lost, and in what rhythm those come
 * that others need.  Made when the first section with a class is written: most
 * connections do without. */

/* The rhythm of a stream's sections that others need; times in ns. */
typedef struct tltcp__rhythm {
    tltcp_time last;     /* the newest was written; 0: none yet */
    tltcp_time last_key; /* likewise the newest KEY */
    tltcp_time gap;      /* between two on average; 0: not known */
    tltcp_time gop;      /* between two KEYs; 0: not known */
    uint64_t count;      /* since the newest KEY, and it */
    tltcp_time due[2];   /* from writing to due: REFERENCE, KEY */
    tltcp_time dead[2];  /* from writing to the deadline, likewise */
    double bytes[2];     /* of a REFERENCE, smoothed; of the newest KEY */
} tltcp__rhythm;

typedef struct tltcp__stream {
    uint64_t reference; /* newest KEY or REFERENCE, plus one; 0: none */
    uint64_t picture;   /* newest picture, likewise */
    uint64_t key;       /* newest KEY, likewise */
    uint64_t newest;    /* of any class, likewise */
    tltcp_time broken;  /* a loss has harmed what follows since; 0: none has */
    tltcp__rhythm rhythm;
} tltcp__stream;

typedef struct tltcp__lineage {
    cmn__ranges lost; /* numbers of lost sections, of the newest ones */
    tltcp__stream stream[TL_STREAMS_MAX];
    uint32_t policy; /* tltcp_drop_policy */
} tltcp__lineage;

void tltcp__lineage_init(tltcp__lineage *l, const cmn__mem *mem,
                         uint32_t policy);
void tltcp__lineage_free(tltcp__lineage *l);

/* A section is written: sets what it refers to (depends, refers, after) and
 * learns from it. */
void tltcp__lineage_on_written(tltcp__lineage *l, uint64_t number,
                               tltcp__section *s, uint32_t depends);
/* It will not arrive whole.  0 or TLTCP_ERR_NOMEM. */
int tltcp__lineage_on_lost(tltcp__lineage *l, uint64_t number,
                           const tltcp__section *s);
/* Whether what a section refers to is lost.  What has no deadline is reliable,
 * and no orphan. */
bool tltcp__lineage_is_orphan(const tltcp__lineage *l, uint64_t number,
                              const tltcp__section *s);

#endif /* LIBTLTCP_LINEAGE_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_JOBS_H
#define LIBSARATOGA_JOBS_H

#include <saratoga/event.h>

#include "internal/common/mem.h"

/* Work on files that waits for the driver, or that the driver is doing.  Jobs
 * belong to the node: the buffer of one stays until the driver has answered,
 * even when its session is gone. */

enum saratoga__job_state {
    SARATOGA__JOB_HELD,   /* being filled, or done and kept for its buffer */
    SARATOGA__JOB_QUEUED, /* the driver has not seen it */
    SARATOGA__JOB_ISSUED  /* the driver is at it */
};

typedef struct saratoga__job {
    uint64_t id;
    saratoga_handle handle;
    struct saratoga__job *next; /* queued, or spare */
    enum saratoga__job_state state;
    bool orphan; /* nobody waits for it */
    uint32_t type;
    uint32_t checksum;
    uint64_t offset;
    uint64_t length;
    size_t len;
    uint8_t *buf;
    size_t cap;
    uint8_t digest[SARATOGA_CHECKSUM_MAX];
} saratoga__job;

typedef struct saratoga__jobs {
    const cmn__mem *mem;
    saratoga__job **slot;
    uint32_t n_slots;
    uint32_t free_hint;
    uint64_t serial;
    saratoga__job *first; /* queue */
    saratoga__job *last;
    saratoga__job *spare; /* jobs with buffers, not in use */
    uint32_t spares;
    bool unseen; /* queued since the driver last looked */
} saratoga__jobs;

void saratoga__jobs_init(saratoga__jobs *j, const cmn__mem *mem);
/* Frees all, also what the driver still has. */
void saratoga__jobs_free(saratoga__jobs *j);
/* A held job with a buffer of at least cap bytes (0: none), or NULL. */
saratoga__job *saratoga__jobs_new(saratoga__jobs *j, saratoga_handle handle,
                                  uint32_t type, size_t cap);
void saratoga__jobs_submit(saratoga__jobs *j, saratoga__job *job);
/* Its session does not want it any more. */
void saratoga__jobs_drop(saratoga__jobs *j, saratoga__job *job);
/* The next one for the driver, or NULL. */
saratoga__job *saratoga__jobs_issue(saratoga__jobs *j);
/* The issued job of that id, now held, or NULL. */
saratoga__job *saratoga__jobs_finish(saratoga__jobs *j, uint64_t id);

#endif /* LIBSARATOGA_JOBS_H */

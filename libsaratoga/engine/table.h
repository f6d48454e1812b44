/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_TABLE_H
#define LIBSARATOGA_TABLE_H

#include "internal/common/mem.h"
#include "internal/common/tally.h"

#include <stdbool.h>
#include <stdint.h>

struct saratoga__session;

/* The sessions of an engine by handle, and by host, Id and role. The role is
 * part of the key so that two peers may choose the same Id for opposite
 * directions. */
typedef struct saratoga__key {
    uint64_t host;
    uint32_t id;
    bool sends;
} saratoga__key;

typedef struct saratoga__cell {
    saratoga__key key;
    uint32_t index; /* of the session; UINT32_MAX: free */
    bool gone;      /* removed: continue the search */
} saratoga__cell;

typedef struct saratoga__table {
    const cmn__mem *mem;
    struct saratoga__session **session; /* by index */
    uint32_t *generation;
    saratoga__cell *cell;
    uint32_t cells; /* a power of two */
    uint32_t used;  /* cells in use, including removed ones */
    uint32_t cap;
    uint32_t max;
    uint32_t count;
    uint32_t hint;
    uint64_t salt;
    cmn__tally of_host; /* sessions per host */
} saratoga__table;

void saratoga__table_init(saratoga__table *t, const cmn__mem *mem, uint32_t max,
                          uint64_t salt);
void saratoga__table_free(saratoga__table *t);
/* Assigns an index and a handle.  Returns 0, SARATOGA_ERR_LIMIT or
 * SARATOGA_ERR_NOMEM. */
int saratoga__table_add(saratoga__table *t, struct saratoga__session *s,
                        const saratoga__key *key, uint32_t *index,
                        uint64_t *handle);
void saratoga__table_remove(saratoga__table *t, uint32_t index,
                            const saratoga__key *key);
/* Changes the key of a session; false: no memory, nothing changed. */
bool saratoga__table_rekey(saratoga__table *t, uint32_t index,
                           const saratoga__key *old, const saratoga__key *key);
struct saratoga__session *saratoga__table_by_handle(const saratoga__table *t,
                                                    uint64_t handle);
struct saratoga__session *saratoga__table_by_key(const saratoga__table *t,
                                                 const saratoga__key *key);
/* Stops counting one of a host's sessions, or counts it again before its
 * removal. */
void saratoga__table_discount(saratoga__table *t, uint64_t host);
void saratoga__table_recount(saratoga__table *t, uint64_t host);
/* Number of sessions of a host. */
uint64_t saratoga__table_of_host(const saratoga__table *t, uint64_t host);

#endif /* LIBSARATOGA_TABLE_H */

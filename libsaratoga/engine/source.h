/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_SOURCE_H
#define LIBSARATOGA_SOURCE_H

#include <saratoga/config.h>

#include "internal/common/ranges.h"
#include "libsaratoga/engine/work_queue.h"

/* Reads ahead the data to be sent next, in blocks. */

typedef struct saratoga__block {
    saratoga__work_item *work; /* NULL: free */
    bool ready;
} saratoga__block;

typedef struct saratoga__source {
    saratoga__work_queue *queue;
    saratoga_handle handle;
    saratoga__block *block;
    uint32_t n_blocks;
    uint32_t newest; /* last one copied from */
    size_t block_len;
    size_t payload;
    uint64_t size; /* of the file */
    bool aligned;  /* blocks and packets end at multiples of payload */
} saratoga__source;

/* Blocks are as o says, but whole multiples of payload.  Returns 0 or
 * SARATOGA_ERR_NOMEM. */
int saratoga__source_init(saratoga__source *s, saratoga__work_queue *queue,
                          saratoga_handle handle, const saratoga_options *o,
                          size_t payload, uint64_t size);
void saratoga__source_free(saratoga__source *s);
/* Requests the first data of `todo` and releases blocks it does not need.
 * Without `ahead`, reads only one packet's worth. */
void saratoga__source_plan(saratoga__source *s, const cmn__ranges *todo,
                           bool ahead);
/* Copies len bytes from offset; false: not here yet. */
bool saratoga__source_copy(saratoga__source *s, uint64_t offset, void *out,
                           size_t len);
/* A read has ended.  Returns 0 or a saratoga_error: the file has shrunk or
 * cannot be read. */
int saratoga__source_on_read(saratoga__source *s, saratoga__work_item *work,
                             int64_t result);

#endif /* LIBSARATOGA_SOURCE_H */

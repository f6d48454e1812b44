/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_SINK_H
#define LIBSARATOGA_SINK_H

#include "internal/common/ranges.h"
#include "libsaratoga/engine/work_queue.h"

/* Passes received bytes on in pieces, then digests the file from its start and
 * commits it.
 *
 * A piece grows while others are being written, so a slow disk gets large
 * writes and an idle disk gets everything that arrived since the last write. */

typedef struct saratoga__sink {
    saratoga__work_queue *queue;
    saratoga_handle handle;
    saratoga__work_item *open;  /* being filled; may be submitted already */
    saratoga__work_item *order; /* TRUNCATE, DIGEST or COMMIT under way */
    cmn__ranges held;           /* written */
    size_t block_len;
    uint32_t writing; /* with the caller */
    uint32_t limit;   /* limit of writing */
    uint64_t digested;
    bool committed;
} saratoga__sink;

void saratoga__sink_init(saratoga__sink *s, saratoga__work_queue *queue,
                         saratoga_handle handle, uint32_t limit,
                         size_t block_len, uint32_t max_holes);
void saratoga__sink_free(saratoga__sink *s);
/* Whether there is room for len bytes at offset. */
bool saratoga__sink_has_room(const saratoga__sink *s, uint64_t offset,
                             size_t len);
/* Stores bytes; false: no memory. */
bool saratoga__sink_put(saratoga__sink *s, uint64_t offset, const void *data,
                        size_t len);
/* Submits the piece being collected. */
void saratoga__sink_flush(saratoga__sink *s);
/* Discards everything, including the file's contents. */
bool saratoga__sink_truncate(saratoga__sink *s);
/* Digests more of the file, if enough is there and no other work is in
 * progress.  `all`: up to the last byte held. */
void saratoga__sink_digest(saratoga__sink *s, uint32_t checksum, bool all);
/* Whether [0, size) is written. */
bool saratoga__sink_is_whole(const saratoga__sink *s, uint64_t size);
/* Commits the file; digest as in saratoga_work. */
bool saratoga__sink_commit(saratoga__sink *s, uint32_t checksum,
                           const uint8_t *digest, uint64_t size);
/* Work has ended; returns 0 or the error. */
int saratoga__sink_on_done(saratoga__sink *s, saratoga__work_item *work,
                           int64_t result);

#endif /* LIBSARATOGA_SINK_H */

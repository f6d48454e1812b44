/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_TRANSFER_H
#define LIBSARATOGA_NODE_TRANSFER_H

#include "libsaratoga/node/state.h"

/* The life of a transfer up to its end, which finish.c handles. */

saratoga__file *saratoga__file_new(saratoga_node *u);
/* Puts a new transfer at the head of the node's list. */
static inline void saratoga__file_link(saratoga_node *u, saratoga__file *f) {
    f->next = u->files;
    if (f->next != NULL) {
        f->next->prev = f;
    }
    u->files = f;
    u->n_files++;
}
/* Frees a transfer that no thread and no application uses. */
void saratoga__file_free(saratoga__file *f);
saratoga__file *saratoga__file_find(saratoga_node *u, uint64_t id);
/* Whether a file of that name below the root is in use. */
bool saratoga__file_in_use(const saratoga_node *u, const char *name);
/* Whether the requesting side sends the file. */
bool saratoga__requester_sends(uint32_t request);
bool saratoga__is_stream(const saratoga__file *f);

/* Runs a job on the thread pool; `done` is called in any case. */
void saratoga__file_job(saratoga__file *f, int (*run)(saratoga__file *f),
                        void (*done)(saratoga__file *f, int status));
/* A part of an ended transfer has become idle: finish.c checks it in this turn
 * of the loop. The file stays valid until then. */
void saratoga__file_check(saratoga__file *f);
/* Ends it, whichever side requested it. */
void saratoga__file_cancel(saratoga__file *f);
/* Ends it in the engine for a reason of this side. */
void saratoga__file_stop(saratoga__file *f, int error, unsigned status);
/* Ends it before the engine knows it. */
void saratoga__file_fail(saratoga__file *f, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif /* LIBSARATOGA_NODE_TRANSFER_H */

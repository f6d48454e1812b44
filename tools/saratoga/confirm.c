/* SPDX-License-Identifier: MPL-2.0 */
/* After a take: has the peer deleted its copy? */
#include "tools/saratoga/confirm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Minimum time between two questions, in addition to the round trip: the first
 * may overtake the thread that deletes. */
#define PAUSE_MIN (50 * SARATOGA_MS)
/* A peer that lost the last STATUS requests it with growing pauses. */
#define QUESTIONS_MOST 12
#define LOST_PAUSE_MOST (2 * SARATOGA_S)

bool saratoga_confirm_begin(struct saratoga_task *t,
                            const saratoga_node_event *ev) {
    t->taken = malloc(sizeof(*t->taken));
    if (!t->taken) {
        return false;
    }
    *t->taken = *ev;
    if (t->path[0] == '\0') { /* any file: the peer chose */
        memcpy(t->path, ev->entry.path, sizeof(t->path));
    }
    t->type = SARATOGA_GETDIR;
    t->start_at = 0;
    t->questions = 1;
    return true;
}

static const char *leaf(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_copy(const struct saratoga_task *t, const saratoga_entry *e) {
    return !e->directory && !e->special && e->size == t->taken->entry.size &&
           e->mtime == t->taken->entry.mtime &&
           strcmp(leaf(e->path), leaf(t->path)) == 0;
}

enum saratoga_confirm saratoga_confirm_judge(const struct saratoga_task *t,
                                             const saratoga_node_event *ev) {
    const uint8_t *at = ev->record;
    size_t left = ev->record_len;
    saratoga_entry e;
    size_t n;
    if (ev->error == SARATOGA_ERR_TIMEOUT ||
        ev->error == SARATOGA_ERR_IN_VAIN ||
        ev->error == SARATOGA_ERR_CANCELLED) {
        return SARATOGA_CONFIRM_UNKNOWN;
    }
    while (ev->error == 0 && left > 0 &&
           (n = saratoga_entry_read(at, left, &e)) > 0) {
        if (is_copy(t, &e)) {
            return SARATOGA_CONFIRM_THERE;
        }
        at += n;
        left -= n;
    }
    return SARATOGA_CONFIRM_GONE;
}

bool saratoga_confirm_again(struct saratoga_task *t, uint64_t now) {
    uint64_t pause = PAUSE_MIN << (t->questions < 6 ? t->questions : 6);
    pause = pause < LOST_PAUSE_MOST ? pause : LOST_PAUSE_MOST;
    t->start_at = now + pause + t->taken->stats.srtt_ns;
    return t->questions++ < QUESTIONS_MOST;
}

void saratoga_confirm_end(struct saratoga_task *t, enum saratoga_confirm c) {
    saratoga_node_event *ev = t->taken;
    t->type = SARATOGA_TAKE;
    if (c == SARATOGA_CONFIRM_GONE) {
        return;
    }
    ev->error = SARATOGA_ERR_IO;
    (void)snprintf(ev->text, sizeof(ev->text), "%s",
                   c == SARATOGA_CONFIRM_THERE
                       ? "it is here, but the peer has not deleted its copy"
                       : "it is here, but the peer did not answer whether "
                         "it has deleted its copy");
}

/* SPDX-License-Identifier: MPL-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "saratoga_commands.h"
#include "tool.h"

#define TOOL "saratoga"
#define PORT "7542"

/* A ground station: looks, fetches what is new, waits for the next pass. */

static void on_done(struct saratoga_batch *b, const struct saratoga_task *t,
                    const saratoga_uv_event *ev) {
    if (t->type == SARATOGA_GETDIR && ev->error == 0) {
        saratoga_fetch_record(b, t, ev, true);
    }
    if (b->unreachable) { /* the pass is over; what is left waits */
        (void)saratoga_batch_drop(b);
    }
}

static void on_peer(struct saratoga_batch *b, const struct saratoga_task *t,
                    const saratoga_uv_event *ev) {
    bool *heard = b->user;
    (void)t;
    if ((ev->abilities & SARATOGA_WILLING_TO_SEND) != 0) {
        *heard = true;
    }
}

/* One look, and all that follows from it.  False: the URL is wrong. */
static bool look(struct saratoga_batch *b) {
    struct saratoga_task *t =
        saratoga_task_for(b->args->word[0], SARATOGA_GETDIR);
    if (!t) {
        return false;
    }
    (void)snprintf(t->folder, sizeof(t->folder), "%s", b->args->word[1]);
    t->resume = true;
    saratoga_batch_add(b, t);
    saratoga_batch_run(b);
    return true;
}

static void passes(struct saratoga_batch *b, bool *heard) {
    const struct saratoga_args *a = b->args;
    bool whole = false;
    while (!tool_is_stopped() && !(whole && a->once)) {
        unsigned failed = b->failed;
        *heard = false;
        if (!look(b)) {
            return;
        }
        whole = b->failed == failed;
        if (!(whole && a->once)) {
            saratoga_batch_wait(b, a->interval, heard);
        }
        b->failed = whole || !tool_is_stopped() ? 0 : b->failed;
    }
}

int saratoga_mirror(const struct saratoga_args *a) {
    struct saratoga_batch b;
    bool heard = false;
    int rc;
    if (mkdir(a->word[1], 0777) != 0 && errno != EEXIST) {
        return tool_fail(TOOL, "%s: %s", a->word[1], strerror(errno));
    }
    rc = saratoga_batch_open(&b, a, a->bind ? NULL : PORT, true);
    if (rc == TOOL_OK) {
        b.on_done = on_done;
        b.on_peer = on_peer;
        b.user = &heard;
        passes(&b, &heard);
        rc = saratoga_batch_report(&b);
    }
    return saratoga_batch_close(&b, rc);
}

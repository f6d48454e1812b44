/* SPDX-License-Identifier: MPL-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/common/tool.h"
#include "tools/saratoga/commands.h"
#include "tools/saratoga/report.h"

#define TOOL "saratoga"
#define UNANSWERED (2 * SARATOGA_S)
/* Between two looks, whatever beacons say: anybody can send those. */
#define HOLD_OFF SARATOGA_S

/* A ground station: looks, fetches what is new, waits for the next pass. */

static void on_done(struct saratoga_batch *b, const struct saratoga_task *t,
                    const saratoga_node_event *ev) {
    if (t->type == SARATOGA_GETDIR && ev->error == 0) {
        saratoga_fetch_record(b, t, ev, true);
    }
    if (b->logs && b->hushed && !b->unreachable) {
        char url[SARATOGA_SHOWN];
        saratoga_log("%s: answers again", saratoga_remote(url, t));
    }
    b->hushed = b->unreachable; /* once per gap between passes is enough */
    if (b->unreachable && b->n_running == 0) {
        /* The pass is over; what is left waits. */
        (void)saratoga_batch_drop(b);
    }
}

static void mirror_on_peer(struct saratoga_batch *b,
                           const struct saratoga_task *t,
                           const saratoga_node_event *ev) {
    bool *heard = b->user;
    (void)t;
    if ((ev->abilities & SARATOGA_WILLING_TO_SEND) != 0) {
        *heard = true;
    }
}

/* Without an answer it looks again soon: beacons may not be sent, and a pass is
 * short. */
static uint64_t pause_of(const struct saratoga_batch *b) {
    return b->unreachable && b->args->interval > UNANSWERED ? UNANSWERED
                                                            : b->args->interval;
}

static void wait_for_pass(struct saratoga_batch *b, const bool *heard) {
    uint64_t pause = pause_of(b);
    uint64_t least = pause < HOLD_OFF ? pause : HOLD_OFF;
    saratoga_batch_wait(b, least, NULL);
    saratoga_batch_wait(b, pause - least, heard);
}

/* One look, and all that follows from it. */
static void look(struct saratoga_batch *b) {
    struct saratoga_task *t =
        saratoga_task_for(b->args->word[0], SARATOGA_GETDIR);
    if (!t) {
        b->failed++;
        return;
    }
    (void)snprintf(t->folder, sizeof(t->folder), "%s", b->args->word[1]);
    t->resume = true;
    saratoga_batch_add(b, t);
    saratoga_batch_run(b);
}

static void passes(struct saratoga_batch *b, bool *heard) {
    const struct saratoga_args *a = b->args;
    bool whole = false;
    while (!tool_is_stopped() && !(whole && a->once)) {
        b->failed = 0;
        *heard = false;
        look(b);
        whole = b->failed == 0;
        if (!(whole && a->once)) {
            wait_for_pass(b, heard);
        }
    }
    b->failed = a->once ? b->failed : 0; /* to be stopped is its usual end */
}

int saratoga_mirror(const struct saratoga_args *a) {
    struct saratoga_batch b;
    struct saratoga_url u;
    char why[SARATOGA_URL_WHY];
    bool heard = false;
    int rc;
    if (!saratoga_url_parse(a->word[0], &u, why)) {
        return tool_misuse(TOOL, "%s: %s", a->word[0], why);
    }
    if (mkdir(a->word[1], 0777) != 0 && errno != EEXIST) {
        return tool_fail(TOOL, "%s: %s", a->word[1], strerror(errno));
    }
    rc = saratoga_batch_open(&b, a, a->bind ? NULL : SARATOGA_URL_PORT, true);
    if (rc == TOOL_OK) {
        b.on_done = on_done;
        b.on_peer = mirror_on_peer;
        b.user = &heard;
        b.logs = !a->quiet && !a->once;
        passes(&b, &heard);
        rc = saratoga_batch_report(&b);
    }
    return saratoga_batch_close(&b, rc);
}

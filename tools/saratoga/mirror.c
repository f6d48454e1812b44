/* SPDX-License-Identifier: MPL-2.0 */
/* The verb mirror. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tools/common/tool.h"
#include "tools/saratoga/commands.h"
#include "tools/saratoga/ledger.h"
#include "tools/saratoga/report.h"

#define TOOL "saratoga"
#define UNANSWERED (2 * SARATOGA_S)
/* Minimum time between two checks, whatever beacons announce: anyone can send
 * those. */
#define HOLD_OFF SARATOGA_S

/* A ground station: checks, fetches new files, waits for the next pass. */

struct station {
    struct saratoga_ledger *ledger;
    bool heard; /* a beacon */
};

/* --- Selection ----------------------------------------------------------- */

static bool is_same(const struct stat *st, uint64_t size, int64_t mtime) {
    return S_ISREG(st->st_mode) && (uint64_t)st->st_size == size &&
           st->st_mtime == mtime;
}

static bool is_old_enough(const struct saratoga_args *a,
                          const struct saratoga_task *t) {
    return a->min_age == 0 ||
           t->mtime <= time(NULL) - (int64_t)(a->min_age / SARATOGA_S);
}

static void note_fetched(struct saratoga_batch *b,
                         const struct saratoga_task *t) {
    const struct station *s = b->user;
    if (!saratoga_ledger_add(s->ledger, t->file, t->size, t->mtime)) {
        (void)tool_fail(TOOL, "%s/%s: %s", t->folder, SARATOGA_LEDGER,
                        strerror(errno));
        b->failed++;
    }
}

/* Reports once that a local file blocks a remote one. */
static void keep(struct station *s, const char *path,
                 const struct saratoga_task *t) {
    if (saratoga_ledger_report(s->ledger, t->file)) {
        (void)fprintf(
            stderr,
            "%s: %s is not the fetched file, so it is kept although the "
            "peer has a new one; --overwrite replaces it\n",
            TOOL, path);
    }
}

/* A file that was fetched once is not fetched again, even if it has been moved
 * away; and a local file from elsewhere is not replaced. */
static bool mirror_wants(struct saratoga_batch *b,
                         const struct saratoga_task *t) {
    struct station *s = b->user;
    struct saratoga_ledger_entry *known =
        saratoga_ledger_find(s->ledger, t->file);
    char path[sizeof(t->folder) + sizeof(t->file) + 2];
    struct stat st;
    bool here = saratoga_join(path, sizeof(path), t->folder, t->file) &&
                lstat(path, &st) == 0;
    if (known && known->size == t->size && known->mtime == t->mtime) {
        return false;
    }
    if (here && is_same(&st, t->size, t->mtime)) {
        note_fetched(b, t);
        return false;
    }
    if (here && !b->args->overwrite &&
        !(known && is_same(&st, known->size, known->mtime))) {
        keep(s, path, t);
        return false;
    }
    return is_old_enough(b->args, t);
}

/* --- Checks -------------------------------------------------------------- */

static void on_done(struct saratoga_batch *b, const struct saratoga_task *t,
                    const saratoga_node_event *ev) {
    if (t->type == SARATOGA_GETDIR && ev->error == 0) {
        saratoga_fetch_record(b, t, ev, true);
    } else if (t->type == SARATOGA_GET && ev->error == 0) {
        note_fetched(b, t);
    }
    if (b->logs && b->hushed && !b->unreachable) {
        char url[SARATOGA_SHOWN];
        saratoga_log("%s: answers again", saratoga_remote(url, t));
    }
    b->hushed = b->unreachable; /* one report per gap between passes */
    if (b->unreachable && b->n_running == 0) {
        /* The pass is over; remaining files wait. */
        (void)saratoga_batch_drop(b);
    }
}

static void mirror_on_peer(struct saratoga_batch *b,
                           const struct saratoga_task *t,
                           const saratoga_node_event *ev) {
    struct station *s = b->user;
    (void)t;
    if ((ev->abilities & SARATOGA_WILLING_TO_SEND) != 0) {
        s->heard = true;
    }
}

/* Without an answer it checks again soon: there may be no beacons, and a pass
 * is short. */
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

/* One check and the resulting transfers. */
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

static void passes(struct saratoga_batch *b, struct station *s) {
    const struct saratoga_args *a = b->args;
    bool whole = false;
    while (!tool_is_stopped() && !(whole && a->once)) {
        b->failed = 0;
        s->heard = false;
        look(b);
        whole = b->failed == 0;
        if (!(whole && a->once)) {
            wait_for_pass(b, &s->heard);
        }
    }
    b->failed = a->once ? b->failed : 0; /* a signal is its usual end */
}

int saratoga_mirror(const struct saratoga_args *a) {
    struct saratoga_batch b;
    struct saratoga_url u;
    char why[SARATOGA_URL_WHY];
    struct station s = {NULL, false};
    int rc;
    if (!saratoga_url_parse(a->word[0], &u, why)) {
        return tool_misuse(TOOL, "%s: %s", a->word[0], why);
    }
    if (mkdir(a->word[1], 0777) != 0 && errno != EEXIST) {
        return tool_fail(TOOL, "%s: %s", a->word[1], strerror(errno));
    }
    s.ledger = saratoga_ledger_open(a->word[1]);
    if (!s.ledger) {
        return tool_fail(TOOL, "%s/%s: %s", a->word[1], SARATOGA_LEDGER,
                         strerror(errno));
    }
    rc = saratoga_batch_open(&b, a, a->bind ? NULL : SARATOGA_URL_PORT, true);
    if (rc == TOOL_OK) {
        b.on_done = on_done;
        b.on_peer = mirror_on_peer;
        b.is_wanted = mirror_wants;
        b.user = &s;
        b.logs = !a->quiet && !a->once;
        passes(&b, &s);
        rc = saratoga_batch_report(&b);
    }
    rc = saratoga_batch_close(&b, rc);
    saratoga_ledger_close(s.ledger);
    return rc;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The verbs ls and peers. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tools/common/tool.h"
#include "tools/saratoga/commands.h"
#include "tools/saratoga/report.h"

#define TOOL "saratoga"

/* --- ls ------------------------------------------------------------------ */

static void print_entry(const saratoga_entry *e) {
    time_t t = (time_t)saratoga_time_to_posix(e->mtime, false);
    char when[32] = "";
    char name[SARATOGA_SHOWN];
    struct tm tm;
    if (gmtime_r(&t, &tm)) {
        (void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%SZ", &tm);
    }
    (void)printf("%c %14llu  %s  %s%s\n",
                 e->directory ? 'd' : (char)(e->special ? 's' : '-'),
                 (unsigned long long)e->size, when,
                 saratoga_shown(name, e->path), e->directory ? "/" : "");
}

static json_t *entry_json(const saratoga_entry *e) {
    return json_pack(
        "{s:o, s:s, s:I, s:I}", "path", saratoga_json_text(e->path), "type",
        e->directory ? "directory" : (e->special ? "special" : "file"), "size",
        (json_int_t)e->size, "mtime",
        (json_int_t)saratoga_time_to_posix(e->mtime, false));
}

static void look_on_listed(struct saratoga_batch *b,
                           const struct saratoga_task *t,
                           const saratoga_node_event *ev) {
    const uint8_t *at = ev->record;
    size_t left = ev->error == 0 ? ev->record_len : 0;
    saratoga_entry e;
    size_t n;
    (void)t;
    while (left > 0 && (n = saratoga_entry_read(at, left, &e)) > 0) {
        at += n;
        left -= n;
        if (b->args->json) {
            json_array_append_new(b->reports, entry_json(&e));
        } else {
            print_entry(&e);
        }
    }
    if (left > 0) {
        (void)tool_fail(TOOL, "the list is damaged");
        b->failed++;
    }
}

int saratoga_list(const struct saratoga_args *a) {
    struct saratoga_batch b;
    struct saratoga_task *t = saratoga_task_for(a->word[0], SARATOGA_GETDIR);
    int rc;
    if (!t) {
        return TOOL_USAGE;
    }
    rc = saratoga_batch_open(&b, a, NULL, false);
    saratoga_batch_add(&b, t);
    if (rc == TOOL_OK) {
        b.on_done = look_on_listed;
        saratoga_batch_run(&b);
    }
    if (rc == TOOL_OK && a->json && b.failed == 0) {
        rc = tool_write_json(TOOL, a->json,
                             json_pack("{s:O}", "entries", b.reports));
    }
    return saratoga_batch_close(&b, rc);
}

/* --- peers --------------------------------------------------------------- */

static json_t *peer_json(const saratoga_node_event *ev) {
    json_t *o = json_pack(
        "{s:o, s:s, s:b, s:b}", "eid", saratoga_json_text(ev->eid), "address",
        ev->address, "sends", (ev->abilities & SARATOGA_WILLING_TO_SEND) != 0,
        "receives", (ev->abilities & SARATOGA_WILLING_TO_RECEIVE) != 0);
    if ((ev->abilities & SARATOGA_FREE_SPACE) != 0 &&
        ev->free_kib <= INT64_MAX) {
        json_object_set_new(o, "free_kib",
                            json_integer((json_int_t)ev->free_kib));
    }
    return o;
}

/* Whether a peer is new; from now on it is known. A flood of beacons has
 * thousands of names, so they are looked up, not compared. */
static bool look_is_new(json_t *known, const json_t *peer) {
    const char *address = json_string_value(json_object_get(peer, "address"));
    const char *eid = json_string_value(json_object_get(peer, "eid"));
    json_t *eids = json_object_get(known, address);
    if (!eids) {
        eids = json_object();
        json_object_set_new(known, address, eids);
    }
    return !json_object_get(eids, eid) &&
           json_object_set_new(eids, eid, json_true()) == 0;
}

static void look_on_peer(struct saratoga_batch *b,
                         const struct saratoga_task *t,
                         const saratoga_node_event *ev) {
    json_t *peer;
    (void)t;
    if (json_array_size(b->reports) >= 10000) {
        return;
    }
    peer = peer_json(ev);
    if (!look_is_new(b->user, peer)) {
        json_decref(peer);
        return;
    }
    json_array_append_new(b->reports, peer);
    if (!b->args->json) {
        char name[SARATOGA_SHOWN];
        (void)printf(
            "%-24s %s%s%s\n", ev->address, saratoga_shown(name, ev->eid),
            (ev->abilities & SARATOGA_WILLING_TO_SEND) != 0 ? "  sends" : "",
            (ev->abilities & SARATOGA_WILLING_TO_RECEIVE) != 0 ? "  receives"
                                                               : "");
        (void)fflush(stdout);
    }
}

int saratoga_peers(const struct saratoga_args *a) {
    struct saratoga_batch b;
    json_t *known = json_object();
    int rc = saratoga_batch_open(&b, a, SARATOGA_URL_PORT, true);
    if (rc == TOOL_OK) {
        b.on_peer = look_on_peer;
        b.user = known;
        saratoga_batch_wait(&b, a->wait != 0 ? a->wait : UINT64_MAX, NULL);
        if (a->json) {
            rc = tool_write_json(TOOL, a->json,
                                 json_pack("{s:O}", "peers", b.reports));
        } else if (json_array_size(b.reports) == 0 && !a->quiet) {
            (void)fprintf(stderr,
                          "%s: no beacon was heard; serve --beacon sends "
                          "them\n",
                          TOOL);
        }
    }
    rc = saratoga_batch_close(&b, rc);
    json_decref(known);
    return rc;
}

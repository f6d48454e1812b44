/* SPDX-License-Identifier: MPL-2.0 */
/* The verb serve. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/privileges.h"
#include "tools/common/secrets_watch.h"
#include "tools/common/tool.h"
#include "tools/saratoga/commands.h"
#include "tools/saratoga/node.h"
#include "tools/saratoga/report.h"
#include "tools/saratoga/settings.h"

#define TOOL "saratoga"
#define SLICE_MS 200
#define LAST_SLICES 5 /* for threads that read or write */

static const char *verb(uint32_t request) {
    static const char *const verbs[] = {"noop", "get",    "put",   "take",
                                        "give", "delete", "getdir"};
    return request < sizeof(verbs) / sizeof(verbs[0]) ? verbs[request]
                                                      : "put (blind)";
}

static void log_event(const saratoga_node_event *ev) {
    char name[SARATOGA_SHOWN];
    char how[SARATOGA_OUTCOME];
    if (ev->type == SARATOGA_NODE_SERVED) {
        saratoga_log("%s %s %s: %s", ev->address, verb(ev->request),
                     saratoga_shown(name, ev->path[0] ? ev->path : "/"),
                     saratoga_outcome(how, ev));
    }
}

static bool write_port(const struct saratoga_args *a, saratoga_node *node) {
    char address[SARATOGA_NODE_ADDRESS];
    char fresh[4096];
    FILE *f;
    bool ok;
    if (!a->port_file) {
        return true;
    }
    /* A waiting process sees only the complete file. */
    (void)snprintf(fresh, sizeof(fresh), "%s.new", a->port_file);
    f = fopen(fresh, "we");
    ok = f && saratoga_node_local_address(node, address) == 0 &&
         fprintf(f, "%s\n", address) > 0;
    ok = f && fclose(f) == 0 && ok && rename(fresh, a->port_file) == 0;
    if (!ok) {
        (void)tool_fail(TOOL, "cannot write %s", a->port_file);
    }
    return ok;
}

static bool set_beacons(const struct saratoga_args *a, saratoga_node_config *c,
                        saratoga_config *engine, struct hostport *to,
                        char *name) {
    (void)gethostname(name, SARATOGA_EID_MAX);
    name[SARATOGA_EID_MAX] = '\0';
    engine->eid = a->eid ? a->eid : name;
    engine->beacon_interval = a->beacon;
    if (!a->beacon_to) {
        return true;
    }
    if (!saratoga_place("--beacon-to", a->beacon_to, to)) {
        return false;
    }
    c->beacon_host = to->host;
    c->beacon_service = to->port;
    return true;
}

static bool server_set_group(const struct saratoga_args *a,
                             saratoga_node_config *c, struct hostport *group) {
    if (!a->group) {
        return true;
    }
    if (!saratoga_place("--group", a->group, group)) {
        return false;
    }
    c->group = group->host;
    c->group_service = group->port;
    return true;
}

static void set_limits(const struct saratoga_args *a, saratoga_node_config *c,
                       saratoga_config *engine) {
    c->root = a->root;
    c->may_read = !a->no_read;
    c->may_write = a->write;
    c->may_delete = a->remove;
    c->overwrite = a->overwrite;
    c->streams = a->streams;
    c->quota = a->quota;
    c->join = !saratoga_is_secured(a);
    if (a->max_peers != 0) {
        c->max_peers = (uint32_t)a->max_peers;
    }
    if (a->max_sessions != 0) {
        engine->max_transfers = (uint32_t)a->max_sessions;
    }
    if (a->max_per_peer != 0) {
        engine->max_per_host = (uint32_t)a->max_per_peer;
    }
    if (!c->service) {
        c->service = SARATOGA_URL_PORT;
    }
}

static void tell_callers(const struct saratoga_args *a,
                         struct secrets_rejections *r, saratoga_node *node) {
    char from[SARATOGA_NODE_ADDRESS];
    uint64_t count = saratoga_node_rejected(node, from);
    if (!a->quiet) {
        secrets_tell(r, TOOL, count, from);
    }
}

static bool server_is_same(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void log_rate(const struct saratoga_args *a, uint64_t bps) {
    double unit = bps >= 1000000 ? 1e6 : bps >= 1000 ? 1e3 : 1;
    if (!a->quiet) {
        saratoga_log("rate %g %sbit/s", (double)bps / unit,
                     unit > 1e3 ? "M"
                     : unit > 1 ? "k"
                                : "");
    }
}

static void watch_rate(const struct saratoga_args *a, struct stat *seen,
                       saratoga_node *node) {
    struct stat st;
    const char *wanted;
    uint64_t bps;
    if (!a->rate_file || stat(a->rate_file, &st) != 0 ||
        server_is_same(&st, seen)) {
        return;
    }
    *seen = st;
    wanted = saratoga_rate_in(a->rate_file, &bps);
    if (wanted) {
        (void)tool_fail(TOOL, "--rate-file %s: must be %s; the rate stays",
                        a->rate_file, wanted);
    } else if (saratoga_node_set_rate(node, 0, bps) == 0) {
        log_rate(a, bps);
    }
}

/* What peers send must not lead to more rights than the server needs.  Names
 * have been resolved, and no thread runs yet. */
static void give_up_privileges(const struct saratoga_args *a) {
    char folder[4096];
    struct privileges_path paths[2] = {{a->root, a->write || a->remove}};
    struct privileges keep = {.paths = paths, .count = 1};
    struct privileges_dropped d;
    char text[PRIVILEGES_TEXT];
    if (a->rate_file) {
        paths[keep.count++].path =
            privileges_folder_of(a->rate_file, folder, sizeof(folder));
    }
    d = privileges_drop(&keep);
    if (!a->quiet) {
        saratoga_log("rights that remain: %s", privileges_describe(&d, text));
    }
}

static void log_events(const struct saratoga_args *a, saratoga_node *node) {
    saratoga_node_event ev;
    while (saratoga_node_next_event(node, &ev) == 1) {
        if (!a->quiet) {
            log_event(&ev);
        }
    }
}

/* Reports transfers that are cut off. Peers may ask again meanwhile. */
static void end_served(const struct saratoga_args *a, saratoga_node *node) {
    for (int i = 0; i < LAST_SLICES && saratoga_node_active(node) > 0; i++) {
        (void)saratoga_node_cancel(node, 0);
        saratoga_node_run(node, SLICE_MS);
        log_events(a, node);
    }
}

static void serve(const struct saratoga_args *a, saratoga_node *node) {
    struct secrets_rejections watch = {0};
    struct stat rate = {0};
    char address[SARATOGA_NODE_ADDRESS] = "";
    bool told = false;
    if (!a->quiet && saratoga_node_local_address(node, address) == 0) {
        saratoga_log("serving %s at %s", a->root, address);
    }
    if (a->transfer.rate_bps > 0 && !a->rate_file) {
        log_rate(a, a->transfer.rate_bps);
    }
    give_up_privileges(a);
    while (!tool_is_stopped()) {
        saratoga_node_run(node, SLICE_MS);
        watch_rate(a, &rate, node);
        if (secrets_look(&watch)) {
            tell_callers(a, &watch, node);
            saratoga_tell_mtu(a, node, &told, NULL);
        }
        log_events(a, node);
    }
    tell_callers(a, &watch, node);
    end_served(a, node);
}

int saratoga_serve(const struct saratoga_args *a) {
    saratoga_node_config c;
    saratoga_config engine;
    saratoga_options options = a->transfer;
    struct hostport bind;
    struct hostport to;
    struct hostport group;
    char name[SARATOGA_EID_MAX + 1];
    saratoga_node *node = NULL;
    int rc;
    if (!tool_node_config(a, &c, &engine, &bind) ||
        !set_beacons(a, &c, &engine, &to, name) ||
        !server_set_group(a, &c, &group)) {
        return TOOL_USAGE;
    }
    set_limits(a, &c, &engine);
    engine.transfer = &options;
    rc = tool_node_open(&node, &c);
    if (rc == TOOL_OK && write_port(a, node)) {
        serve(a, node);
    } else {
        rc = TOOL_FAILED;
    }
    saratoga_node_close(node);
    return rc;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Opens a node and runs its loop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sys/statvfs.h>

#include "internal/common/sized.h"
#include "internal/common/strings.h"
#include "libsaratoga/node/address.h"
#include "libsaratoga/node/checkpoint.h"
#include "libsaratoga/node/close.h"
#include "libsaratoga/node/engine_events.h"
#include "libsaratoga/node/errors.h"
#include "libsaratoga/node/finish.h"
#include "libsaratoga/node/multicast.h"
#include "libsaratoga/node/network.h"
#include "libsaratoga/node/options.h"
#include "libsaratoga/node/rate_share.h"
#include "libsaratoga/node/routes.h"
#include "libsaratoga/node/secure.h"
#include "libsaratoga/node/send_file.h"
#include "libsaratoga/node/server.h"
#include "libsaratoga/node/sockets.h"
#include "libsaratoga/node/worker.h"

/* Rounds of events and work per turn of the loop. */
#define ROUNDS 8
#define TICK_MS 250
/* While the socket is full, the engine's timer is not needed. */
#define BLOCKED_WAIT SARATOGA_MS
/* Setting a timer costs more than sending a few packets: everything due within
 * half the engine's timer granularity is sent together. */
#define GRAIN ((uint64_t)NET__TIMER_GRANULARITY_US * 500)

/* --- Turns of the loop --------------------------------------------------- */

static bool drain(saratoga_node *u) {
    saratoga_event ev;
    saratoga_work w;
    bool any = false;

    while (saratoga_engine_next_event(u->engine, &ev) == 1) {
        saratoga__on_event(u, &ev);
        any = true;
    }
    saratoga__finish_all(u); /* what has ended begins no more work */
    while (saratoga_engine_next_work(u->engine, &w) == 1) {
        saratoga__work_start(u, &w);
        any = true;
    }
    return any;
}

static void on_again(uv_idle_t *idle) {
    (void)idle; /* an idle handle keeps the loop from sleeping */
}

static void set_timer(saratoga_node *u) {
    uint64_t wait = net__udp_blocked(u->net.udp) ? BLOCKED_WAIT : GRAIN;
    uint64_t soonest = saratoga__now() + wait;
    uint64_t at = saratoga_engine_timeout(u->engine);
    uint64_t carrier = saratoga__secure_timeout(u);

    at = at < carrier ? at : carrier;
    net__timer_set(&u->loop.timer, at < soonest ? soonest : at);
}

static void node_turn(saratoga_node *u) {
    bool more = true;

    if (!u->loop.awake || u->engine == NULL) {
        return;
    }
    u->loop.awake = false;
    for (int i = 0; i < ROUNDS && more; i++) {
        more = drain(u);
    }
    saratoga__share_rate_when_due(u);
    more = saratoga__datagrams_send(u) || more;
    saratoga__secure_stretch(u);
    saratoga__secure_end_rejected(u);
    /* Sending frees buffers for reads. */
    more = drain(u) || more;
    saratoga__finish_all(u);
    u->loop.awake = u->loop.awake || more;
    if (u->loop.awake) {
        (void)uv_idle_start(&u->loop.idle, on_again);
        return;
    }
    (void)uv_idle_stop(&u->loop.idle);
    set_timer(u);
}

static void ring(void *owner) {
    saratoga_node *u = owner;

    saratoga_engine_on_timeout(u->engine, saratoga__now());
    saratoga__secure_on_timeout(u, saratoga__now());
    saratoga__wake(u);
}

static void before(uv_prepare_t *handle) {
    node_turn(handle->data);
}

static void after(uv_check_t *handle) {
    node_turn(handle->data);
    saratoga__close_step(handle->data);
}

static void report_free_space(saratoga_node *u) {
    struct statvfs fs;

    if (u->has_root && u->config.may_write && fstatvfs(u->root.fd, &fs) == 0) {
        saratoga_engine_set_free_space(u->engine, (uint64_t)fs.f_bavail *
                                                      fs.f_frsize / 1024);
    }
}

static void tick(uv_timer_t *timer) {
    saratoga_node *u = timer->data;
    uint64_t now = uv_hrtime();

    for (saratoga__file *f = u->files; f != NULL; f = f->next) {
        saratoga__source_tick(f);
        saratoga__checkpoint_tick(f, now);
        saratoga__server_tick(f, now);
    }
    saratoga__share_rate(u);
    report_free_space(u);
    saratoga__wake(u);
}

/* --- Running ------------------------------------------------------------- */

static void out_of_patience(uv_timer_t *timer) {
    saratoga_node *u = timer->data;

    uv_stop(u->loop.uv);
}

void saratoga_node_run(saratoga_node *u, unsigned timeout_ms) {
    if (!saratoga__loop_is_own(&u->loop) || u->events.first != NULL) {
        return;
    }
    uv_update_time(u->loop.uv);
    (void)uv_timer_start(&u->loop.timeout, out_of_patience, timeout_ms, 0);
    (void)uv_run(u->loop.uv, UV_RUN_DEFAULT);
    (void)uv_timer_stop(&u->loop.timeout);
}

int saratoga_node_get_engine_stats(saratoga_node *u,
                                   saratoga_engine_stats *st) {
    saratoga_engine_stats full;

    if (!cmn__sized_is_set(st)) {
        return SARATOGA_ERR_INVAL;
    }
    saratoga_engine_stats_init(&full);
    (void)saratoga_engine_get_stats(u->engine, &full);
    saratoga__secure_get_stats(u, &full);
    full.too_big = net__udp_too_big(u->net.udp) +
                   (u->net.lite != NULL ? net__udp_too_big(u->net.lite) : 0);
    cmn__sized_give(st, &full, sizeof(full));
    return 0;
}

uint64_t saratoga_node_rejected(const saratoga_node *u, char *text) {
    text[0] = '\0';
    if (u->rejected > 0) {
        net__addr a = u->rejected_from;
        saratoga__address_text(&a, text);
    }
    return u->rejected;
}

unsigned saratoga_node_active(const saratoga_node *u) {
    return u->n_files;
}

int saratoga_node_local_address(const saratoga_node *u, char *text) {
    net__addr a;

    if (net__udp_local(u->net.udp, &a) != 0) {
        return SARATOGA_ERR_IO;
    }
    saratoga__address_text(&a, text);
    return 0;
}

/* --- Opening ------------------------------------------------------------- */

void saratoga_node_config_init_sized(saratoga_node_config *c, size_t size) {
    memset(c, 0, size);
    c->struct_size = size;
    c->may_read = true;
    c->max_peers = 256;
}

static int copy_strings(saratoga_node *u) {
    const cmn__mem mem = cmn__mem_default();
    saratoga_node_config *c = &u->config;

    u->config_strings = cmn__strings_copy(
        &mem, &(cmn__strings){.text = {&c->host, &c->service, &c->root,
                                       &c->beacon_host, &c->beacon_service,
                                       &c->group, &c->group_service}});
    return u->config_strings != NULL ? 0 : SARATOGA_ERR_NOMEM;
}

static int copy_config(saratoga_node *u, const saratoga_node_config *c,
                       char *why) {
    saratoga_config *engine = &u->engine_config;
    int rv;

    saratoga_node_config_init(&u->config);
    cmn__sized_take(&u->config, sizeof(u->config), c);
    rv = saratoga_config_check(u->config.engine, why);
    if (rv != 0) {
        return rv;
    }
    saratoga_config_init(engine);
    if (u->config.engine != NULL) {
        cmn__sized_take(engine, sizeof(*engine), u->config.engine);
    }
    if (engine->auth_key != NULL &&
        engine->auth_key_len <= sizeof(u->auth_key)) {
        memcpy(u->auth_key, engine->auth_key, engine->auth_key_len);
        engine->auth_key = u->auth_key;
    }
    rv = copy_strings(u);
    return rv != 0 ? rv
                   : saratoga__options_keep(&u->options, &u->strings,
                                            engine->transfer);
}

static void start_handles(saratoga_node *u) {
    (void)uv_prepare_init(u->loop.uv, &u->loop.prepare);
    (void)uv_check_init(u->loop.uv, &u->loop.check);
    (void)uv_idle_init(u->loop.uv, &u->loop.idle);
    (void)uv_timer_init(u->loop.uv, &u->loop.tick);
    (void)uv_timer_init(u->loop.uv, &u->loop.timeout);
    u->loop.prepare.data = u;
    u->loop.check.data = u;
    u->loop.idle.data = u;
    u->loop.tick.data = u;
    u->loop.timeout.data = u;
    u->loop.has_handles = true;
    (void)uv_prepare_start(&u->loop.prepare, before);
    (void)uv_check_start(&u->loop.check, after);
    (void)uv_timer_start(&u->loop.tick, tick, TICK_MS, TICK_MS);
}

static int open_loop(saratoga_node *u, char *why) {
    int rv;

    u->loop.uv = u->config.loop;
    if (u->loop.uv == NULL) {
        rv = uv_loop_init(&u->loop.own);
        if (rv != 0) {
            (void)snprintf(why, SARATOGA_NODE_TEXT, "cannot create a loop: %s",
                           uv_strerror(rv));
            return rv;
        }
        u->loop.uv = &u->loop.own;
    }
    start_handles(u);
    rv =
        saratoga__completions_init(&u->completions, u->loop.uv,
                                   saratoga__worker_run, saratoga__worker_done);
    u->loop.has_completions = rv == 0;
    if (rv == 0) {
        rv = net__timer_init(&u->loop.timer, u->loop.uv, ring, u);
        u->loop.has_timer = rv == 0;
    }
    if (rv != 0) {
        (void)snprintf(why, SARATOGA_NODE_TEXT, "cannot create a timer: %s",
                       uv_strerror(rv));
    }
    return rv;
}

static int open_root(saratoga_node *u, char *why) {
    int rv;

    if (u->config.root == NULL) {
        return 0;
    }
    rv = saratoga__root_open(&u->root, u->config.root);
    if (rv != 0) {
        (void)snprintf(why, SARATOGA_NODE_TEXT, "%s: %s", u->config.root,
                       saratoga__error_text(rv));
        return rv;
    }
    u->has_root = true;
    return 0;
}

/* Blocks for name resolution, before anything runs. */
static int aim_beacons(saratoga_node *u, char *why) {
    const char *host = u->config.beacon_host != NULL ? u->config.beacon_host
                                                     : SARATOGA_GROUP_IPV4;
    const char *service =
        u->config.beacon_service != NULL ? u->config.beacon_service : "7542";
    net__route to;
    int rv;

    if (u->engine_config.eid == NULL || u->engine_config.beacon_interval == 0) {
        return 0;
    }
    memset(&to, 0, sizeof(to));
    rv = saratoga__resolve(host, service, false, &to.remote);
    if (rv != 0) {
        (void)snprintf(why, SARATOGA_NODE_TEXT, "%s: %s", host,
                       saratoga__error_text(rv));
        return rv;
    }
    saratoga__map_for_socket(u, &to.remote);
    u->routes.beacon = to;
    saratoga__pktinfo(u, &to, &u->engine_config.beacon_to);
    return 0;
}

static bool draw(void *buf, size_t len, char *why) {
    int rv = uv_random(NULL, NULL, buf, len, 0, NULL);

    if (rv != 0) {
        (void)snprintf(why, SARATOGA_NODE_TEXT, "no random numbers: %s",
                       uv_strerror(rv));
    }
    return rv == 0;
}

static int open_engine(saratoga_node *u, char *why) {
    uint8_t seed[SARATOGA_SEED_LEN];
    struct timespec wall;
    int rv;

    if (!draw(seed, sizeof(seed), why)) {
        return SARATOGA_ERR_IO;
    }
    (void)clock_gettime(CLOCK_REALTIME, &wall);
    u->engine_config.posix_offset = (int64_t)wall.tv_sec * INT64_C(1000000000) +
                                    wall.tv_nsec - (int64_t)saratoga__now();
    u->engine_config.timer_granularity_us = NET__TIMER_GRANULARITY_US;
    u->engine_config.own_transfers_only = !u->has_root || !u->config.may_write;
    if (u->has_root) { /* advertised in BEACONs */
        u->engine_config.willing_to_send &= u->config.may_read;
        u->engine_config.willing_to_receive &= u->config.may_write;
    }
    rv = saratoga_config_check(&u->engine_config, why);
    if (rv == 0) {
        rv = saratoga_engine_new(&u->engine, &u->engine_config, seed,
                                 saratoga__now());
    }
    return rv;
}

static int open_sockets(saratoga_node *u, char *why) {
    int rv;

    u->net.deliver = saratoga__datagrams_take;
    rv = saratoga__sockets_open(u, why);
    if (rv == 0 && u->config.join) {
        saratoga__join_groups(u);
    }
    return rv;
}

static int open_all(saratoga_node *u, char *why) {
    int rv = draw(u->routes.key, sizeof(u->routes.key), why) ? 0 : UV_EIO;

    rv = rv != 0 ? rv : open_loop(u, why);
    rv = rv != 0 ? rv : open_root(u, why);
    rv = rv != 0 ? rv : open_sockets(u, why);
    rv = rv != 0 ? rv : aim_beacons(u, why);
    rv = rv != 0 ? rv : saratoga__answer_group_open(u, why);
    if (rv != 0) {
        return rv == UV_ENOMEM ? SARATOGA_ERR_NOMEM : SARATOGA_ERR_IO;
    }
    rv = saratoga__secure_open(u, why);
    return rv != 0 ? rv : open_engine(u, why);
}

/* Returns the error; explains it in general, unless that was done. */
static int explained(int rv, char *why) {
    if (why[0] == '\0') {
        (void)snprintf(why, SARATOGA_NODE_TEXT, "%s", saratoga_strerror(rv));
    }
    return rv;
}

int saratoga_node_open(saratoga_node **out, const saratoga_node_config *c,
                       char *why) {
    char unwanted[SARATOGA_NODE_TEXT];
    saratoga_node *u;
    int rv;

    why = why != NULL ? why : unwanted;
    why[0] = '\0';
    if (out == NULL) {
        return explained(SARATOGA_ERR_INVAL, why);
    }
    *out = NULL;
    if (!cmn__sized_is_set(c)) {
        (void)snprintf(why, SARATOGA_NODE_TEXT,
                       "the config was not initialised");
        return SARATOGA_ERR_INVAL;
    }
    u = calloc(1, sizeof(*u));
    if (u == NULL) {
        return explained(SARATOGA_ERR_NOMEM, why);
    }
    u->root.fd = -1;
    saratoga__places_init(&u->places);
    /* Initialises the crypto library here rather than in a pool thread. */
    saratoga_digest_free(saratoga_digest_new(SARATOGA_MD5));
    rv = copy_config(u, c, why);
    if (rv == 0) {
        rv = open_all(u, why);
    }
    if (rv != 0) {
        saratoga_node_close(u);
        return explained(rv, why);
    }
    report_free_space(u);
    saratoga__wake(u);
    *out = u;
    return 0;
}

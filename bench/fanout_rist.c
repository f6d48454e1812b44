/* SPDX-License-Identifier: MPL-2.0 */
/* One stream to many viewers by librist. */
#include <librist/librist.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "bench/common.h"
#include "bench/fanout.h"

static struct rist_ctx *rist_sender;
static struct rist_ctx *rist_viewers[FANOUT_VIEWERS_MAX];
static _Atomic(uint64_t) rist_bytes[FANOUT_VIEWERS_MAX];
static atomic_uint rist_callers;
static struct rist_logging_settings *rist_logging;
static unsigned rist_count;

static void rist_check(int rv, const char *what) {
    if (rv != 0) {
        bench_fail(what, "librist refuses");
    }
}

static void rist_quiet(void) {
    rist_check(rist_logging_set(&rist_logging, RIST_LOG_ERROR, NULL, NULL, NULL,
                                stderr),
               "logging");
}

static void rist_peer_of(struct rist_ctx *c, const struct fanout_options *o,
                         const char *at) {
    struct rist_peer_config *config = NULL;
    struct rist_peer *peer = NULL;
    char url[128];

    (void)snprintf(url, sizeof(url), "rist://%s%s:%u?buffer=%u", at, o->host,
                   o->port, o->latency_ms);
    rist_check(rist_parse_address2(url, &config), url);
    rist_check(rist_peer_create(c, &peer, config), url);
    (void)rist_peer_config_free2(&config);
}

static int rist_on_caller(void *user, const char *ip, uint16_t port,
                          const char *local_ip, uint16_t local_port,
                          struct rist_peer *peer) {
    (void)user;
    (void)ip;
    (void)port;
    (void)local_ip;
    (void)local_port;
    (void)peer;
    atomic_fetch_add(&rist_callers, 1);
    return 0;
}

static int rist_on_leave(void *user, struct rist_peer *peer) {
    (void)user;
    (void)peer;
    return 0;
}

static void rist_serve(const struct fanout_options *o) {
    rist_quiet();
    rist_check(
        rist_sender_create(&rist_sender, RIST_PROFILE_MAIN, 0, rist_logging),
        "sender");
    rist_check(
        rist_auth_handler_set(rist_sender, rist_on_caller, rist_on_leave, NULL),
        "handler");
    rist_peer_of(rist_sender, o, "@");
    rist_check(rist_start(rist_sender), "start");
}

static unsigned rist_accepted(void) {
    return atomic_load(&rist_callers);
}

static void rist_send_frame(const uint8_t *frame, size_t len) {
    for (size_t at = 0; at < len; at += FANOUT_CHUNK) {
        struct rist_data_block b = {.payload = frame + at,
                                    .payload_len = FANOUT_CHUNK};
        (void)rist_sender_data_write(rist_sender, &b);
    }
}

static int rist_on_data(void *user, struct rist_data_block *b) {
    atomic_fetch_add((_Atomic(uint64_t) *)user, b->payload_len);
    rist_receiver_data_block_free2(&b);
    return 0;
}

static void rist_view(const struct fanout_options *o) {
    rist_quiet();
    for (; rist_count < o->viewers; rist_count++) {
        struct rist_ctx *c = NULL;
        rist_check(rist_receiver_create(&c, RIST_PROFILE_MAIN, rist_logging),
                   "receiver");
        rist_check(rist_receiver_data_callback_set2(c, rist_on_data,
                                                    &rist_bytes[rist_count]),
                   "callback");
        rist_peer_of(c, o, "");
        rist_check(rist_start(c), "start");
        rist_viewers[rist_count] = c;
    }
}

/* Its own threads receive. */
static void rist_receive(uint64_t *bytes) {
    const struct timespec nap = {.tv_nsec = 20000000};

    (void)nanosleep(&nap, NULL);
    for (unsigned i = 0; i < rist_count; i++) {
        bytes[i] = atomic_load(&rist_bytes[i]);
    }
}

const struct fanout_ops fanout_rist = {.name = "librist",
                                       .serve = rist_serve,
                                       .accept = rist_accepted,
                                       .send = rist_send_frame,
                                       .view = rist_view,
                                       .receive = rist_receive};

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_SIMNET_SARATOGA_RAW_H
#define TESTS_SIMNET_SARATOGA_RAW_H

#include "tests/simnet/saratoga/host.h"
#include "tests/unit/saratoga/hex.h"

/* A node whose peer is the test itself, octet by octet. */

#define RAW_MAX 4096

struct sent {
    uint8_t bytes[1600];
    size_t len;
    uint32_t flags;
    uint32_t coverage;
};

/* REQUEST for the file "d", of who takes descriptors of any width. */
#define GET_D "218f0001 00000007 6400"

/* METADATA of the file "d" of ten octets. */
#define META_D                                                              \
    "22000042 00000007 781e5e245d69b566979b86e28d23f2c7 8000 000a 21c86fea" \
    " 21c86fea 6400"

struct raw {
    struct sim_net *net;
    struct host *h;
    saratoga_pktinfo peer;
    struct sent *sent;
    size_t n;
    size_t seen; /* looked at so far */
};

static inline void raw_tap(void *user, struct host *h,
                           const saratoga_pktinfo *to, const uint8_t *dgram,
                           size_t len) {
    struct raw *r = user;
    (void)h;
    if (r->n < RAW_MAX && len <= sizeof(r->sent->bytes)) {
        struct sent *s = &r->sent[r->n++];
        memcpy(s->bytes, dgram, len);
        s->len = len;
        s->flags = to->flags;
        s->coverage = to->coverage;
    }
}

/* Without a config, peers need not prove their addresses. */
static inline struct raw *raw_new(const saratoga_config *cfg) {
    struct raw *r = test_calloc(1, sizeof(*r));
    saratoga_config trusting;
    saratoga_options o;
    saratoga_options_init(&o);
    o.unconfirmed = UINT64_MAX;
    saratoga_config_init(&trusting);
    trusting.transfer = &o;
    r->sent = test_calloc(RAW_MAX, sizeof(*r->sent));
    r->net = sim_net_new();
    r->h = host_new(r->net, cfg != NULL ? cfg : &trusting, 1);
    r->h->tap = raw_tap;
    r->h->tap_user = r;
    r->peer = (saratoga_pktinfo){.host = 99, .path = sim_address(98, 7)};
    return r;
}

static inline void raw_free(struct raw *r) {
    assert_false(r->h->sim.stuck);
    host_free(r->h);
    sim_net_free(r->net);
    test_free(r->sent);
    test_free(r);
}

static inline void raw_recv(struct raw *r, const void *data, size_t len) {
    saratoga_engine_recv(r->h->sim.engine, &r->peer, data, len, host_now(r->h));
    host_pump(r->h);
}

static inline void raw_hex(struct raw *r, const char *text) {
    struct hex x = unhex(text);
    raw_recv(r, x.b, x.len);
}

static inline void raw_wait(struct raw *r, uint64_t ns) {
    sim_loop_run(sim_net_loop(r->net), host_now(r->h) + ns);
}

/* The next datagram that was sent, or NULL. */
static inline const struct sent *raw_next(struct raw *r) {
    return r->seen < r->n ? &r->sent[r->seen++] : NULL;
}

#define assert_sent(r, text)                     \
    do {                                         \
        const struct sent *s_ = raw_next(r);     \
        assert_non_null(s_);                     \
        assert_octets(s_->bytes, s_->len, text); \
    } while (0)

#define assert_silent(r) assert_null(raw_next(r))

static inline struct xfer *raw_start(struct raw *r, uint32_t type,
                                     const char *path,
                                     const saratoga_options *o, uint32_t id) {
    saratoga_request q;
    saratoga_request_init(&q);
    q.type = type;
    q.to = r->peer;
    q.path = path;
    q.options = o;
    q.id = id;
    return host_start_request(r->h, &q, path);
}

static inline struct xfer *raw_get(struct raw *r, const char *path,
                                   const saratoga_options *o, uint32_t id) {
    return raw_start(r, SARATOGA_GET, path, o, id);
}

static inline saratoga_options plain(void) {
    saratoga_options o;
    saratoga_options_init(&o);
    o.timestamps = SARATOGA_TS_OFF;
    o.payload = 4;
    o.rate_bps = 1000000;
    o.unconfirmed = UINT64_MAX;
    return o;
}

/* A node that has the file "d" of ten octets. */
static inline struct raw *server(const saratoga_options *o) {
    struct raw *r = raw_new(NULL);
    struct disk_file *f = host_make_file(r->h, "d", 10, 1);
    memcpy(f->data, "0123456789", 10);
    r->h->mtime = 0x21c86fea;
    r->h->answer_options = o;
    return r;
}

/* A node that has asked for it. */
static inline struct raw *receiver(struct xfer **x) {
    saratoga_config c;
    struct raw *r;
    saratoga_config_init(&c);
    c.streams = false;
    r = raw_new(&c);
    r->h->keep_handles = true;
    *x = raw_get(r, "d", NULL, 7);
    assert_non_null(*x);
    assert_sent(r, GET_D);
    return r;
}

#endif /* TESTS_SIMNET_SARATOGA_RAW_H */

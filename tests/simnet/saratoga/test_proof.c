/* SPDX-License-Identifier: MPL-2.0 */
/* What a peer costs before it has echoed something that it could not guess: at
 * most three times the bytes that it paid, little work, state that makes way.
 */
#include "tests/simnet/saratoga/pass.h"
#include "tests/simnet/saratoga/raw.h"

#include "tests/support/alloc.h"

#define HEADERS 28u
#define FORGED 1024u
#define BIG UINT64_C(200000)

/* ---- bytes ---- */

static const char blind_put[] = META_D;

static const char *const first_packets[] = {
    "218f0001 00000007 6400", /* get */
    "218f0001 00000007 00",   /* blind get */
    "218f0002 00000007 6500", /* put */
    "218f0003 00000007 6400", /* take */
    "218f0004 00000007 6500", /* give */
    "218f0005 00000007 6500", /* delete */
    "218f0006 00000007 6400", /* getdir */
    "218f0000 00000007 00",   /* no-op */
    "218f0009 00000007 00",   /* unassigned */
    "204f0000 7361742d31",    /* BEACON */
    blind_put,
    "23000000 00000007 0000 30313233",      /* DATA */
    "23010000 00000007 0000 30313233",      /* DATA that asks */
    "24010000 00000007 000a 000a",          /* STATUS */
    "24000000 00000007 0004 000a 00040007", /* hole list */
    "2f000000 00000007 00000000",           /* no type */
};

#define KINDS (sizeof(first_packets) / sizeof(first_packets[0]))

struct spent {
    uint64_t in;
    uint64_t in_packets;
};

static void pay(struct raw *r, struct spent *s, const char *text) {
    struct hex x = unhex(text);
    s->in += x.len;
    s->in_packets++;
    raw_recv(r, x.b, x.len);
}

static void assert_threefold(const struct raw *r, const struct spent *s) {
    uint64_t out = 0;
    assert_true(r->n < RAW_MAX);
    for (size_t i = 0; i < r->n; i++) {
        out += r->sent[i].len;
    }
    if (out > 3 * s->in ||
        out + HEADERS * r->n > 3 * (s->in + HEADERS * s->in_packets)) {
        print_error("%llu bytes in %zu packets for %llu in %llu\n",
                    (unsigned long long)out, r->n, (unsigned long long)s->in,
                    (unsigned long long)s->in_packets);
    }
    assert_true(out <= 3 * s->in);
    assert_true(out + HEADERS * r->n <= 3 * (s->in + HEADERS * s->in_packets));
}

static struct raw *wary_server(const saratoga_options *o) {
    saratoga_config c;
    struct raw *r;
    saratoga_config_init(&c);
    c.error_rate = 1000; /* refusals are counted, too */
    r = raw_new(&c);
    (void)host_make_file(r->h, "d", BIG, 1);
    r->h->answer_options = o;
    return r;
}

static void forge(const saratoga_options *o, const char *packet,
                  bool replayed) {
    struct raw *r = wary_server(o);
    struct spent s = {0, 0};
    for (unsigned i = 0; i < (replayed ? 50u : 1u); i++) {
        pay(r, &s, packet);
        raw_wait(r, 10 * MSEC);
    }
    raw_wait(r, 120 * SEC);
    assert_threefold(r, &s);
    raw_free(r);
}

TEST(a_first_packet_brings_three_times_its_bytes_at_most) {
    saratoga_options o[3];
    for (size_t i = 0; i < 3; i++) {
        saratoga_options_init(&o[i]);
    }
    o[1].rate_bps = 1000000000;
    o[2].timestamps = SARATOGA_TS_OFF;
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < KINDS; k++) {
            forge(&o[i], first_packets[k], false);
            forge(&o[i], first_packets[k], true);
        }
    }
}

/* ---- guesses ---- */

/* STATUS with what an attacker sees of a transfer of its own at that time. */
TEST(data_sent_to_another_peer_proves_nothing) {
    saratoga_options o = at_rate(100000000);
    struct raw *r = wary_server(&o);
    struct spent s = {0, 0};
    saratoga_pktinfo attacker = r->peer;
    const saratoga_pktinfo victim = {.host = 55, .path = sim_address(54, 7)};
    uint8_t status[28] = {0x24, 0x08, 0, 0, 0, 0, 0, 7};
    for (int i = 0; i < 50; i++) {
        size_t before = r->n;
        r->peer = attacker;
        raw_hex(r, "218f0001 00000007 6400");
        assert_true(r->n > before);
        memcpy(status + 8, r->sent[before].bytes + 8, 16);
        r->n = before; /* its own does not count */
        r->peer = victim;
        pay(r, &s, "218f0001 00000007 6400");
        s.in += sizeof(status);
        s.in_packets++;
        raw_recv(r, status, sizeof(status));
        attacker.host++;
        raw_wait(r, 10 * MSEC);
    }
    raw_wait(r, 60 * SEC);
    assert_threefold(r, &s);
    raw_free(r);
}

/* Without timestamps the ends of DATA are to be named, and these are random. */
TEST(ends_that_are_guessed_prove_nothing) {
    saratoga_options o;
    struct raw *r;
    struct spent s = {0, 0};
    saratoga_options_init(&o);
    o.timestamps = SARATOGA_TS_OFF;
    r = wary_server(&o);
    pay(r, &s, "218f0001 00000007 6400");
    for (uint32_t end = 1; end < 1000; end++) {
        uint8_t status[] = {0x24, 0x40, 0, 0, 0, 0, 0, 7,
                            0,    0,    0, 0, 0, 0, 0, 0};
        status[10] = status[14] = (uint8_t)(end >> 8);
        status[11] = status[15] = (uint8_t)end;
        s.in += sizeof(status);
        s.in_packets++;
        raw_recv(r, status, sizeof(status));
        raw_wait(r, MSEC);
    }
    assert_threefold(r, &s);
    raw_free(r);
}

/* ---- those who are there ---- */

TEST(an_echo_proves_the_address) {
    saratoga_options o = at_rate(100000000);
    struct raw *r = wary_server(&o);
    uint8_t status[28] = {0x24, 0x08, 0, 0, 0, 0, 0, 7};
    raw_hex(r, "218f0001 00000007 6400");
    raw_wait(r, SEC);
    assert_int_equal(r->n, 1);
    assert_int_equal(r->sent[0].bytes[0], 0x23);
    assert_false(r->h->request.proven);
    memcpy(status + 8, r->sent[0].bytes + 8, 16);
    raw_recv(r, status, sizeof(status));
    raw_wait(r, 100 * MSEC);
    assert_true(r->n > BIG / 1500);
    /* the address is known for a while */
    raw_hex(r, "218f0001 00000008 6400");
    assert_true(r->h->request.proven);
    raw_free(r);
}

/* Whoever shares an address with a peer, or forges it, pays for its own proof.
 */
TEST(another_port_of_a_proven_address_is_not_proven) {
    saratoga_options o = at_rate(100000000);
    struct raw *r = wary_server(&o);
    uint8_t status[28] = {0x24, 0x08, 0, 0, 0, 0, 0, 7};
    struct spent s = {0, 0};
    size_t own = 0;
    raw_hex(r, "218f0001 00000007 6400");
    memcpy(status + 8, r->sent[0].bytes + 8, 16);
    raw_recv(r, status, sizeof(status));
    raw_wait(r, 10 * SEC);
    r->peer.path++;
    r->n = 0;
    pay(r, &s, "218f0001 00000008 6400");
    assert_false(r->h->request.proven);
    raw_wait(r, 10 * SEC);
    for (size_t i = 0; i < r->n; i++) { /* the first transfer goes on */
        if (r->sent[i].bytes[7] == 8) {
            r->sent[own++] = r->sent[i];
        }
    }
    r->n = own;
    assert_true(own > 0);
    assert_threefold(r, &s);
    raw_free(r);
}

TEST(the_carrier_may_prove_the_address) {
    saratoga_options o = at_rate(100000000);
    struct raw *r = wary_server(&o);
    r->peer.flags = SARATOGA_PKT_PROVEN;
    raw_hex(r, "218f0001 00000007 6400");
    assert_true(r->h->request.proven);
    raw_wait(r, 100 * MSEC);
    assert_true(r->n > BIG / 1500);
    raw_free(r);
}

/* A peer that echoes nothing names the ends of what it got. */
TEST(peers_without_timestamps_are_served) {
    const struct plan p = {20e6, 0, 20 * MSEC, 0, 0, 1};
    saratoga_options o = at_rate(10000000);
    struct world w = world_new(&p, NULL, NULL);
    struct xfer *x;
    o.timestamps = SARATOGA_TS_OFF;
    w.sat->answer_options = &o;
    (void)host_make_file(w.sat, "f", 1000000, 1);
    x = host_start(w.ground, w.sat, SARATOGA_GET, "f", NULL, NULL);
    world_finish(&w, x, 3 * SEC);
    assert_true(x->done);
    assert_int_equal(x->end.error, 0);
    assert_true(host_same(host_find_file(w.sat, "f"), x->file));
    world_free(&w);
}

/* A peer that ignores the timestamps it is sent. */
TEST(peers_without_echo_are_proven_by_packet_numbers) {
    struct raw *r = wary_server(NULL);
    uint32_t end = 0;
    raw_hex(r, "218f0001 00000007 6400");
    for (int i = 0; i < 40; i++) {
        uint8_t status[] = {0x24, 0x40, 0, 0, 0, 0, 0, 7,
                            0,    0,    0, 0, 0, 0, 0, 0};
        for (; r->seen < r->n; r->seen++) {
            const struct sent *s = &r->sent[r->seen];
            if (s->bytes[0] == 0x23 && (s->bytes[1] & 0x48) == 0x40) {
                uint32_t at = (uint32_t)s->bytes[10] << 8 | s->bytes[11];
                end = at + (uint32_t)s->len - 12;
            }
        }
        status[10] = status[14] = (uint8_t)(end >> 8);
        status[11] = status[15] = (uint8_t)end;
        raw_recv(r, status, sizeof(status));
        raw_wait(r, 20 * MSEC);
    }
    assert_true(r->n > 60); /* whole packets by now */
    assert_true(r->sent[r->n / 2].len > 1000);
    raw_free(r);
}

/* ---- floods ---- */

struct flood {
    struct test_alloc mem;
    struct world w;
    uint64_t forged;
};

/* Requests of hosts that are not there. */
static void flood_with(struct flood *f, const char *packet, uint32_t count) {
    struct hex x = unhex(packet);
    for (uint32_t i = 0; i < count; i++) {
        saratoga_pktinfo from = {.host = 1000000 + f->forged,
                                 .path = sim_address(97, 7)};
        x.b[6] = (uint8_t)(f->forged >> 8);
        x.b[7] = (uint8_t)f->forged;
        f->forged++;
        saratoga_engine_recv(f->w.sat->sim.engine, &from, x.b, x.len,
                             host_now(f->w.sat));
    }
    host_pump(f->w.sat);
}

static struct flood *flood_new(void) {
    const struct plan p = {100e6, 0, 20 * MSEC, 0, 0, 1};
    struct flood *f = test_calloc(1, sizeof(*f));
    saratoga_config c;
    saratoga_config_init(&c);
    c.allocator = (saratoga_allocator){test_alloc_realloc, &f->mem};
    f->w = world_new(&p, &c, NULL);
    (void)host_make_file(f->w.sat, "d", BIG, 1);
    return f;
}

static void flood_free(struct flood *f) {
    world_free(&f->w);
    test_free(f);
}

static saratoga_engine_stats flood_stats(const struct flood *f) {
    saratoga_engine_stats st;
    saratoga_engine_stats_init(&st);
    assert_int_equal(saratoga_engine_get_stats(f->w.sat->sim.engine, &st), 0);
    return st;
}

/* Forged packets for ten seconds, a thousand a second; clients come and go. */
static void serve_beside(const char *packet, uint32_t type) {
    struct flood *f = flood_new();
    uint64_t served;
    flood_with(f, packet, FORGED);
    for (uint32_t i = 0; i < 10; i++) {
        uint64_t from = host_now(f->w.sat);
        struct xfer *x =
            host_start(f->w.ground, f->w.sat, type, "d", NULL, NULL);
        for (uint32_t k = 0; k < 50; k++) {
            flood_with(f, packet, 20);
            world_run(&f->w, from + (k + 1) * 20 * MSEC);
        }
        assert_true(x->done);
        assert_int_equal(x->end.error, 0);
        assert_true(x->done_at - from < SEC);
        world_run(&f->w, from + SEC);
    }
    served = f->w.sat->requests;
    /* 32 at once, and 32 a second: what else asked was not even looked at */
    assert_true(served <= 32 + 32 * 11 + 10);
    assert_true(f->mem.peak < 4u << 20);
    assert_true(flood_stats(f).transfers < 200);
    flood_free(f);
}

TEST(forged_gets_do_not_deny_service) {
    serve_beside("218f0001 00000000 6400", SARATOGA_GET);
}

TEST(forged_puts_do_not_deny_service) {
    serve_beside("218f0002 00000000 6500", SARATOGA_GET);
}

TEST(forged_blind_puts_do_not_deny_service) {
    serve_beside("23000000 00000000 0000 30313233", SARATOGA_GET);
}

TEST(forged_getdirs_do_not_deny_service) {
    struct flood *f = flood_new();
    flood_with(f, "218f0006 00000000 6400", 300);
    assert_true(f->w.sat->requests <= 4); /* listings are dear */
    flood_free(f);
    serve_beside("218f0006 00000000 6400", SARATOGA_GETDIR);
}

TEST(forged_requests_leave_a_put_alone) {
    struct flood *f = flood_new();
    struct xfer *x;
    uint64_t from;
    (void)host_make_file(f->w.ground, "up", BIG, 2);
    flood_with(f, "218f0001 00000000 6400", FORGED);
    x = host_start(f->w.ground, f->w.sat, SARATOGA_PUT, "up", NULL, NULL);
    from = host_now(f->w.sat);
    for (uint32_t k = 0; k < 50; k++) {
        flood_with(f, "218f0001 00000000 6400", 20);
        world_run(&f->w, from + (k + 1) * 20 * MSEC);
    }
    assert_true(x->done);
    assert_int_equal(x->end.error, 0);
    flood_free(f);
}

/* Until then two packets' worth is read. */
TEST(little_is_read_for_a_peer_without_an_answer) {
    struct raw *r = wary_server(NULL);
    raw_hex(r, "218f0001 00000007 6400");
    raw_wait(r, SEC);
    assert_int_equal(r->h->requests, 1);
    assert_true(r->h->read_bytes <= 3000);
    raw_free(r);
}

int main(void) {
#define T(f) cmocka_unit_test(f)
    const struct CMUnitTest tests[] = {
        T(a_first_packet_brings_three_times_its_bytes_at_most),
        T(data_sent_to_another_peer_proves_nothing),
        T(ends_that_are_guessed_prove_nothing),
        T(an_echo_proves_the_address),
        T(another_port_of_a_proven_address_is_not_proven),
        T(the_carrier_may_prove_the_address),
        T(peers_without_timestamps_are_served),
        T(peers_without_echo_are_proven_by_packet_numbers),
        T(forged_gets_do_not_deny_service),
        T(forged_puts_do_not_deny_service),
        T(forged_blind_puts_do_not_deny_service),
        T(forged_getdirs_do_not_deny_service),
        T(forged_requests_leave_a_put_alone),
        T(little_is_read_for_a_peer_without_an_answer),
    };
    return cmocka_run_group_tests_name("proof of addresses", tests, NULL, NULL);
}

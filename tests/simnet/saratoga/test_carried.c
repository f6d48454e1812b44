/* SPDX-License-Identifier: MPL-2.0 */
/* Nodes whose datagrams go sealed, over bad links and past attackers. */
#include <string.h>

#include "internal/secure/carrier.h"
#include "tests/simnet/saratoga/pass.h"
#include "tests/support/alloc.h"

#define LONGEST 1500u

static const uint8_t key[32] = {1, 2, 3};

/* The carrier of one host, as a driver would run it. */
struct carried {
    struct test_alloc alloc;
    struct host *host;
    sec__carrier *carrier;
    struct sim_timer timer;
    uint64_t address; /* may change */
    uint64_t cargo;
    /* what left last, as an attacker on the path has it */
    uint8_t copy[LONGEST];
    size_t copy_len;
};

static uint64_t now_of(const struct carried *c) {
    return host_now(c->host) + SEC; /* 0 is not a time of day */
}

static void transmit(struct carried *c, uint64_t path, const uint8_t *dgram,
                     size_t len) {
    memcpy(c->copy, dgram, len);
    c->copy_len = len;
    sim_saratoga_transmit(&c->host->sim, c->address, path, dgram, len);
}

static void flush(struct carried *c) {
    uint8_t buf[LONGEST];
    uint64_t path;
    uint64_t at;
    size_t len;
    while ((len = sec__carrier_send(c->carrier, buf, sizeof(buf), &path,
                                    now_of(c))) > 0) {
        transmit(c, path, buf, len);
    }
    at = sec__carrier_timeout(c->carrier);
    (void)sim_loop_arm(sim_net_loop(c->host->sim.net), &c->timer,
                       at == UINT64_MAX ? SIM_NEVER : at - SEC);
}

static void out(void *user, const saratoga_pktinfo *to, const uint8_t *dgram,
                size_t len) {
    struct carried *c = user;
    const sec__place place = {.host = to->host, .path = to->path};
    uint8_t buf[LONGEST];
    uint64_t path;
    size_t n;
    assert_true(len + SEC__CARRIER_OVERHEAD <= 1500 - 28);
    n = sec__carrier_seal(c->carrier, &place, dgram, len, buf, &path,
                          now_of(c));
    if (n > 0) {
        transmit(c, path, buf, n);
    }
    flush(c);
}

static void in(void *user, const struct sim_packet *p) {
    struct carried *c = user;
    const sec__place from = {.host = sim_address_node(p->src) + 1u,
                             .path = p->src,
                             .origin = {{sim_address_node(p->src) + 1u}}};
    sec__delivery d;
    saratoga_pktinfo info = {0};
    switch (
        sec__carrier_recv(c->carrier, &from, p->data, p->len, &d, now_of(c))) {
    case SEC__CARGO:
        info.host = d.from.host;
        info.path = d.from.path;
        c->cargo++;
        sim_saratoga_take(&c->host->sim, &info, d.cargo, d.len);
        break;
    case SEC__ANSWERED:
        transmit(c, p->src, d.word, d.len);
        break;
    default:
        break;
    }
    flush(c);
}

static void on_timer(struct sim_timer *t, uint64_t now) {
    struct carried *c = t->user;
    (void)now;
    sec__carrier_on_timeout(c->carrier, now_of(c));
    flush(c);
}

static void carry(struct carried *c, struct host *host, uint64_t rekey) {
    const sec__carrier_config config = {.keys = {.key = key, .key_len = 32},
                                        .limits = {.max = 8,
                                                   .max_of_network = 8,
                                                   .max_half_open = 8,
                                                   .max_half_open_of = 8},
                                        .version = 7,
                                        .max_datagram = LONGEST,
                                        .rekey_packets = rekey};
    const uint8_t seed[SEC__SEED_LEN] = {(uint8_t)host->sim.node};
    const cmn__mem mem = {test_alloc_realloc, &c->alloc};
    *c = (struct carried){.host = host,
                          .address = sim_address(host->sim.node, SARATOGA_PORT),
                          .timer = {.fire = on_timer}};
    c->timer.user = c;
    host->sim.wrap = (struct sim_saratoga_wrap){out, in, c};
    assert_int_equal(
        sec__carrier_new(&c->carrier, &mem, &config, seed, now_of(c)), 0);
}

static void put_down(struct carried *c) {
    sim_loop_stop(sim_net_loop(c->host->sim.net), &c->timer);
    sec__carrier_free(c->carrier);
    assert_int_equal(c->alloc.blocks, 0);
}

struct trip {
    struct world w;
    struct carried sat;
    struct carried ground;
};

static void begin(struct trip *t, const struct plan *p, uint64_t rekey) {
    saratoga_config c;
    saratoga_config_init(&c);
    c.carrier_overhead = SEC__CARRIER_OVERHEAD;
    t->w = world_new(p, &c, &c);
    carry(&t->sat, t->w.sat, rekey);
    carry(&t->ground, t->w.ground, rekey);
    (void)host_make_file(t->w.sat, "f", 1000000, 1);
}

static void end(struct trip *t) {
    put_down(&t->sat);
    put_down(&t->ground);
    world_free(&t->w);
}

static sec__carrier_stats stats(const struct carried *c) {
    sec__carrier_stats st;
    sec__carrier_get_stats(c->carrier, &st);
    return st;
}

static struct xfer *get(struct trip *t) {
    saratoga_options o = at_rate(10000000);
    return host_start(t->w.ground, t->w.sat, SARATOGA_GET, "f", &o, NULL);
}

TEST(files_arrive_over_bad_links_while_keys_change) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const struct plan p = {20e6, 1e6, 100 * MSEC, 0.05, 0.2, seed};
        struct trip t;
        struct xfer *x;
        begin(&t, &p, 100);
        x = get(&t);
        world_finish(&t.w, x, 300 * SEC);
        assert_true(host_same(host_find_file(t.w.sat, "f"), x->file));
        assert_int_equal(stats(&t.sat).forged, 0);
        assert_int_equal(stats(&t.ground).forged, 0);
        end(&t);
    }
}

/* Everything that leaves is copied and sent once more from elsewhere, with and
 * without another number. */
TEST(copies_and_forgeries_change_nothing) {
    const struct plan p = {20e6, 20e6, 20 * MSEC, 0, 0, 1};
    struct trip t;
    struct xfer *x;
    uint64_t sent = 0;
    begin(&t, &p, 0);
    x = get(&t);
    while (!x->done && sim_loop_step(sim_net_loop(t.w.net), 60 * SEC)) {
        struct carried *c = t.sat.cargo % 2 != 0 ? &t.sat : &t.ground;
        struct host *to = c == &t.sat ? t.w.ground : t.w.sat;
        uint64_t dst = sim_address(to->sim.node, SARATOGA_PORT);
        if (c->copy_len > 0 && ++sent % 3 == 0) {
            c->copy[11]++; /* a number that is not known yet */
        }
        if (c->copy_len > 0) {
            sim_saratoga_transmit(&c->host->sim, sim_address(77, 9), dst,
                                  c->copy, c->copy_len);
            c->copy_len = 0;
        }
    }
    assert_true(sent > 400);
    assert_int_equal(x->end.error, 0);
    assert_true(host_same(host_find_file(t.w.sat, "f"), x->file));
    assert_true(stats(&t.ground).repeated > 100);
    assert_true(stats(&t.ground).forged + stats(&t.sat).forged > 50);
    end(&t);
}

/* Plain, a stranger who has seen the Id ends the transfer with one packet. */
static void forge_an_end(struct world *w, uint32_t id) {
    uint8_t status[] = {0x24, 0, 0, 0x0e, 0, 0, 0, 0};
    status[4] = (uint8_t)(id >> 24);
    status[5] = (uint8_t)(id >> 16);
    status[6] = (uint8_t)(id >> 8);
    status[7] = (uint8_t)id;
    sim_saratoga_transmit(
        &w->ground->sim, sim_address(w->ground->sim.node, SARATOGA_PORT),
        sim_address(w->sat->sim.node, SARATOGA_PORT), status, sizeof(status));
}

static uint32_t id_of(struct world *w, const struct xfer *x) {
    return host_stats(w->ground, x).id;
}

TEST(a_forged_status_ends_a_plain_transfer_only) {
    const struct plan p = {20e6, 20e6, 20 * MSEC, 0, 0, 1};
    saratoga_options o = at_rate(10000000);
    struct world w = world_new(&p, NULL, NULL);
    struct trip t;
    struct xfer *x;
    (void)host_make_file(w.sat, "f", 1000000, 1);
    x = host_start(w.ground, w.sat, SARATOGA_GET, "f", &o, NULL);
    world_run(&w, 200 * MSEC);
    forge_an_end(&w, id_of(&w, x));
    world_finish(&w, x, 60 * SEC);
    assert_int_not_equal(x->end.error, 0);
    world_free(&w);

    begin(&t, &p, 0);
    x = get(&t);
    world_run(&t.w, 200 * MSEC);
    forge_an_end(&t.w, id_of(&t.w, x));
    world_finish(&t.w, x, 60 * SEC);
    assert_int_equal(x->end.error, 0);
    assert_int_equal(stats(&t.sat).foreign, 1);
    end(&t);
}

/* A translator of addresses forgets the ground station's in mid-transfer. */
TEST(a_transfer_goes_on_when_the_address_changes) {
    const struct plan p = {20e6, 1e6, 50 * MSEC, 0.01, 0.01, 1};
    struct trip t;
    struct xfer *x;
    begin(&t, &p, 0);
    x = get(&t);
    world_run(&t.w, 400 * MSEC);
    assert_false(x->done);
    t.ground.address = sim_address(t.w.ground->sim.node, 40000);
    world_finish(&t.w, x, 60 * SEC);
    assert_int_equal(x->end.error, 0);
    assert_true(host_same(host_find_file(t.w.sat, "f"), x->file));
    assert_int_equal(stats(&t.sat).opened, 1);
    assert_true(host_now(t.w.ground) < 5 * SEC);
    end(&t);
}

/* The satellite restarts between two files and knows nobody any more. */
TEST(a_peer_that_restarted_is_called_again) {
    const struct plan p = {20e6, 1e6, 50 * MSEC, 0, 0, 1};
    struct trip t;
    struct xfer *x;
    begin(&t, &p, 0);
    x = get(&t);
    world_finish(&t.w, x, 60 * SEC);
    assert_int_equal(x->end.error, 0);
    put_down(&t.sat);
    carry(&t.sat, t.w.sat, 0);
    (void)host_make_file(t.w.sat, "g", 100000, 2);
    x = host_start(t.w.ground, t.w.sat, SARATOGA_GET, "g", NULL, NULL);
    world_finish(&t.w, x, host_now(t.w.ground) + 20 * SEC);
    assert_int_equal(x->end.error, 0);
    assert_int_equal(stats(&t.ground).opened, 2);
    end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_arrive_over_bad_links_while_keys_change),
        cmocka_unit_test(copies_and_forgeries_change_nothing),
        cmocka_unit_test(a_forged_status_ends_a_plain_transfer_only),
        cmocka_unit_test(a_transfer_goes_on_when_the_address_changes),
        cmocka_unit_test(a_peer_that_restarted_is_called_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

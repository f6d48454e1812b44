/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Random transfers over random links: the file at the end is whole and verified
 * or absent with a clear error, never wrong.
 *
 *   test_saratoga_random [FIRST N]
 */
#include <inttypes.h>
#include <stdlib.h>

#include "tests/simnet/saratoga/pass.h"
#include "tests/support/cmocka.h"

struct luck {
    struct sim_random r;
};

static uint64_t below(struct luck *l, uint64_t n) {
    return sim_random_below(&l->r, n);
}

static bool chance(struct luck *l, uint64_t percent) {
    return below(l, 100) < percent;
}

static double small(struct luck *l, double most) {
    return chance(l, 50) ? 0 : most * (double)below(l, 1000) / 1000;
}

static void random_link(struct luck *l, struct sim_link_config *c) {
    sim_link_config_init(c);
    c->overhead = 28;
    c->rate = chance(l, 80) ? (double)(200000 + below(l, 50000000)) : 0;
    c->delay = below(l, 400) * MSEC;
    c->jitter = chance(l, 30) ? below(l, 20) * MSEC : 0;
    c->limit_time = (20 + below(l, 300)) * MSEC;
    c->loss = small(l, 0.2);
    c->corrupt = 0; /* UDP's checksum drops these */
    c->duplicate = small(l, 0.1);
    c->reorder = small(l, 0.1);
    c->reorder_delay = below(l, 100) * MSEC;
    if (chance(l, 20)) {
        c->burst_enter = 0.01;
        c->burst_leave = 0.2;
        c->burst_loss = 0.9;
    }
    if (chance(l, 20)) {
        c->blackout_start = below(l, 3000) * MSEC;
        c->blackout_length = below(l, 8000) * MSEC;
    }
}

static void random_options(struct luck *l, saratoga_options *o) {
    static const char *const name[] = {"stfrc", "newreno", "cubic", "vegas"};
    saratoga_options_init(o);
    if (chance(l, 70)) {
        o->rate_bps = 500000 + below(l, 30000000);
    } else {
        o->congestion = name[below(l, 4)];
    }
    o->timestamps = (uint32_t)below(l, 7);
    o->descriptor = chance(l, 50) ? (uint32_t)SARATOGA_DESCRIPTOR_FIT
                                  : 1 + (uint32_t)below(l, 3);
    o->max_descriptor = SARATOGA_128_BIT;
    o->copies = 1 + (uint32_t)below(l, 4);
    o->half_open_holes = false;
    o->wide_entries = chance(l, 30);
    o->payload = chance(l, 40) ? 16 + (uint32_t)below(l, 1000) : 0;
    o->block = 4096 + below(l, 20000);
    o->blocks = 1 + (uint32_t)below(l, 8);
    o->request_tries = 12;
    o->max_holes = chance(l, 10) ? 16 + (uint32_t)below(l, 50) : 200000;
}

static uint32_t random_sum(struct luck *l) {
    static const uint32_t sum[] = {SARATOGA_NONE, SARATOGA_CRC32C, SARATOGA_MD5,
                                   SARATOGA_SHA1, SARATOGA_SHA256};
    return sum[below(l, 5)];
}

static const char *judge(const struct world *w, const struct xfer *x,
                         const struct disk_file *sent, bool gone) {
    const struct disk_file *got = host_find_file(w->ground, "f");
    if (w->sat->sim.stuck || w->ground->sim.stuck) {
        return "a timer is always due";
    }
    if (!x->done) {
        return "no end";
    }
    if (got != NULL && got != sent && !host_same(got, sent)) {
        return "the file is wrong";
    }
    if (x->end.error == 0 && got == NULL) {
        return "no file, but no error";
    }
    if (gone && !sent->visible && got == NULL) {
        return "the only copy was deleted";
    }
    return NULL;
}

static bool play(uint64_t seed) {
    static const uint32_t types[] = {SARATOGA_GET, SARATOGA_PUT, SARATOGA_TAKE,
                                     SARATOGA_GIVE, SARATOGA_BLIND_PUT};
    struct luck l;
    struct plan p = {0, 0, 0, 0, 0, seed};
    struct sim_link_config link;
    saratoga_config cfg;
    saratoga_options o;
    struct world w;
    struct xfer *x;
    struct disk_file *f;
    uint32_t type;
    bool gives;
    const char *wrong;
    sim_random_init(&l.r, seed);
    saratoga_config_init(&cfg);
    cfg.mtu = 600 + (uint32_t)below(&l, 1200);
    cfg.sha256 = true;
    cfg.uplink_bps = chance(&l, 20) ? 20000 + below(&l, 100000) : 0;
    random_options(&l, &o);
    cfg.transfer = &o;
    w = world_new(&p, &cfg, &cfg);
    random_link(&l, &link);
    sim_net_set_link(w.net, w.down, &link);
    random_link(&l, &link);
    sim_net_set_link(w.net, w.up, &link);
    w.sat->disk_delay = chance(&l, 50) ? below(&l, 20) * MSEC / 4 : 0;
    w.ground->disk_delay = chance(&l, 50) ? below(&l, 20) * MSEC / 4 : 0;
    w.sat->checksum = random_sum(&l);
    w.sat->digest_later = chance(&l, 20);
    f = host_make_file(w.sat, "f", chance(&l, 5) ? 0 : below(&l, 300000), seed);
    type = types[below(&l, 5)];
    gives = type == SARATOGA_PUT || type == SARATOGA_GIVE ||
            type == SARATOGA_BLIND_PUT;
    w.sat->digest_later &= !gives;
    x = gives ? host_start(w.sat, w.ground, type, "f", NULL, NULL)
              : host_start(w.ground, w.sat, type, "f", NULL, NULL);
    /* 30 bytes a packet where a fifth is lost take stfrc most of an hour */
    world_finish(&w, x, 20000 * SEC);
    world_run(&w, host_now(w.sat) + 120 * SEC); /* the other end, too */
    wrong = judge(&w, x, f, type == SARATOGA_TAKE || type == SARATOGA_GIVE);
    if (wrong != NULL) {
        print_error("seed %" PRIu64 ": %s (type %u, size %" PRIu64
                    ", error %d, status %u)\n",
                    seed, wrong, type, f->size, x->end.error, x->end.status);
    }
    world_free(&w);
    return wrong == NULL;
}

static uint64_t first = 1;
static uint64_t count = 200;

TEST(files_end_whole_or_absent) {
    uint64_t bad = 0;
    for (uint64_t i = 0; i < count; i++) {
        bad += play(first + i) ? 0 : 1;
    }
    assert_int_equal(bad, 0);
}

/* Losses at the start brought the rate to its lowest, where polls took all of
 * it and DATA never left again. */
TEST(the_lowest_rate_is_for_data) {
    static const uint64_t seeds[] = {1078085, 2078674, 3077855,
                                     4078041, 6078782, 192242209802};
    for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
        assert_true(play(seeds[i]));
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_end_whole_or_absent),
        cmocka_unit_test(the_lowest_rate_is_for_data),
    };
    if (argc == 3) {
        first = strtoull(argv[1], NULL, 10);
        count = strtoull(argv[2], NULL, 10);
    }
    return cmocka_run_group_tests_name("random transfers", tests, NULL, NULL);
}

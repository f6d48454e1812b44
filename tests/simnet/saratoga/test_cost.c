/* SPDX-License-Identifier: MPL-2.0 */
/*
 * What a stranger's packet costs does not grow with the transfers that a node
 * has.  Counted in branches taken by the engine (it is compiled with
 * -fsanitize-coverage=trace-pc for this test), so no clock is in it.
 */
#include <inttypes.h>

#include "tests/simnet/saratoga/raw.h"

void __sanitizer_cov_trace_pc(void);

static uint64_t steps;

void __sanitizer_cov_trace_pc(void) {
    steps++;
}

#define MANY 4096u
#define PROBES 64u

/* A node that waits for answers from so many peers. */
static struct raw *busy(uint32_t transfers) {
    saratoga_config c;
    struct raw *r;
    saratoga_config_init(&c);
    c.max_transfers = 2 * MANY;
    r = raw_new(&c);
    for (uint32_t i = 0; i < transfers; i++) {
        r->peer.host = 1000 + i;
        (void)raw_get(r, "d", NULL, 1000000 + i);
    }
    return r;
}

/* Steps for one such packet, each with another Id from another host. */
static double steps_for(const char *packet, uint32_t transfers) {
    struct raw *r = busy(transfers);
    struct hex x = unhex(packet);
    uint64_t before = 0;
    for (uint32_t i = 0; i < 2 * PROBES; i++) {
        before = i == PROBES ? steps : before;
        r->peer.host = 500000 + i;
        x.b[6] = (uint8_t)(i >> 8);
        x.b[7] = (uint8_t)i;
        saratoga_node_recv(r->h->sim.engine, &r->peer, x.b, x.len,
                           host_now(r->h));
    }
    before = steps - before;
    raw_free(r);
    return (double)before / PROBES;
}

static void assert_flat(const char *what, const char *packet) {
    double few = steps_for(packet, 16);
    double many = steps_for(packet, MANY);
    print_message("%s: %.0f steps beside 16 transfers, %.0f beside %u\n", what,
                  few, many, MANY);
    assert_true(many < 2 * few);
}

static void
a_strangers_packet_costs_the_same_beside_many_transfers(void **state) {
    (void)state;
    assert_flat("STATUS", "24010000 00000000 0004 0004");
    assert_flat("DATA", "23000000 00000000 0000 30313233");
    assert_flat("METADATA", META_D);
    assert_flat("REQUEST", "218f0001 00000000 6400");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_strangers_packet_costs_the_same_beside_many_transfers),
    };
    return cmocka_run_group_tests_name("cost of Saratoga", tests, NULL, NULL);
}

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

/* A packet of a stranger, and what it meets. */
struct stray {
    const char *what;
    const char *packet;
    bool to_group;     /* so it comes */
    bool groups_asked; /* by the node, instead of peers */
};

/* A node that waits for answers from so many peers, or groups. */
static struct raw *busy(const struct stray *p, uint32_t transfers) {
    saratoga_config c;
    struct raw *r;
    saratoga_config_init(&c);
    c.max_transfers = 2 * MANY;
    r = raw_new(&c);
    r->peer.flags = p->groups_asked ? SARATOGA_PKT_MULTICAST : 0;
    for (uint32_t i = 0; i < transfers; i++) {
        r->peer.host = 1000 + i;
        (void)raw_get(r, p->groups_asked ? "e" : "d", NULL, 1000000 + i);
    }
    r->peer.flags = p->to_group ? SARATOGA_PKT_MULTICAST : 0;
    return r;
}

/* Steps for one such packet, each with another Id from another host. */
static double steps_for(const struct stray *p, uint32_t transfers) {
    struct raw *r = busy(p, transfers);
    struct hex x = unhex(p->packet);
    uint64_t before = 0;
    for (uint32_t i = 0; i < 2 * PROBES; i++) {
        before = i == PROBES ? steps : before;
        r->peer.host = 500000 + i;
        x.b[6] = (uint8_t)(i >> 8);
        x.b[7] = (uint8_t)i;
        saratoga_engine_recv(r->h->sim.engine, &r->peer, x.b, x.len,
                             host_now(r->h));
    }
    before = steps - before;
    raw_free(r);
    return (double)before / PROBES;
}

static void assert_flat(const struct stray *p) {
    double few = steps_for(p, 16);
    double many = steps_for(p, MANY);
    print_message("%s%s: %.0f steps beside 16 transfers%s, %.0f beside %u\n",
                  p->what, p->to_group ? " to a group" : "", few,
                  p->groups_asked ? " of groups" : "", many, MANY);
    assert_true(many < 2 * few);
}

static void
a_strangers_packet_costs_the_same_beside_many_transfers(void **state) {
    static const struct stray strays[] = {
        {"STATUS", "24010000 00000000 0004 0004", false, false},
        {"DATA", "23000000 00000000 0000 30313233", false, false},
        {"METADATA", META_D, false, false},
        {"REQUEST", "218f0001 00000000 6400", false, false},
    };
    (void)state;
    for (unsigned way = 0; way < 4; way++) {
        for (size_t i = 0; i < sizeof(strays) / sizeof(strays[0]); i++) {
            struct stray p = strays[i];
            p.to_group = way & 1;
            p.groups_asked = way & 2;
            assert_flat(&p);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_strangers_packet_costs_the_same_beside_many_transfers),
    };
    return cmocka_run_group_tests_name("cost of Saratoga", tests, NULL, NULL);
}

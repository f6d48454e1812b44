/* SPDX-License-Identifier: MPL-2.0 */
/* How transfers share a rate, and what that costs. Work is counted in branches
 * (the module is compiled with -fsanitize-coverage=trace-pc). */
#include "libsaratoga/node/rate_share.h"

#include <inttypes.h>
#include <stdlib.h>

#include "libsaratoga/node/transfer.h"
#include "tests/support/cmocka.h"

void __sanitizer_cov_trace_pc(void);

static uint64_t steps;

void __sanitizer_cov_trace_pc(void) {
    steps++;
}

/* --- What it calls ------------------------------------------------------- */

int saratoga_transfer_get_stats(const saratoga_engine *engine,
                                saratoga_handle handle, saratoga_stats *st,
                                saratoga_time now) {
    (void)engine, (void)handle, (void)now;
    st->todo_bytes = 1000;
    return 0;
}

int saratoga_transfer_set_rate(saratoga_engine *engine, saratoga_handle handle,
                               uint64_t rate_bps, saratoga_time now) {
    (void)engine, (void)handle, (void)rate_bps, (void)now;
    return 0;
}

void saratoga_stats_init_sized(saratoga_stats *st, size_t size) {
    memset(st, 0, size);
}

bool saratoga__is_stream(const saratoga__file *f) {
    (void)f;
    return false;
}

saratoga__file *saratoga__file_find(saratoga_node *u, uint64_t id) {
    (void)u, (void)id;
    return NULL;
}

/* --- Tests --------------------------------------------------------------- */

/* Begins a transfer with a host. */
static saratoga__file *begin(saratoga_node *u, uint64_t host) {
    saratoga__file *f = test_calloc(1, sizeof(*f));

    f->u = u;
    f->handle = 1;
    f->local.medium = SARATOGA__SOURCE;
    f->send.shares_rate = true;
    f->peer.host = host;
    saratoga__file_link(u, f);
    return f;
}

static void end_all(saratoga_node *u) {
    while (u->files != NULL) {
        saratoga__file *f = u->files;
        u->files = f->next;
        test_free(f);
    }
}

TEST(the_oldest_transfer_of_each_host_gets_most_of_its_share) {
    saratoga_node *u = test_calloc(1, sizeof(*u));
    saratoga__file *a = begin(u, 7);
    saratoga__file *b = begin(u, 8);
    saratoga__file *second = begin(u, 7);

    u->options.rate_bps = 65000;
    saratoga__share_rate(u);
    assert_int_equal(a->send.rate, 32000);
    assert_int_equal(b->send.rate, 32000);
    assert_int_equal(second->send.rate, 1000);
    end_all(u);
    test_free(u);
}

/* Steps per transfer, each with a host of its own. */
static uint64_t steps_of(unsigned hosts) {
    saratoga_node *u = test_calloc(1, sizeof(*u));

    u->options.rate_bps = 1000000;
    for (unsigned i = 1; i <= hosts; i++) {
        (void)begin(u, i * UINT64_C(0x9e3779b97f4a7c15));
    }
    steps = 0;
    saratoga__share_rate(u);
    end_all(u);
    test_free(u);
    print_message("%u hosts: %" PRIu64 " steps each\n", hosts, steps / hosts);
    return steps / hosts;
}

TEST(many_hosts_cost_as_much_each_as_few) {
    assert_true(steps_of(1000) < 2 * steps_of(10));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_oldest_transfer_of_each_host_gets_most_of_its_share),
        cmocka_unit_test(many_hosts_cost_as_much_each_as_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

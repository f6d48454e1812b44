/* SPDX-License-Identifier: MPL-2.0 */
#include "libsaratoga/node/routes.h"

#include <arpa/inet.h>
#include <string.h>

#include "tests/support/cmocka.h"

struct rig {
    saratoga_node node;
    struct saratoga__route_entry entry[SARATOGA__ROUTES];
    saratoga__file file[3];
};

static net__route route(const char *host, uint16_t port) {
    net__route r = {0};

    r.remote.in4.sin_family = AF_INET;
    r.remote.in4.sin_port = htons(port);
    assert_int_equal(inet_pton(AF_INET, host, &r.remote.in4.sin_addr), 1);
    return r;
}

static struct rig *rig_new(void) {
    struct rig *g = test_calloc(1, sizeof(*g));

    memset(g->node.routes.key, 7, sizeof(g->node.routes.key));
    g->node.routes.entry = g->entry;
    g->node.engine_config.beacon_to.path = 1;
    g->node.routes.group_info.path = 2;
    return g;
}

/* A transfer with a peer there. */
static saratoga_pktinfo serve(struct rig *g, unsigned i, const char *host,
                              uint16_t port) {
    const net__route r = route(host, port);
    saratoga__file *f = &g->file[i];
    saratoga_pktinfo at;

    saratoga__pktinfo(&g->node, &r, &at);
    saratoga__peer_is_at(f, &at, &r);
    f->next = g->node.files;
    g->node.files = f;
    return at;
}

static void evict_all(struct rig *g) {
    memset(g->entry, 0, sizeof(g->entry));
}

static unsigned port_of(const net__route *r) {
    return r != NULL ? ntohs(r->remote.in4.sin_port) : 0;
}

TEST(clients_behind_one_address_keep_their_routes_in_a_flood) {
    struct rig *g = rig_new();
    const saratoga_pktinfo a = serve(g, 0, "192.0.2.1", 1001);
    const saratoga_pktinfo b = serve(g, 1, "192.0.2.1", 1002);

    evict_all(g);
    assert_int_equal(port_of(saratoga__route_of(&g->node, &a)), 1001);
    assert_int_equal(port_of(saratoga__route_of(&g->node, &b)), 1002);
    assert_int_equal(port_of(saratoga__route_of_path(&g->node, a.path)), 1001);
    assert_int_equal(port_of(saratoga__route_of_path(&g->node, b.path)), 1002);
    test_free(g);
}

/* Its answers may come from another port than the one that was asked. */
TEST(a_port_that_no_transfer_has_is_found_by_its_host_if_that_is_certain) {
    struct rig *g = rig_new();
    const net__route other = route("192.0.2.1", 1003);
    saratoga_pktinfo to;

    saratoga__place(&g->node, &other, &to);
    assert_null(saratoga__route_of(&g->node, &to));
    (void)serve(g, 0, "192.0.2.1", 1001);
    (void)serve(g, 1, "192.0.2.2", 1002);
    assert_int_equal(port_of(saratoga__route_of(&g->node, &to)), 1001);
    (void)serve(g, 2, "192.0.2.1", 1002);
    assert_null(saratoga__route_of(&g->node, &to));
    test_free(g);
}

TEST(the_newest_routes_need_no_transfer) {
    struct rig *g = rig_new();
    const net__route r = route("192.0.2.1", 1001);
    saratoga_pktinfo at;

    saratoga__pktinfo(&g->node, &r, &at);
    assert_int_equal(port_of(saratoga__route_of(&g->node, &at)), 1001);
    evict_all(g);
    assert_null(saratoga__route_of(&g->node, &at));
    assert_null(saratoga__route_of_path(&g->node, at.path));
    test_free(g);
}

int main(void) {
#define T(f) cmocka_unit_test(f)
    const struct CMUnitTest tests[] = {
        T(clients_behind_one_address_keep_their_routes_in_a_flood),
        T(a_port_that_no_transfer_has_is_found_by_its_host_if_that_is_certain),
        T(the_newest_routes_need_no_transfer),
    };
    return cmocka_run_group_tests_name("routes", tests, NULL, NULL);
}

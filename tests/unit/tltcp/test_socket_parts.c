/* SPDX-License-Identifier: MPL-2.0 */
/* The small parts of the driver: tokens, tallies, flags, alarms, traces. */
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include "internal/common/siphash.h"
#include "internal/net/route.h"
#include "internal/net/timer.h"
#include "libtltcp/engine/conn.h"
#include "libtltcp/socket/event_fd.h"
#include "libtltcp/socket/qlog.h"
#include "libtltcp/socket/state.h"
#include "libtltcp/socket/stats.h"
#include "tests/loopback/relay.h"

/* An idle connection takes 4 KiB with it; test_crowd.c counts the rest. */
TEST(a_socket_takes_few_bytes) {
    assert_true(sizeof(struct tltcp_socket) <= 280);
}

/* --- Statistics ---------------------------------------------------------- */

/* A gauge of one connection says nothing in a sum. */
TEST(a_listener_sums_up_its_counters) {
    static const size_t others[] = {offsetof(tltcp_stats, packets_forged),
                                    offsetof(tltcp_stats, sections_dependent),
                                    offsetof(tltcp_stats, sections_yielded),
                                    offsetof(tltcp_stats, repair_bytes_sent),
                                    offsetof(tltcp_stats, bytes_rebuilt)};
    tltcp_stats sum;
    tltcp_stats one;
    uint64_t n;

    tltcp_stats_init(&sum);
    memset(&one, 1, sizeof(one));
    tltcp__stats_add(&sum, &one);
    tltcp__stats_add(&sum, &one);
    assert_int_equal(sum.bytes_queued, 0);
    assert_int_equal(sum.bytes_unread, 0);
    sum.bytes_queued = sum.bytes_unread = UINT64_C(0x0202020202020202);
    for (size_t at = offsetof(tltcp_stats, sections_offered);
         at < offsetof(tltcp_stats, cwnd_bytes); at += sizeof(n)) {
        memcpy(&n, (const char *)&sum + at, sizeof(n));
        assert_int_equal(n, UINT64_C(0x0202020202020202));
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        memcpy(&n, (const char *)&sum + others[i], sizeof(n));
        assert_int_equal(n, UINT64_C(0x0202020202020202));
    }
}

/* --- Tokens -------------------------------------------------------------- */

/* Vectors of the paper's appendix and of the authors' own test. */
TEST(siphash_agrees_with_the_published_vectors) {
    static const uint64_t vectors[] = {
        UINT64_C(0x726fdb47dd0e0e31), UINT64_C(0x74f839c593dc67fd),
        UINT64_C(0x0d6c8009d9a94f5a), UINT64_C(0x85676696d7fb7e2d)};
    uint8_t key[NET__KEY_LEN];
    uint8_t data[15];

    for (uint8_t i = 0; i < 16; i++) {
        key[i] = i;
    }
    for (uint8_t i = 0; i < 15; i++) {
        data[i] = i;
    }
    for (size_t len = 0; len < 4; len++) {
        assert_true(cmn__siphash(key, data, len) == vectors[len]);
    }
    assert_true(cmn__siphash(key, data, 15) == UINT64_C(0xa129ca6149be45e5));
}

static net__route route_of(uint32_t ip, uint16_t port) {
    net__route r;

    memset(&r, 0, sizeof(r));
    r.remote.in4.sin_family = AF_INET;
    r.remote.in4.sin_addr.s_addr = htonl(ip);
    r.remote.in4.sin_port = htons(port);
    return r;
}

TEST(tokens_distinguish_routes) {
    static const uint8_t key[NET__KEY_LEN] = {1, 2, 3};
    static const uint8_t other[NET__KEY_LEN] = {1, 2, 4};
    net__route a = route_of(0x7f000001, 1000);
    net__route b = route_of(0x7f000001, 1001);
    net__route c = route_of(0x7f000002, 1000);
    net__route mapped = a;

    assert_true(net__route_token(key, &a) == net__route_token(key, &a));
    assert_true(net__route_token(key, &a) != net__route_token(key, &b));
    assert_true(net__route_token(key, &a) != net__route_token(key, &c));
    assert_true(net__route_token(key, &a) != net__route_token(other, &a));
    net__addr_map(&mapped.remote);
    assert_int_equal(mapped.remote.sa.sa_family, AF_INET6);
    assert_true(net__route_token(key, &a) == net__route_token(key, &mapped));
    mapped.local.s6_addr[15] = 9;
    assert_true(net__route_token(key, &a) != net__route_token(key, &mapped));
    assert_true(net__route_network(key, &a) == net__route_network(key, &b));
    assert_true(net__route_network(key, &a) != net__route_network(key, &c));
    assert_true(net__host_token(key, &a.remote) ==
                net__host_token(key, &b.remote));
    assert_true(net__host_token(key, &a.remote) !=
                net__host_token(key, &c.remote));
    assert_true(net__addr_token(key, &a.remote) !=
                net__addr_token(key, &b.remote));
    assert_true(net__addr_token(key, &a.remote) ==
                net__addr_token(key, &mapped.remote));
    assert_true(net__addr_token(key, &a.remote) !=
                net__host_token(key, &a.remote));
    net__addr_unmap(&mapped.remote);
    assert_memory_equal(&mapped.remote.in4, &a.remote.in4,
                        sizeof(a.remote.in4));
}

static net__route route_of_ipv6(uint8_t seventh, uint8_t eighth) {
    net__route r;

    memset(&r, 0, sizeof(r));
    r.remote.in6.sin6_family = AF_INET6;
    r.remote.in6.sin6_addr.s6_addr[0] = 0x20;
    r.remote.in6.sin6_addr.s6_addr[6] = seventh;
    r.remote.in6.sin6_addr.s6_addr[7] = eighth;
    r.remote.in6.sin6_addr.s6_addr[15] = (uint8_t)(seventh + eighth);
    return r;
}

TEST(blocks_of_ipv6_addresses_have_tokens) {
    static const uint8_t key[NET__KEY_LEN] = {1, 2, 3};
    net__route a = route_of_ipv6(1, 1);
    net__route near = route_of_ipv6(1, 2);
    net__route far = route_of_ipv6(2, 1);
    net__route ipv4 = route_of(0x7f000001, 1000);

    assert_true(net__route_network(key, &a) != net__route_network(key, &near));
    assert_true(net__route_block(key, &a, 56) ==
                net__route_block(key, &near, 56));
    assert_true(net__route_block(key, &a, 56) !=
                net__route_block(key, &far, 56));
    assert_true(net__route_block(key, &a, 48) ==
                net__route_block(key, &far, 48));
    assert_int_equal(net__route_block(key, &ipv4, 48), 0);
}

TEST(the_route_in_use_is_never_forgotten) {
    net__routes t = {0};
    net__route r = route_of(1, 1);

    net__routes_add(&t, 100, &r, 0);
    assert_null(t.more); /* most have only one */
    for (uint16_t i = 1; i < 50; i++) {
        r = route_of(1, i);
        net__routes_add(&t, i, &r, 100);
        assert_non_null(net__routes_find(&t, 100));
        assert_non_null(net__routes_find(&t, i));
        assert_int_equal(net__routes_find(&t, i)->remote.in4.sin_port,
                         htons(i));
    }
    assert_null(net__routes_find(&t, 1));
    net__routes_free(&t);
}

/* --- Flag ---------------------------------------------------------------- */

TEST(a_flag_is_readable_while_raised) {
    tltcp__event_fd f = {.fd = -1};

    tltcp__event_fd_set(&f, true); /* not open: nothing happens */
    assert_int_equal(tltcp__event_fd_open(&f), 0);
    assert_false(lo_ready(f.fd));
    for (int i = 0; i < 3; i++) {
        tltcp__event_fd_set(&f, true);
        tltcp__event_fd_set(&f, true);
        assert_true(lo_ready(f.fd));
        assert_true(lo_ready(f.fd));
        tltcp__event_fd_set(&f, false);
        assert_false(lo_ready(f.fd));
    }
    tltcp__event_fd_close(&f);
}

/* --- Alarm --------------------------------------------------------------- */

struct bell {
    uv_loop_t loop;
    net__timer alarm;
    uint64_t rang;
    unsigned times;
};

static void ring(void *owner) {
    struct bell *b = owner;

    b->rang = uv_hrtime();
    b->times++;
    uv_stop(&b->loop);
}

TEST(an_alarm_rings_not_too_early_and_once) {
    struct bell b = {.times = 0};
    uint64_t at;

    assert_int_equal(uv_loop_init(&b.loop), 0);
    assert_int_equal(net__timer_init(&b.alarm, &b.loop, ring, &b), 0);
    at = uv_hrtime() + 3000000;
    net__timer_set(&b.alarm, at + 1000000000); /* an earlier one replaces it */
    net__timer_set(&b.alarm, at);
    net__timer_set(&b.alarm, at + 5000000); /* a later one does not */
    (void)uv_run(&b.loop, UV_RUN_DEFAULT);
    assert_true(b.rang + 1000000 >= at); /* libuv's own are exact to 1 ms */
    net__timer_set(&b.alarm, 0);         /* past: at once */
    (void)uv_run(&b.loop, UV_RUN_DEFAULT);
    assert_int_equal(b.times, 2);
    (void)uv_run(&b.loop, UV_RUN_NOWAIT);
    assert_int_equal(b.times, 2);
    net__timer_close(&b.alarm);
    (void)uv_run(&b.loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&b.loop), 0);
}

/* --- Traces -------------------------------------------------------------- */

struct folder {
    struct lo lo;
    char dir[64];
};

static int make_folder(void **state) {
    struct folder *f = calloc(1, sizeof(*f));

    if (f == NULL) {
        return -1;
    }
    tltcp_config_init(&f->lo.config);
    f->lo.host = "127.0.0.1";
    snprintf(f->dir, sizeof(f->dir), "/tmp/perigee-test-XXXXXX");
    *state = f;
    return mkdtemp(f->dir) != NULL ? 0 : -1;
}

/* Calls `look` with every file, which is then removed. */
static unsigned each_file(const char *dir, void (*look)(const char *path)) {
    DIR *d = opendir(dir);
    struct dirent *e;
    unsigned count = 0;

    assert_non_null(d);
    while ((e = readdir(d)) != NULL) {
        char path[400];

        if (e->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        if (look != NULL) {
            look(path);
        }
        (void)unlink(path);
        count++;
    }
    closedir(d);
    return count;
}

static int remove_folder(void **state) {
    struct folder *f = *state;

    (void)each_file(f->dir, NULL);
    (void)rmdir(f->dir);
    return lo_teardown(state);
}

/* Checks a whole qlog file and counts its records. */
static unsigned read_qlog(const char *path) {
    FILE *file = fopen(path, "rb");
    static char line[8192];
    unsigned records = 0;
    double before = -1;

    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        json_t *j = json_loads(line + 1, 0, NULL);

        assert_int_equal(line[0], 0x1e);
        assert_int_equal(line[strlen(line) - 1], '\n');
        assert_non_null(j);
        if (records == 0) {
            assert_string_equal(
                json_string_value(json_object_get(j, "qlog_format")),
                "JSON-SEQ");
            assert_true(json_is_object(json_object_get(j, "trace")));
        } else {
            double time = json_number_value(json_object_get(j, "time"));

            assert_true(time >= before);
            before = time;
            assert_non_null(json_string_value(json_object_get(j, "name")));
            assert_true(json_is_object(json_object_get(j, "data")));
        }
        records++;
        json_decref(j);
    }
    fclose(file);
    return records;
}

static void expect_some_records(const char *path) {
    assert_true(read_qlog(path) > 5);
}

TEST(each_connection_writes_its_qlog) {
    struct folder *f = *state;
    struct lo *l = &f->lo;

    l->config.qlog_dir = f->dir;
    lo_pair(l);
    lo_send_text(l->client, "traced");
    lo_expect_text(l->server, "traced");
    assert_int_equal(tltcp_close(l->client, LO_PATIENCE), 0);
    assert_int_equal(tltcp_close(l->server, LO_PATIENCE), 0);
    assert_int_equal(tltcp_close(l->listener, 0), 0);
    l->client = l->server = l->listener = NULL;
    assert_int_equal(each_file(f->dir, expect_some_records), 2);
}

static void expect_awkward_values(const char *path) {
    FILE *file = fopen(path, "rb");
    char text[2000];
    size_t len;

    assert_int_equal(read_qlog(path), 3);
    assert_non_null(file);
    len = fread(text, 1, sizeof(text) - 1, file);
    text[len] = '\0';
    fclose(file);
    assert_non_null(strstr(text, "\"time\":1.500000"));
    assert_non_null(strstr(text, "\"whole\":12,\"part\":-0.250000,"
                                 "\"none\":null,\"huge\":1"));
    assert_non_null(strstr(text, "\"trigger\":\"say \\\"\\\\\\u0009\""));
}

TEST(values_are_written_as_json_wants_them) {
    static const char *const keys[] = {"whole", "part", "none", "huge", NULL};
    static const char *const no_keys[] = {NULL};
    const double values[] = {12, -0.25, 1.0 / 0.0, 1e300};
    struct folder *f = *state;
    struct tltcp__qlog *q = tltcp__qlog_open(f->dir, 0xabcdef, true, 1000);
    tltcp_trace_event ev = {
        .name = "a:b", .now = 1000 + 1500000, .keys = keys, .values = values};

    assert_non_null(q);
    tltcp__qlog_write(q, &ev, 16);
    ev.keys = no_keys;
    ev.text = "say \"\\\t";
    tltcp__qlog_write(q, &ev, 16);
    tltcp__qlog_close(q);
    assert_int_equal(each_file(f->dir, expect_awkward_values), 1);
}

static void count_events(void *user, const tltcp_trace_event *ev) {
    unsigned *count = user;

    assert_non_null(ev->name);
    (*count)++;
}

TEST(on_trace_gets_every_event_before_close_returns) {
    struct folder *f = *state;
    struct lo *l = &f->lo;
    unsigned count = 0;

    lo_listen(l);
    l->config.on_trace = count_events; /* the caller's I/O thread only */
    l->config.user = &count;
    lo_connect(l);
    assert_int_equal(tltcp_close(l->client, LO_PATIENCE), 0);
    l->client = NULL;
    assert_true(count > 3);
}

/* --- Peers on this machine ------------------------------------------------ */

static bool is_local(const tltcp_socket *s) {
    bool local;

    uv_mutex_lock(tltcp__mutex(s));
    local = s->conn->local;
    uv_mutex_unlock(tltcp__mutex(s));
    return local;
}

static void expect_local(struct lo *l, bool local) {
    lo_connect(l);
    lo_accept(l);
    lo_send_text(l->client, "there");
    lo_expect_text(l->server, "there");
    lo_send_text(l->server, "and back");
    lo_expect_text(l->client, "and back");
    assert_int_equal(is_local(l->client), local);
    assert_int_equal(is_local(l->server), local);
}

TEST(packets_from_socket_to_socket_need_no_checksum) {
    struct lo *l = *state;

    lo_listen(l);
    expect_local(l, true);
}

TEST(only_some_addresses_are_of_the_loopback_interface) {
    static const char *const yes[] = {"127.0.0.1", "127.255.0.9"};
    static const char *const no[] = {"0.0.0.0", "126.0.0.1", "128.0.0.1",
                                     "192.0.2.127"};
    net__addr six = {
        .in6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT}};

    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
        net__addr a = {.in4 = {.sin_family = AF_INET,
                               .sin_addr.s_addr = inet_addr(yes[i])}};

        assert_true(net__addr_is_loopback(&a));
        net__addr_map(&a);
        assert_true(net__addr_is_loopback(&a));
    }
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        net__addr a = {.in4 = {.sin_family = AF_INET,
                               .sin_addr.s_addr = inet_addr(no[i])}};

        assert_false(net__addr_is_loopback(&a));
    }
    assert_true(net__addr_is_loopback(&six));
    six.in6.sin6_addr.s6_addr[0] = 0x7f;
    assert_false(net__addr_is_loopback(&six));
}

/* It may be a link emulator, which damages some. */
TEST(packets_through_another_process_need_one) {
    struct lo *l = *state;
    struct relay r = {.look = NULL};

    relay_start(&r, l);
    expect_local(l, false);
    relay_stop(&r);
}

TEST(sealed_packets_have_none_anyway) {
    struct lo *l = *state;

    l->config.passphrase = "nobody knows it";
    lo_listen(l);
    expect_local(l, false);
}

/* --- A listener's threads ------------------------------------------------- */

TEST(every_thread_of_a_listener_knows_how_much_its_socket_holds) {
    struct lo *l = *state;
    const struct tltcp__listener *all;

    lo_listen(l);
    all = l->listener->port->listening->listener;
    for (unsigned i = 0; i < all->count; i++) {
        assert_true(all->ports[i]->roomy ==
                    (net__udp_buffer(all->ports[i]->udp) >= ((size_t)4 << 20)));
    }
}

#define Q(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_socket_takes_few_bytes),
        cmocka_unit_test(a_listener_sums_up_its_counters),
        cmocka_unit_test(siphash_agrees_with_the_published_vectors),
        cmocka_unit_test(tokens_distinguish_routes),
        cmocka_unit_test(blocks_of_ipv6_addresses_have_tokens),
        cmocka_unit_test(the_route_in_use_is_never_forgotten),
        cmocka_unit_test(a_flag_is_readable_while_raised),
        cmocka_unit_test(an_alarm_rings_not_too_early_and_once),
        Q(each_connection_writes_its_qlog),
        Q(values_are_written_as_json_wants_them),
        Q(on_trace_gets_every_event_before_close_returns),
        cmocka_unit_test(only_some_addresses_are_of_the_loopback_interface),
        LO_TEST(packets_from_socket_to_socket_need_no_checksum, ipv4),
        LO_TEST(packets_from_socket_to_socket_need_no_checksum, ipv6),
        LO_TEST(packets_from_socket_to_socket_need_no_checksum, threads),
        LO_TEST(every_thread_of_a_listener_knows_how_much_its_socket_holds,
                threads),
        LO_TEST(packets_through_another_process_need_one, ipv4),
        LO_TEST(sealed_packets_have_none_anyway, ipv4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Random calls of the socket API: any order, any handle, odd arguments. Each
 * returns what its header says; sanitizers see the rest. */
#include <inttypes.h>
#include <stdlib.h>

#include <uv.h>

#include "sim/random.h"
#include "tests/loopback/lo.h"
#include "tests/support/odd.h"

#define SLOTS 6
#define CALLS 300
#define SEQUENCES 25
#define PARTS 3
#define ROOM 3000

/* The sockets that threads share. */
struct table {
    uv_rwlock_t lock; /* to be closed, a socket must be in nobody's use */
    tltcp_socket *slot[SLOTS];
    char port[8]; /* of the newest listener */
};

/* A thread, or the only one. */
struct caller {
    struct table *table;
    void (*const *calls)(struct caller *c); /* NULL-terminated */
    struct sim_random random;
    uint64_t sequence;
    uint64_t sense; /* one argument in so many is odd */
    const char *call;
    uint8_t got[PARTS][ROOM];
};

static uint8_t room[ROOM];

/* A config and what it points to; wiped after the call that takes it. */
struct settings {
    tltcp_config config;
    char congestion[8];
    char stream_id[8];
    uint8_t key[32];
};

static uint64_t below(struct caller *c, uint64_t n) {
    return sim_random_below(&c->random, n);
}

static bool one_in(struct caller *c, uint64_t n) {
    return below(c, n) == 0;
}

static bool odd(struct caller *c) {
    return one_in(c, c->sense);
}

/* Fails unless rv is at least 0 or one of these errors. */
static void expect(const struct caller *c, int64_t rv, const int *errors) {
    bool listed = rv >= 0;
    for (; !listed && *errors != 0; errors++) {
        listed = rv == *errors;
    }
    if (!listed) {
        print_error("sequence %" PRIu64 ": %s returned %d (%s)\n", c->sequence,
                    c->call, (int)rv, tltcp_strerror((int)rv));
        abort(); /* not all threads are CMocka's */
    }
}
#define EXPECT(c, rv, ...) expect((c), (rv), (const int[]){__VA_ARGS__, 0})

/* The errors that end a connection. */
#define ENDS                                                                   \
    TLTCP_ERR_CLOSED, TLTCP_ERR_TIMEOUT, TLTCP_ERR_ABORTED, TLTCP_ERR_REFUSED, \
        TLTCP_ERR_LIMIT, TLTCP_ERR_AUTH, TLTCP_ERR_ADDRESS

/* Any socket, or NULL, until give_back(). */
static tltcp_socket *borrow(struct caller *c) {
    uv_rwlock_rdlock(&c->table->lock);
    return odd(c) ? NULL : c->table->slot[below(c, SLOTS)];
}

static void give_back(struct caller *c) {
    uv_rwlock_rdunlock(&c->table->lock);
}

/* Checks the result of a call with a borrowed socket. */
#define EXPECT_BACK(c, rv, ...)         \
    do {                                \
        int64_t result = (rv);          \
        give_back(c);                   \
        EXPECT(c, result, __VA_ARGS__); \
    } while (0)

static int flags(struct caller *c) {
    static const int good[] = {0, MSG_TL, MSG_TL | MSG_TL_META};
    static const int bad[] = {0x40000000, MSG_TL_META, -1};
    return MSG_DONTWAIT | (odd(c) ? bad[below(c, 3)] : good[below(c, 3)]);
}

static tltcp_time when(struct caller *c) {
    switch (below(c, 6)) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
        return TLTCP_TIME_NEVER;
    case 3:
        return TLTCP_TIME_NEVER - 1;
    default:
        return tltcp_now() + below(c, 200) * TLTCP_MS;
    }
}

static struct iovec part(struct caller *c) {
    size_t len = 1 + (size_t)below(c, ROOM);
    return odd_part(room, len,
                    odd(c) ? (unsigned)below(c, ODD_PARTS) : ODD_PARTS);
}

static void spoil(struct caller *c, tltcp_config *g) {
    uint32_t *const narrow[] = {&g->connect_timeout_ms,
                                &g->idle_timeout_ms,
                                &g->latency_ms,
                                &g->keep_alive_ms,
                                &g->io.timer_granularity_us,
                                &g->controller.initial_window,
                                &g->controller.max_window,
                                &g->packets.max_ack_delay_ms,
                                &g->listener.max_connections,
                                &g->listener.max_per_address,
                                &g->listener.max_half_open,
                                &g->listener.max_half_open_per_address,
                                &g->drop_policy,
                                &g->fec};
    static const uint32_t edges[] = {0, 1, 2, 1000, INT32_MAX, UINT32_MAX};
    switch (below(c, 6)) {
    case 0:
        g->max_rate = one_in(c, 2) ? 1 : UINT64_MAX;
        break;
    case 1:
        g->struct_size = one_in(c, 2) ? 0 : SIZE_MAX;
        break;
    case 2:
        g->congestion = "no-such-controller";
        break;
    case 3:
        g->key_len = (size_t)below(c, 64);
        break;
    default:
        *narrow[below(c, sizeof(narrow) / sizeof(narrow[0]))] =
            edges[below(c, 6)];
        break;
    }
}

static void configure(struct caller *c, struct settings *s) {
    static const char names[][8] = {"auto", "cubic", "reno", "bbr"};
    tltcp_config *g = &s->config;
    memset(s, 0, sizeof(*s));
    tltcp_config_init(g);
    memcpy(s->congestion, names[below(c, 4)], sizeof(s->congestion));
    g->congestion = s->congestion;
    memcpy(s->stream_id, "stream", sizeof("stream"));
    g->stream_id = one_in(c, 4) ? s->stream_id : NULL;
    if (c->sequence % 2 == 0 || odd(c)) {
        memset(s->key, 7, sizeof(s->key));
        g->key = s->key;
        g->key_len = sizeof(s->key);
    }
    g->connect_timeout_ms = 20 + (uint32_t)below(c, 200);
    g->idle_timeout_ms = 50 + (uint32_t)below(c, 1000);
    g->latency_ms = (uint32_t)below(c, 50);
    g->keep_alive_ms = (uint32_t)below(c, 50);
    g->rekey_packets = odd(c) ? below(c, 5) : 0;
    g->send_buffer = one_in(c, 2) ? 4096 : 65536;
    g->recv_buffer = one_in(c, 2) ? 4096 : 65536;
    g->report_fates = one_in(c, 2);
    g->unordered = one_in(c, 3);
    g->recovery = one_in(c, 4) ? "dupack" : NULL;
    g->io.batches = !one_in(c, 4);
    g->io.transport = odd(c) ? (uint8_t)below(c, 4) : 0;
    g->io.threads = odd(c) ? (uint8_t)below(c, 4) : 1;
    g->listener.always_retry = one_in(c, 8);
    if (odd(c)) {
        spoil(c, g);
    }
}

/* --- Making sockets ------------------------------------------------------ */

/* Puts a socket into a free slot; NULL: makes one free. Returns what is to be
 * closed. */
static tltcp_socket *swap(struct caller *c, tltcp_socket *s) {
    struct table *t = c->table;
    size_t at = (size_t)below(c, SLOTS);
    tltcp_socket *old;
    uv_rwlock_wrlock(&t->lock);
    for (size_t i = 0; i < SLOTS && s != NULL && t->slot[at] != NULL; i++) {
        at = (at + 1) % SLOTS;
    }
    old = t->slot[at];
    t->slot[at] = s;
    uv_rwlock_wrunlock(&t->lock);
    return old;
}

static void keep(struct caller *c, tltcp_socket *s) {
    (void)tltcp_close(swap(c, s), (int)below(c, 3));
}

static void call_listen(struct caller *c) {
    tltcp_socket *s = NULL;
    struct settings g;
    char port[8];
    int rv;
    configure(c, &g);
    c->call = "tltcp_listen";
    rv = tltcp_listen(odd(c) ? NULL : &s, "127.0.0.1", odd(c) ? NULL : "0",
                      one_in(c, 8) ? NULL : &g.config);
    memset(&g, 0xff, sizeof(g));
    EXPECT(c, rv, TLTCP_ERR_INVAL, TLTCP_ERR_ALGORITHM, TLTCP_ERR_UNSUPPORTED);
    if (rv == 0) {
        lo_port(s, port);
        uv_rwlock_wrlock(&c->table->lock);
        memcpy(c->table->port, port, sizeof(port));
        uv_rwlock_wrunlock(&c->table->lock);
        keep(c, s);
    }
}

static void call_connect(struct caller *c) {
    tltcp_socket *s = NULL;
    struct settings g;
    char port[8];
    int rv;
    configure(c, &g);
    uv_rwlock_rdlock(&c->table->lock);
    memcpy(port, c->table->port, sizeof(port));
    uv_rwlock_rdunlock(&c->table->lock);
    c->call = "tltcp_connect";
    rv = tltcp_connect(odd(c) ? NULL : &s, odd(c) ? NULL : "127.0.0.1",
                       odd(c) ? "9" : port, &g.config,
                       one_in(c, 2) ? (int)below(c, 30) : 0);
    memset(&g, 0xff, sizeof(g));
    EXPECT(c, rv, TLTCP_ERR_INVAL, TLTCP_ERR_ALGORITHM, TLTCP_ERR_UNSUPPORTED,
           TLTCP_ERR_VERSION, ENDS);
    if (rv == 0) {
        keep(c, s);
    }
}

static void call_accept(struct caller *c) {
    tltcp_socket *s = NULL;
    int rv;
    c->call = "tltcp_accept";
    rv = tltcp_accept(borrow(c), odd(c) ? NULL : &s, (int)below(c, 3));
    give_back(c);
    EXPECT(c, rv, TLTCP_ERR_INVAL, TLTCP_ERR_AGAIN);
    if (rv == 0) {
        keep(c, s);
    }
}

static void call_close(struct caller *c) {
    tltcp_socket *s;
    if (!one_in(c, 8)) {
        return;
    }
    s = swap(c, NULL);
    if (one_in(c, 3)) {
        c->call = "tltcp_reject";
        if (tltcp_reject(s, one_in(c, 2) ? "no" : NULL) == 0) {
            return;
        }
    }
    c->call = "tltcp_close";
    EXPECT(c, tltcp_close(s, (int)below(c, 20)), TLTCP_ERR_TIMEOUT,
           TLTCP_ERR_CLOSED);
}

/* --- Data ---------------------------------------------------------------- */

static tltcp_section section(struct caller *c, struct iovec *v) {
    tltcp_section s = {.data = odd(c) ? NULL : v,
                       .count = odd(c) ? 0 : 1 + (size_t)below(c, PARTS),
                       .deadline = when(c)};
    for (size_t i = 0; i < PARTS; i++) {
        v[i] = part(c);
    }
    if (one_in(c, 2)) {
        s.meta = (struct tltcp_meta){
            .section_class = (uint32_t)below(c, TL_CLASS_LAST + 1 + odd(c)),
            .stream = (uint32_t)below(c, TL_STREAMS_MAX + odd(c)),
            .depends = (uint32_t)sim_random_u64(&c->random),
            .due = when(c),
            .tag = sim_random_u64(&c->random)};
    }
    return s;
}

static void call_send(struct caller *c) {
    struct iovec v[2][PARTS];
    tltcp_section s[2] = {section(c, v[0]), section(c, v[1])};
    c->call = "tltcp_send";
    EXPECT_BACK(c,
                tltcp_send(borrow(c), odd(c) ? NULL : s,
                           odd(c) ? 0 : 1 + (size_t)below(c, 2),
                           odd(c) ? flags(c) : MSG_DONTWAIT),
                TLTCP_ERR_AGAIN, TLTCP_ERR_INVAL, TLTCP_ERR_TOO_BIG,
                TLTCP_ERR_STATE, TLTCP_ERR_CLOSED);
}

/* Control data: right, nearly right, or noise. */
union control {
    struct cmsghdr align;
    uint8_t bytes[400];
};

static struct msghdr message(struct caller *c, struct iovec *v,
                             union control *k) {
    struct msghdr m = {.msg_iov = odd(c) ? NULL : v,
                       .msg_iovlen = odd(c) ? 0 : 1 + (size_t)below(c, PARTS),
                       .msg_control = k};
    struct cmsghdr *h = &k->align;
    size_t each = one_in(c, 2) ? sizeof(tltcp_time) : sizeof(struct tltcp_meta);
    sim_random_bytes(&c->random, k, sizeof(*k));
    m.msg_controllen = (size_t)below(c, sizeof(*k));
    if (!odd(c)) {
        h->cmsg_level = SOL_TLTCP;
        h->cmsg_type = each == sizeof(tltcp_time) ? TL_DEADLINE : TL_META;
        h->cmsg_len = CMSG_LEN(each * m.msg_iovlen);
        m.msg_controllen = CMSG_SPACE(each * m.msg_iovlen);
    }
    return m;
}

static void call_sendmsg(struct caller *c) {
    struct iovec v[PARTS];
    union control k;
    struct msghdr m = message(c, v, &k);
    for (size_t i = 0; i < PARTS; i++) {
        v[i] = part(c);
    }
    c->call = "tltcp_sendmsg";
    EXPECT_BACK(c, tltcp_sendmsg(borrow(c), odd(c) ? NULL : &m, flags(c)),
                TLTCP_ERR_AGAIN, TLTCP_ERR_INVAL, TLTCP_ERR_CONTROL,
                TLTCP_ERR_TOO_BIG, TLTCP_ERR_STATE, TLTCP_ERR_CLOSED);
}

static void call_recvmsg(struct caller *c) {
    struct iovec v[PARTS];
    union control k;
    struct msghdr m = message(c, v, &k);
    for (size_t i = 0; i < PARTS; i++) {
        v[i].iov_base = odd(c) ? NULL : c->got[i];
        v[i].iov_len = odd(c) ? 0 : 1 + (size_t)below(c, ROOM);
    }
    c->call = "tltcp_recvmsg";
    EXPECT_BACK(c, tltcp_recvmsg(borrow(c), odd(c) ? NULL : &m, flags(c)),
                TLTCP_ERR_AGAIN, TLTCP_ERR_GAP, TLTCP_ERR_INVAL,
                TLTCP_ERR_CONTROL, TLTCP_ERR_STATE, ENDS);
}

static void call_recv(struct caller *c) {
    tltcp_piece p[PARTS];
    size_t count = odd(c) ? 0 : 1 + (size_t)below(c, PARTS);
    for (size_t i = 0; i < PARTS; i++) {
        p[i] = (tltcp_piece){.data = odd(c) ? NULL : c->got[i],
                             .len = odd(c) ? 0 : 1 + (size_t)below(c, ROOM)};
    }
    c->call = "tltcp_recv";
    EXPECT_BACK(c,
                tltcp_recv(borrow(c), odd(c) ? NULL : p, odd(c) ? NULL : &count,
                           odd(c) ? flags(c) : MSG_DONTWAIT),
                TLTCP_ERR_AGAIN, TLTCP_ERR_INVAL, TLTCP_ERR_STATE, ENDS);
}

/* --- The rest ------------------------------------------------------------ */

static void call_shutdown(struct caller *c) {
    if (one_in(c, 16)) {
        c->call = "tltcp_shutdown";
        EXPECT_BACK(c, tltcp_shutdown(borrow(c)), TLTCP_ERR_INVAL);
    }
}

static void call_rekey(struct caller *c) {
    c->call = "tltcp_rekey";
    EXPECT_BACK(c, tltcp_rekey(borrow(c)), TLTCP_ERR_INVAL, TLTCP_ERR_STATE);
}

static void call_wait_connected(struct caller *c) {
    c->call = "tltcp_wait_connected";
    EXPECT_BACK(c, tltcp_wait_connected(borrow(c), (int)below(c, 4)),
                TLTCP_ERR_INVAL, TLTCP_ERR_AGAIN, TLTCP_ERR_VERSION, ENDS);
}

static void call_next_event(struct caller *c) {
    tltcp_event ev;
    c->call = "tltcp_next_event";
    EXPECT_BACK(
        c, tltcp_next_event(borrow(c), odd(c) ? NULL : &ev, (int)below(c, 3)),
        TLTCP_ERR_AGAIN, TLTCP_ERR_INVAL, TLTCP_ERR_CLOSED);
}

static void call_get_stats(struct caller *c) {
    tltcp_stats st;
    tltcp_stats_init(&st);
    st.struct_size -= odd(c) ? (size_t)below(c, sizeof(st)) : 0;
    c->call = "tltcp_get_stats";
    EXPECT_BACK(c, tltcp_get_stats(borrow(c), odd(c) ? NULL : &st),
                TLTCP_ERR_INVAL);
}

static void call_addresses(struct caller *c) {
    struct sockaddr_storage a;
    struct sockaddr *sa = (struct sockaddr *)&a;
    socklen_t len = (socklen_t)(odd(c) ? below(c, sizeof(a)) : sizeof(a));
    c->call = "tltcp_local_address";
    EXPECT_BACK(c, tltcp_local_address(borrow(c), odd(c) ? NULL : sa, &len),
                TLTCP_ERR_INVAL, TLTCP_ERR_IO);
    len = sizeof(a);
    c->call = "tltcp_peer_address";
    EXPECT_BACK(c, tltcp_peer_address(borrow(c), sa, odd(c) ? NULL : &len),
                TLTCP_ERR_INVAL);
}

static void call_would_arrive(struct caller *c) {
    size_t len = odd(c) ? SIZE_MAX : (size_t)below(c, ROOM);
    c->call = "tltcp_would_arrive";
    EXPECT_BACK(c, tltcp_would_arrive(borrow(c), len, when(c)),
                TLTCP_ERR_INVAL);
}

static void call_descriptors(struct caller *c) {
    c->call = "tltcp_fd";
    EXPECT_BACK(c, tltcp_fd(borrow(c)), TLTCP_ERR_INVAL);
    c->call = "tltcp_writable_fd";
    EXPECT_BACK(c, tltcp_writable_fd(borrow(c)), TLTCP_ERR_INVAL);
    c->call = "tltcp_event_fd";
    EXPECT_BACK(c, tltcp_event_fd(borrow(c)), TLTCP_ERR_INVAL);
}

static void call_identities(struct caller *c) {
    char reason[TLTCP_REASON_MAX + 1];
    c->call = "tltcp_socket_error";
    EXPECT_BACK(c, tltcp_socket_error(borrow(c), odd(c) ? NULL : reason),
                TLTCP_ERR_INVAL, TLTCP_ERR_VERSION, ENDS);
    assert_non_null(tltcp_stream_id(borrow(c)));
    give_back(c);
    (void)tltcp_identity(borrow(c));
    give_back(c);
}

/* --- Threads ------------------------------------------------------------- */

#define MAKERS call_listen, call_connect, call_accept, call_accept, call_close
#define SENDERS call_send, call_sendmsg
#define RECEIVERS call_recv, call_recvmsg
#define OTHERS                                                               \
    call_shutdown, call_rekey, call_wait_connected, call_next_event,         \
        call_get_stats, call_addresses, call_would_arrive, call_descriptors, \
        call_identities

static void run_calls(void *arg) {
    struct caller *c = arg;
    size_t n = 0;
    while (c->calls[n] != NULL) {
        n++;
    }
    for (int i = 0; i < CALLS; i++) {
        c->calls[below(c, n)](c);
    }
}

/* One caller for each list of calls. */
static void run_sequence(uint64_t sequence,
                         void (*const *const *lists)(struct caller *c),
                         size_t n) {
    struct caller *c = calloc(n, sizeof(*c));
    struct table t = {.port = "9"};
    uv_thread_t thread[4];
    assert_non_null(c);
    assert_int_equal(uv_rwlock_init(&t.lock), 0);
    for (size_t i = 0; i < n; i++) {
        c[i].table = &t;
        c[i].calls = lists[i];
        c[i].sequence = sequence;
        sim_random_init(&c[i].random, sequence * n + i);
        c[i].sense = UINT64_C(8) << below(&c[i], 8);
    }
    call_listen(&c[0]);
    for (size_t i = 1; i < n; i++) {
        assert_int_equal(uv_thread_create(&thread[i], run_calls, &c[i]), 0);
    }
    run_calls(&c[0]);
    for (size_t i = 1; i < n; i++) {
        assert_int_equal(uv_thread_join(&thread[i]), 0);
    }
    for (size_t i = 0; i < SLOTS; i++) {
        (void)tltcp_close(t.slot[i], 0);
    }
    uv_rwlock_destroy(&t.lock);
    free(c);
}

/* How many are run. */
static uint64_t sequences(void) {
    const char *n = getenv("PERIGEE_CALLS");
    return n != NULL ? strtoull(n, NULL, 10) : SEQUENCES;
}

TEST(calls_in_any_order_return_documented_results) {
    static void (*const all[])(struct caller * c) = {
        MAKERS,    SENDERS,   SENDERS, SENDERS, RECEIVERS,
        RECEIVERS, RECEIVERS, OTHERS,  NULL};
    static void (*const *const lists[])(struct caller * c) = {all};
    uint64_t n = sequences();
    for (uint64_t i = 1; i <= n; i++) {
        run_sequence(i, lists, 1);
    }
}

/* One sends, one receives, one makes and closes sockets, one does the rest. */
TEST(threads_that_share_sockets_get_documented_results) {
    static void (*const makers[])(struct caller * c) = {MAKERS, NULL};
    static void (*const senders[])(struct caller * c) = {SENDERS, NULL};
    static void (*const receivers[])(struct caller * c) = {RECEIVERS, NULL};
    static void (*const others[])(struct caller * c) = {OTHERS, NULL};
    static void (*const *const lists[])(struct caller * c) = {
        makers, senders, receivers, others};
    uint64_t n = sequences();
    for (uint64_t i = 1; i <= n; i++) {
        run_sequence(i, lists, 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            calls_in_any_order_return_documented_results, lo_ipv4, lo_teardown),
        cmocka_unit_test_setup_teardown(
            threads_that_share_sockets_get_documented_results, lo_ipv4,
            lo_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/*
 * What a stranger's packets cost: bytes that they draw, CPU time and memory of
 * the server, for every kind of first packet.  CPU time is compared with that
 * of a process that receives as many datagrams and does nothing, so that slow
 * and busy machines agree.  And while all kinds come at once, a stream arrives
 * whole and everybody who calls gets in.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <saratoga/node.h>

#include "tests/loopback/costs/changes.h"
#include "tests/loopback/costs/clients.h"

#include "tests/loopback/costs/tape.h"
#include "tests/loopback/costs/witness.h"

#define WARM_UP 1024u
#define FILLINGS 16u /* at most, of tables and of the allocator's arenas */
#define PACKETS 4096u
#define SLICES 8u
#define AMPLIFICATION 3.0
/* Times the CPU time of receiving alone.  A Diffie-Hellman takes twice that. */
#define SINKS 16.0
#define GROWTH ((uint64_t)PACKETS * 64)
#define SARATOGA_VERSION_1 0x20
#define SARATOGA_KINDS 5u

static const char *const change_name[] = {
    "replayed", "one bit changed", "by a new caller", "cut short", "junk"};

struct kind {
    const char *who;
    const struct datagram *d;
    enum change change;
    int own; /* sent from where it was recorded; -1: from new addresses */
};

static void send_kind(struct flood *f, const struct kind *k) {
    struct datagram d = *k->d;

    change_datagram(f, &d, k->change);
    if (k->own >= 0) {
        flood_from(f, k->own, &d);
    } else {
        flood_forge(f, &d);
    }
}

static void send_many(struct flood *f, const struct kind *k, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        send_kind(f, k);
    }
    flood_settle(f);
}

/* --- Costs --------------------------------------------------------------- */

/* CPU time for one datagram, in ns: that of the cheapest of several slices,
 * since other work on the machine makes each slice dearer. */
static double cost_of(const struct server *s, struct flood *f,
                      const struct kind *k) {
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < SLICES; i++) {
        uint64_t cpu = server_cpu(s);

        send_many(f, k, PACKETS / SLICES);
        cpu = server_cpu(s) - cpu;
        least = cpu < least ? cpu : least;
    }
    return (double)least * SLICES / PACKETS;
}

/* CPU time for a datagram that nobody looks at, in ns. */
static double sink_cost(void) {
    struct datagram d = {.len = 1200};
    const struct kind k = {"sink", &d, JUNK, -1};
    struct server s;
    struct flood f;
    double ns;

    start_server(&s, SINK, "");
    flood_open(&f, &s);
    send_many(&f, &k, WARM_UP);
    ns = cost_of(&s, &f, &k);
    flood_close(&f);
    stop_server(&s);
    return ns;
}

static void fill_tables(const struct server *s, const struct datagram *d) {
    const struct kind k = {"", d, NEW_CALLER, -1};
    struct flood f;

    flood_open(&f, s);
    for (unsigned i = 0; i < FILLINGS; i++) {
        uint64_t before = server_memory(s);

        send_many(&f, &k, PACKETS);
        if (server_memory(s) <= before + GROWTH / 8) {
            break; /* what leaks never gets here, and is found later */
        }
    }
    flood_close(&f);
}

static void expect_cheap(const struct server *s, const struct kind *k,
                         double sink) {
    struct flood f;
    uint64_t memory;
    double bytes;
    double ns;

    flood_open(&f, s);
    send_many(&f, k, WARM_UP);
    memory = server_memory(s);
    ns = cost_of(s, &f, k);
    memory = server_memory(s) - memory;
    flood_close(&f);
    bytes = (double)f.bytes_back / (double)f.bytes;
    print_message("  %s, 0x%02x of %zu bytes, %s%s: bytes x %.2f, CPU %.1f us "
                  "(x %.1f), memory %lld\n",
                  k->who, k->d->data[0], k->d->len, change_name[k->change],
                  k->own >= 0 ? " from its address" : "", bytes, ns / 1000,
                  ns / sink, (long long)memory);
    assert_true(bytes <= AMPLIFICATION);
    assert_true(ns <= SINKS * sink);
    assert_true((int64_t)memory <= (int64_t)GROWTH);
}

static void expect_cheap_tape(const struct server *s, const struct tape *t,
                              const char *who, bool own, double sink) {
    fill_tables(s, &t->d[0]);
    for (size_t i = 0; i < t->n; i++) {
        for (int change = AS_IS; change <= JUNK; change++) {
            const struct kind k = {who, &t->d[i], (enum change)change, -1};

            expect_cheap(s, &k, sink);
        }
        if (own) {
            const struct kind k = {who, &t->d[i], AS_IS, t->back};

            expect_cheap(s, &k, sink);
        }
    }
}

/* Packets of Saratoga that nobody has sent: every type, and every REQUEST. */
static void expect_cheap_saratoga(const struct server *s, double sink) {
    for (uint8_t type = 0; type < SARATOGA_KINDS; type++) {
        struct datagram d = {.len = 40};
        const struct kind k = {"stranger", &d, NEW_CALLER, -1};

        d.data[0] = SARATOGA_VERSION_1 + type;
        expect_cheap(s, &k, sink);
    }
    for (uint8_t type = 0; type <= SARATOGA_GETDIR; type++) {
        struct datagram d = {.data = {0x21, 0x8f, 0, type}, .len = 14};
        const struct kind k = {"request", &d, NEW_CALLER, -1};

        memcpy(d.data + 8, "small", 6);
        expect_cheap(s, &k, sink);
    }
}

/* --- All services -------------------------------------------------------- */

static bool has_key(enum service service) {
    return service != TLTCP_PLAIN && service != SARATOGA_PLAIN;
}

/* Callers with the right key, a wrong one and none. */
static void expect_cheap_strangers(const struct place *p,
                                   enum service service) {
    static const char *const who[] = {"wrong key", "right key", "no key"};
    const uint8_t *const key[] = {wrong_key, right_key, NULL};
    double sink = sink_cost();
    struct server s;

    print_message("receiving alone: CPU %.1f us\n", sink / 1000);
    start_server(&s, service, p->here);
    for (size_t i = has_key(service) ? 0 : 2; i < 3; i++) {
        struct tape t;

        if (service == SARATOGA_SEALED && key[i] == NULL) {
            continue; /* its packets are dropped, and it would wait long */
        }
        tape_record(&t, &s, service, key[i], p->there);
        expect_cheap_tape(&s, &t, who[i], service != SARATOGA_PLAIN, sink);
        tape_close(&t);
    }
    if (service >= SARATOGA_PLAIN) {
        expect_cheap_saratoga(&s, sink);
    }
    stop_server(&s);
}

TEST(strangers_cost_a_plain_listener_little) {
    expect_cheap_strangers(*state, TLTCP_PLAIN);
}

TEST(strangers_cost_a_sealed_listener_little) {
    expect_cheap_strangers(*state, TLTCP_SEALED);
}

TEST(strangers_cost_a_listener_with_many_keys_little) {
    expect_cheap_strangers(*state, TLTCP_KEYS);
}

TEST(strangers_cost_a_plain_file_server_little) {
    expect_cheap_strangers(*state, SARATOGA_PLAIN);
}

TEST(strangers_cost_a_signed_file_server_little) {
    expect_cheap_strangers(*state, SARATOGA_SIGNED);
}

TEST(strangers_cost_a_sealed_file_server_little) {
    expect_cheap_strangers(*state, SARATOGA_SEALED);
}

/* --- Service meanwhile --------------------------------------------------- */

#define SECTIONS 100u /* and a caller with each */
#define PAUSE_US 20000u
#define FILES 10u
#define LATENCY_MS 200
#define SHARE 0.4  /* of a core that the flood takes from the server */
#define ATTEMPTS 5 /* on a machine that has no processor to spare */

/* Every kind from everywhere, until it is ended.  count: shared. */
static pid_t begin_flood(const struct server *s, const struct tape *t,
                         size_t tapes, _Atomic uint64_t *count) {
    pid_t pid = fork();
    struct flood f;

    assert_true(pid >= 0);
    if (pid > 0) {
        return pid;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    flood_open(&f, s);
    f.share = SHARE;
    f.count = count;
    for (;;) {
        const struct tape *from = &t[flood_draw(&f) % tapes];
        const struct kind k = {"", &from->d[flood_draw(&f) % from->n],
                               (enum change)(flood_draw(&f) % (JUNK + 1)), -1};

        send_kind(&f, &k);
    }
}

static void end_flood(pid_t pid) {
    int status = 0;

    assert_int_equal(waitpid(pid, &status, WNOHANG), 0); /* it goes on */
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, &status, 0);
}

/* Sections that were lost. */
static unsigned long long stream_and_call(const struct server *s, bool sealed) {
    const struct seen before = server_seen(s);
    tltcp_socket *stream =
        client_call(s, LATENCY_MS, sealed, TLTCP_TRANSPORT_UDP);
    struct seen seen;

    for (unsigned i = 0; i < SECTIONS; i++) {
        client_send(stream);
        (void)tltcp_close(
            client_call(s, LATENCY_MS, sealed, TLTCP_TRANSPORT_UDP), 0);
        (void)usleep(PAUSE_US);
    }
    assert_int_equal(tltcp_close(stream, CLIENT_PATIENCE_MS), 0);
    seen = server_seen(s);
    return SECTIONS - (seen.sections - before.sections);
}

/* The stream loses nothing, unless nobody gets a processor in time.  False: the
 * machine is too busy to tell. */
static bool expect_whole_stream(const struct server *s, bool sealed,
                                _Atomic uint64_t *count) {
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t cpu = server_cpu(s);
        uint64_t packets = atomic_load(count);
        unsigned long long lost;
        struct witness w;
        bool starved;

        witness_begin(&w, s->pid);
        lost = stream_and_call(s, sealed);
        starved = witness_saw_starvation(&w);
        packets = atomic_load(count) - packets;
        cpu = server_cpu(s) - cpu;
        print_message("  %llu packets, %.1f us each with all else; lost %llu "
                      "of %u sections\n",
                      (unsigned long long)packets,
                      (double)cpu / 1000 / (double)packets, lost, SECTIONS);
        assert_true(packets > PACKETS); /* they did come */
        if (lost == 0) {
            return true;
        }
        assert_true(starved);
    }
    return false;
}

static _Atomic uint64_t *shared_count(void) {
    void *p = mmap(NULL, sizeof(_Atomic uint64_t), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(p != MAP_FAILED);
    return p;
}

static void stream_in_flood(const struct place *p, bool sealed) {
    enum service service = sealed ? TLTCP_SEALED : TLTCP_PLAIN;
    _Atomic uint64_t *count = shared_count();
    struct server s;
    struct tape t[2];
    bool told;
    pid_t flood;

    start_server(&s, service, p->here);
    tape_record(&t[0], &s, service, sealed ? right_key : NULL, p->there);
    tape_record(&t[1], &s, service, sealed ? wrong_key : NULL, p->there);
    flood = begin_flood(&s, t, 2, count);
    told = expect_whole_stream(&s, sealed, count);
    end_flood(flood);
    tape_close(&t[0]);
    tape_close(&t[1]);
    stop_server(&s);
    (void)munmap((void *)count, sizeof(*count));
    if (!told) {
        print_message("  this machine is too busy to tell\n");
        skip();
    }
}

TEST(a_plain_listener_serves_in_a_flood_of_every_kind) {
    stream_in_flood(*state, false);
}

TEST(a_sealed_listener_serves_in_a_flood_of_every_kind) {
    stream_in_flood(*state, true);
}

static void files_in_flood(const struct place *p, enum service service) {
    const uint8_t *key[] = {wrong_key, right_key};
    struct server s;
    struct tape t[2];
    pid_t flood;

    start_server(&s, service, p->here);
    for (size_t i = 0; i < 2; i++) {
        tape_record(&t[i], &s, service, key[i], p->there);
    }
    flood = begin_flood(&s, t, 2, NULL);
    for (unsigned i = 0; i < FILES; i++) {
        client_get(p, &s, service, i % 5 == 0 ? "large" : "small");
    }
    end_flood(flood);
    tape_close(&t[0]);
    tape_close(&t[1]);
    stop_server(&s);
}

TEST(a_plain_file_server_serves_in_a_flood_of_every_kind) {
    files_in_flood(*state, SARATOGA_PLAIN);
}

TEST(a_signed_file_server_serves_in_a_flood_of_every_kind) {
    files_in_flood(*state, SARATOGA_SIGNED);
}

TEST(a_sealed_file_server_serves_in_a_flood_of_every_kind) {
    files_in_flood(*state, SARATOGA_SEALED);
}

int main(int argc, char **argv) {
#define T(f) cmocka_unit_test_setup_teardown(f, place_set_up, place_tear_down)
    const struct CMUnitTest tests[] = {
        T(strangers_cost_a_plain_listener_little),
        T(strangers_cost_a_sealed_listener_little),
        T(strangers_cost_a_listener_with_many_keys_little),
        T(strangers_cost_a_plain_file_server_little),
        T(strangers_cost_a_signed_file_server_little),
        T(strangers_cost_a_sealed_file_server_little),
        T(a_plain_listener_serves_in_a_flood_of_every_kind),
        T(a_sealed_listener_serves_in_a_flood_of_every_kind),
        T(a_plain_file_server_serves_in_a_flood_of_every_kind),
        T(a_signed_file_server_serves_in_a_flood_of_every_kind),
        T(a_sealed_file_server_serves_in_a_flood_of_every_kind),
    };

    if (argc == 4 && strcmp(argv[1], "serve") == 0) {
        return serve(argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

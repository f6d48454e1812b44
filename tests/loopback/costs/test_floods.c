/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Service beside a flood of every kind of first packet, over UDP and over TCP,
 * from ever new addresses: whoever calls gets in, and no section that was
 * accepted is lost.  Counts are compared, never times.  PERIGEE_FLOOD_RATE is
 * the rate of the flood in packets a second; its length is counted in packets,
 * so a slow machine only takes longer.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "internal/common/wire.h"
#include "tests/loopback/costs/changes.h"
#include "tests/loopback/costs/clients.h"
#include "tests/loopback/costs/tape.h"

#define RATE 2000u /* by default */
#define SECONDS 3u /* of flood at its rate */
#define TAPES 3u
#define CLIENTS_MIN 20u
#define FILES_MIN 5u
#define HELD 200u        /* TCP connections of the flood at once */
#define LATENCY_MS 60000 /* nothing is late */
#define NS 1000000000.0

/* --- The flood ----------------------------------------------------------- */

struct storm {
    struct flood f;
    struct tape *tape;
    bool tcp;
    int held[HELD]; /* -1: none */
    unsigned long packets;
    double began;
};

static unsigned long flood_rate(void) {
    const char *text = getenv("PERIGEE_FLOOD_RATE");
    unsigned long rate = text != NULL ? strtoul(text, NULL, 10) : 0;

    return rate > 0 ? rate : RATE;
}

static double storm_now(void) {
    struct timespec t;

    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &t), 0);
    return (double)t.tv_sec + (double)t.tv_nsec / NS;
}

static void storm_keep_rate(struct storm *x) {
    double due = x->began + (double)++x->packets / (double)flood_rate();

    while (storm_now() < due) {
        (void)usleep(500);
    }
}

static void storm_draw(struct storm *x, struct datagram *d) {
    const struct tape *t = &x->tape[flood_draw(&x->f) % TAPES];

    *d = t->d[flood_draw(&x->f) % t->n];
    change_datagram(&x->f, d, (enum change)(flood_draw(&x->f) % (JUNK + 1)));
}

/* A connection from a new address, instead of one of those before. */
static int storm_connect(struct storm *x) {
    int *held = &x->held[flood_draw(&x->f) % HELD];
    struct sockaddr_in from = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(++x->f.source)};

    if (*held >= 0) {
        (void)close(*held);
    }
    *held = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(*held >= 0);
    assert_int_equal(bind(*held, (struct sockaddr *)&from, sizeof(from)), 0);
    if (connect(*held, (const struct sockaddr *)&x->f.server->at,
                sizeof(x->f.server->at)) != 0) {
        (void)close(*held);
        *held = -1;
    }
    return *held;
}

/* The preface and a first packet, or what looks like it, or less. */
static void storm_send_tcp(struct storm *x) {
    static const uint8_t preface[] = {'T', 'L', 'T', 'C', 'P', 0, 0, 1};
    uint8_t data[sizeof(preface) + 2 + DATAGRAM];
    cmn__writer w = cmn__writer_of(data, sizeof(data));
    int fd = storm_connect(x);
    struct datagram d;
    size_t len;

    storm_draw(x, &d);
    cmn__put_bytes(&w, preface, sizeof(preface));
    cmn__put16(&w, (uint16_t)d.len);
    cmn__put_bytes(&w, d.data, d.len);
    len = (size_t)(w.p - data);
    switch (flood_draw(&x->f) % 4) {
    case 0:
        len = 0;
        break;
    case 1:
        len = flood_draw(&x->f) % len;
        break;
    default:
        break;
    }
    if (fd >= 0 && len > 0) {
        (void)send(fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

static void storm_send(struct storm *x) {
    struct datagram d;

    if (x->tcp && flood_draw(&x->f) % 8 == 0) {
        storm_send_tcp(x);
        return;
    }
    storm_draw(x, &d);
    flood_forge(&x->f, &d);
}

/* In a process of its own, which ends well when it has sent all. */
static pid_t storm_begin(const struct server *s, struct tape *t, bool tcp) {
    struct storm x = {.tape = t, .tcp = tcp};
    unsigned long total = flood_rate() * SECONDS;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid > 0) {
        return pid;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    memset(x.held, 0xff, sizeof(x.held));
    flood_open(&x.f, s);
    x.began = storm_now();
    while (x.packets < total) {
        storm_send(&x);
        storm_keep_rate(&x);
    }
    _exit(0);
}

static bool storm_is_over(pid_t pid) {
    int status = 1;
    pid_t rv = waitpid(pid, &status, WNOHANG);

    assert_true(rv == 0 || (rv == pid && status == 0));
    return rv == pid;
}

/* What callers with the right key, a wrong one and none send first. */
static void record(struct tape *t, const struct server *s, enum service service,
                   const struct place *p) {
    const uint8_t *const key[TAPES] = {right_key, wrong_key, NULL};
    bool none = service == TLTCP_PLAIN || service == SARATOGA_PLAIN;

    for (unsigned i = 0; i < TAPES; i++) {
        /* what has no key is dropped by a sealed node, and would wait long */
        const uint8_t *k = none ? NULL : key[i];

        k = service == SARATOGA_SEALED && k == NULL ? wrong_key : k;
        tape_record(&t[i], s, service, k, p->there);
    }
}

static void forget(struct tape *t) {
    for (unsigned i = 0; i < TAPES; i++) {
        tape_close(&t[i]);
    }
}

/* --- Streams ------------------------------------------------------------- */

/* Two streams, and callers who come and go: over UDP and over TCP. */
static void serve_streams(const struct place *p, enum service service) {
    static const uint8_t way[] = {TLTCP_TRANSPORT_UDP, TLTCP_TRANSPORT_TCP};
    bool sealed = service != TLTCP_PLAIN;
    struct tape tape[TAPES];
    tltcp_socket *stream[2];
    struct server s;
    struct seen before;
    struct seen after;
    unsigned rounds = 0;
    pid_t flood;

    start_server(&s, service, p->here);
    record(tape, &s, service, p);
    before = server_seen(&s);
    flood = storm_begin(&s, tape, true);
    for (unsigned i = 0; i < 2; i++) {
        stream[i] = client_call(&s, LATENCY_MS, sealed, way[i]);
    }
    for (bool over = false; !over || rounds < CLIENTS_MIN; rounds++) {
        tltcp_socket *c = client_call(&s, LATENCY_MS, sealed, way[rounds % 2]);

        over = over || storm_is_over(flood);
        client_send(stream[0]);
        client_send(stream[1]);
        client_send(c);
        assert_int_equal(tltcp_close(c, CLIENT_PATIENCE_MS), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(tltcp_close(stream[i], CLIENT_PATIENCE_MS), 0);
    }
    after = server_seen(&s);
    print_message("  %lu packets, %u callers\n", flood_rate() * SECONDS,
                  rounds);
    assert_int_equal(after.sections - before.sections, 3 * rounds);
    assert_int_equal(after.gaps, before.gaps);
    forget(tape);
    stop_server(&s);
}

TEST(a_plain_listener_loses_nothing) {
    serve_streams(*state, TLTCP_PLAIN);
}

TEST(a_sealed_listener_loses_nothing) {
    serve_streams(*state, TLTCP_SEALED);
}

TEST(a_listener_with_many_keys_loses_nothing) {
    serve_streams(*state, TLTCP_KEYS);
}

/* --- Files --------------------------------------------------------------- */

/* Each by a new client. */
static void serve_gets(const struct place *p, enum service service) {
    struct tape tape[TAPES];
    struct server s;
    unsigned files = 0;
    pid_t flood;

    start_server(&s, service, p->here);
    record(tape, &s, service, p);
    flood = storm_begin(&s, tape, false);
    for (bool over = false; !over || files < FILES_MIN; files++) {
        client_get(p, &s, service, files % 5 == 0 ? "large" : "small");
        over = over || storm_is_over(flood);
    }
    print_message("  %lu packets, %u files\n", flood_rate() * SECONDS, files);
    forget(tape);
    stop_server(&s);
}

TEST(a_plain_file_server_serves_everybody) {
    serve_gets(*state, SARATOGA_PLAIN);
}

TEST(a_signed_file_server_serves_everybody) {
    serve_gets(*state, SARATOGA_SIGNED);
}

TEST(a_sealed_file_server_serves_everybody) {
    serve_gets(*state, SARATOGA_SEALED);
}

int main(int argc, char **argv) {
#define T(f) cmocka_unit_test_setup_teardown(f, place_set_up, place_tear_down)
    const struct CMUnitTest tests[] = {
        T(a_plain_listener_loses_nothing),
        T(a_sealed_listener_loses_nothing),
        T(a_listener_with_many_keys_loses_nothing),
        T(a_plain_file_server_serves_everybody),
        T(a_signed_file_server_serves_everybody),
        T(a_sealed_file_server_serves_everybody),
    };

    if (argc == 4 && strcmp(argv[1], "serve") == 0) {
        return serve(argv);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}

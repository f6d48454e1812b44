/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/loopback/costs/server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <saratoga/node.h>
#include <tltcp/socket.h>

#define PEERS 256u
#define KEYS 15u /* beside the right one */
#define ROOM 65536u

const uint8_t right_key[KEY_LEN] = {1, 2, 3};
const uint8_t wrong_key[KEY_LEN] = {9};

/* --- In the process ------------------------------------------------------ */

static void say_port(unsigned port) {
    (void)printf("%u\n", port);
    (void)fflush(stdout);
}

static void die_unless(bool good) {
    if (!good) {
        _exit(1);
    }
}

static void serve_sink(void) {
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(a);
    uint8_t room[2048];
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    die_unless(fd >= 0 && bind(fd, (struct sockaddr *)&a, len) == 0 &&
               getsockname(fd, (struct sockaddr *)&a, &len) == 0);
    say_port(ntohs(a.sin_port));
    while (recv(fd, room, sizeof(room), 0) >= 0) {
    }
}

/* Reads all that is there.  False at the end. */
static bool read_peer(tltcp_socket *s) {
    static uint8_t room[ROOM];
    ssize_t n;

    do {
        struct iovec iov = {.iov_base = room, .iov_len = sizeof(room)};
        struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

        n = tltcp_recvmsg(s, &m, MSG_DONTWAIT);
    } while (n > 0 || n == TLTCP_ERR_GAP);
    return n == TLTCP_ERR_AGAIN;
}

static void tell_seen(const tltcp_socket *listener) {
    tltcp_stats st;
    char question;

    die_unless(read(STDIN_FILENO, &question, 1) == 1);
    tltcp_stats_init(&st);
    die_unless(tltcp_get_stats(listener, &st) == 0);
    (void)printf(
        "%llu %llu %llu\n", (unsigned long long)st.sections_complete,
        (unsigned long long)st.gaps,
        (unsigned long long)(st.callers_rejected + st.callers_turned_away));
    (void)fflush(stdout);
}

static void serve_callers(tltcp_socket *listener) {
    tltcp_socket *peer[PEERS];
    size_t n = 0;

    for (;;) {
        struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};

        if (poll(&p, 1, 10) > 0) {
            tell_seen(listener);
        }
        while (n < PEERS && tltcp_accept(listener, &peer[n], 0) == 0) {
            n++;
        }
        for (size_t i = 0; i < n;) {
            if (read_peer(peer[i])) {
                i++;
            } else {
                (void)tltcp_close(peer[i], 0);
                peer[i] = peer[--n];
            }
        }
    }
}

static void serve_tltcp(enum service service) {
    static uint8_t other[KEYS][KEY_LEN];
    const uint8_t *more[KEYS + 1] = {NULL};
    struct sockaddr_in a;
    socklen_t len = sizeof(a);
    tltcp_socket *listener;
    tltcp_config c;

    tltcp_config_init(&c);
    c.key = service != TLTCP_PLAIN ? right_key : NULL;
    c.key_len = service != TLTCP_PLAIN ? KEY_LEN : 0;
    for (uint8_t i = 0; i < KEYS; i++) {
        other[i][0] = (uint8_t)(100 + i);
        more[i] = other[i];
    }
    c.listener.more_keys = service == TLTCP_KEYS ? more : NULL;
    c.io.transport = TLTCP_TRANSPORT_AUTO;
    die_unless(tltcp_listen(&listener, "127.0.0.1", "0", &c) == 0 &&
               tltcp_local_address(listener, (struct sockaddr *)&a, &len) == 0);
    say_port(ntohs(a.sin_port));
    serve_callers(listener);
}

static void serve_files(enum service service, const char *folder) {
    saratoga_node_config c;
    saratoga_config engine;
    saratoga_node_event ev;
    saratoga_node *node;
    char text[SARATOGA_NODE_ADDRESS];
    char why[SARATOGA_NODE_TEXT];

    saratoga_config_init(&engine);
    engine.auth_key = service == SARATOGA_SIGNED ? right_key : NULL;
    engine.auth_key_len = service == SARATOGA_SIGNED ? KEY_LEN : 0;
    saratoga_node_config_init(&c);
    c.engine = &engine;
    c.host = "127.0.0.1";
    c.root = folder;
    c.key = service == SARATOGA_SEALED ? right_key : NULL;
    c.key_len = service == SARATOGA_SEALED ? KEY_LEN : 0;
    die_unless(saratoga_node_open(&node, &c, why) == 0 &&
               saratoga_node_local_address(node, text) == 0);
    say_port((unsigned)strtoul(strrchr(text, ':') + 1, NULL, 10));
    for (;;) {
        saratoga_node_run(node, 1000);
        while (saratoga_node_next_event(node, &ev) == 1) {
        }
    }
}

int serve(char **argv) {
    enum service service = (enum service)strtoul(argv[2], NULL, 10);

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (service == SINK) {
        serve_sink();
    } else if (service <= TLTCP_KEYS) {
        serve_tltcp(service);
    } else {
        serve_files(service, argv[3]);
    }
    return 1;
}

/* --- Around it ----------------------------------------------------------- */

static void become_server(const int *in, const int *out, enum service service,
                          const char *folder) {
    char number[8];

    (void)snprintf(number, sizeof(number), "%d", (int)service);
    (void)dup2(out[0], STDIN_FILENO);
    (void)dup2(in[1], STDOUT_FILENO);
    (void)execl("/proc/self/exe", "costs", "serve", number, folder,
                (char *)NULL);
    _exit(1);
}

/* A line of the process. */
static void hear_line(const struct server *s, char *line, size_t room) {
    size_t n = 0;

    do {
        assert_true(n + 1 < room);
        assert_int_equal(read(s->in, line + n, 1), 1);
    } while (line[n++] != '\n');
    line[n - 1] = 0;
}

void start_server(struct server *s, enum service service, const char *folder) {
    int in[2];
    int out[2];

    assert_int_equal(pipe(in), 0);
    assert_int_equal(pipe(out), 0);
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid == 0) {
        become_server(in, out, service, folder);
    }
    (void)close(in[1]);
    (void)close(out[0]);
    s->in = in[0];
    s->out = out[1];
    hear_line(s, s->port, sizeof(s->port));
    s->at = (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)strtoul(s->port, NULL, 10)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

void stop_server(struct server *s) {
    (void)kill(s->pid, SIGKILL);
    (void)waitpid(s->pid, NULL, 0);
    (void)close(s->in);
    (void)close(s->out);
}

uint64_t server_cpu(const struct server *s) {
    clockid_t clock;
    struct timespec t;

    assert_int_equal(clock_getcpuclockid(s->pid, &clock), 0);
    assert_int_equal(clock_gettime(clock, &t), 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t server_memory(const struct server *s) {
    unsigned long long pages = 0;
    char path[64];
    FILE *f;

    (void)snprintf(path, sizeof(path), "/proc/%d/statm", (int)s->pid);
    f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%*u %llu", &pages), 1);
    (void)fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t server_backlog(const struct server *s) {
    unsigned long long bytes = 0;
    char line[256];
    FILE *f = fopen("/proc/net/udp", "r");

    if (f == NULL) {
        return 0;
    }
    while (fgets(line, sizeof(line), f) != NULL) {
        unsigned long long queued;
        unsigned port;

        if (sscanf(line, " %*u: %*x:%x %*x:%*x %*x %*x:%llx", &port, &queued) ==
                2 &&
            port == ntohs(s->at.sin_port)) {
            bytes = queued;
        }
    }
    (void)fclose(f);
    return bytes;
}

struct seen server_seen(const struct server *s) {
    struct seen seen;
    char line[128];

    assert_int_equal(write(s->out, "?", 1), 1);
    hear_line(s, line, sizeof(line));
    assert_int_equal(sscanf(line, "%llu %llu %llu", &seen.sections, &seen.gaps,
                            &seen.refused),
                     3);
    return seen;
}

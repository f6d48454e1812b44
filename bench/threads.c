/* SPDX-License-Identifier: MPL-2.0 */
/*
 * bench_threads plain|sealed THREADS CALLERS measures how fast a listener with
 * THREADS I/O threads answers calls. The listener, a process of its own, is
 * stopped while the calls go into its sockets, and goes on when no
 * caller has anything left to do: so callers take no processor time from it.
 * The kernel's receive times of the answers say when it was done. Prints one
 * JSON object, with the processor time of the busiest I/O thread: that bounds
 * the rate, also where a machine is busy with other work.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tltcp/conn.h>
#include <tltcp/socket.h>

#include "bench/common.h"

#define DATAGRAM 2048u
#define FILES 64u   /* descriptors beside those of callers */
#define LOOK_MS 200 /* seldom, as it takes time from the listener */
#define PATIENCE_MS 3000
#define MS_PER_S 1000
#define NS_PER_MS 1000000L
#define NS 1e9

static const uint8_t threads_key[32] = {1};
static bool sealed;

struct caller {
    tltcp_conn *conn;
    int fd;
    uint8_t call[DATAGRAM];
    size_t len;
};

static void check(bool ok, const char *what) {
    if (!ok) {
        bench_fail(what, strerror(errno));
    }
}

static void sleep_ms(long ms) {
    struct timespec t = {.tv_sec = ms / MS_PER_S,
                         .tv_nsec = ms % MS_PER_S * NS_PER_MS};

    (void)nanosleep(&t, NULL);
}

static void configure(tltcp_config *c) {
    tltcp_config_init(c);
    if (sealed) {
        c->key = threads_key;
        c->key_len = sizeof(threads_key);
    }
}

/* --- The listener's process ---------------------------------------------- */

/* Gives each I/O thread a processor: all is done before the scheduler has moved
 * them apart. */
static void spread_threads(void) {
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    long next = 0;

    while (tasks != NULL && (task = readdir(tasks)) != NULL) {
        pid_t id = (pid_t)strtol(task->d_name, NULL, 10);
        cpu_set_t one;

        if (id > 0 && id != getpid()) {
            CPU_ZERO(&one);
            CPU_SET((size_t)(next++ % cpus), &one);
            check(sched_setaffinity(id, sizeof(one), &one) == 0, "affinity");
        }
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
}

/* Runs until it is killed. */
static void threads_serve(int out, unsigned threads, unsigned callers) {
    struct sockaddr_in a;
    socklen_t len = sizeof(a);
    tltcp_socket *listener = NULL;
    tltcp_config c;
    int rv;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    configure(&c);
    c.io.threads = (uint8_t)threads;
    c.listener.max_half_open = callers; /* nobody is asked for a token */
    c.listener.max_half_open_per_address = callers;
    rv = tltcp_listen(&listener, "127.0.0.1", "0", &c);
    if (rv != 0) {
        bench_fail("listen", tltcp_strerror(rv));
    }
    spread_threads();
    (void)tltcp_local_address(listener, (struct sockaddr *)&a, &len);
    check(write(out, &a, sizeof(a)) == sizeof(a), "write");
    for (;;) {
        (void)pause();
    }
}

/* --- The callers --------------------------------------------------------- */

static void open_caller(struct caller *c, uint32_t number,
                        const struct sockaddr_in *to) {
    uint8_t seed[TLTCP_SEED_LEN] = {0};
    tltcp_config config;
    int on = 1;

    configure(&config);
    memcpy(seed, &number, sizeof(number));
    c->fd = socket(AF_INET, SOCK_DGRAM, 0);
    check(c->fd >= 0 &&
              setsockopt(c->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) ==
                  0 &&
              connect(c->fd, (const struct sockaddr *)to, sizeof(*to)) == 0,
          "socket");
    check(tltcp_conn_new(&c->conn, &config, seed, 1, bench_now()) == 0,
          "caller");
}

static void threads_make_call(struct caller *c) {
    tltcp_pktinfo info;
    size_t segment;

    c->len = tltcp_conn_send(c->conn, &info, c->call, sizeof(c->call), &segment,
                             bench_now());
    check(c->len > 0, "no call");
}

/* Gets a token, without which a listener with a key computes nothing. */
static void threads_get_token(struct caller *c) {
    const tltcp_pktinfo info = {.path = 1};
    uint8_t answer[DATAGRAM];
    ssize_t n;

    check(send(c->fd, c->call, c->len, 0) >= 0, "send");
    n = recv(c->fd, answer, sizeof(answer), 0);
    check(n > 0, "no token");
    (void)tltcp_conn_recv(c->conn, &info, answer, (size_t)n, bench_now());
    threads_make_call(c);
}

/* When the first answer arrived, on the real-time clock; 0: none did. */
static double answered_at(const struct caller *c) {
    uint8_t data[DATAGRAM];
    union {
        struct cmsghdr align;
        uint8_t bytes[128];
    } control;
    struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof(control)};
    struct timespec t = {0};

    if (recvmsg(c->fd, &m, MSG_DONTWAIT) > 0 && CMSG_FIRSTHDR(&m) != NULL) {
        memcpy(&t, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(t));
    }
    return (double)t.tv_sec + (double)t.tv_nsec / NS;
}

static unsigned count_answers(const struct caller *all, unsigned count) {
    unsigned n = 0;

    for (unsigned i = 0; i < count; i++) {
        int bytes = 0;

        n += ioctl(all[i].fd, FIONREAD, &bytes) == 0 && bytes > 0;
    }
    return n;
}

/* The seconds that the listener takes for all calls. A few may be dropped: one
 * thread forgets the oldest tokens while another looks at one of them. */
static double answer_all(struct caller *all, unsigned count, pid_t listener) {
    struct timespec start;
    unsigned enough = count - count / 100;
    unsigned answered = 0;
    double last = 0;

    check(kill(listener, SIGSTOP) == 0 &&
              waitpid(listener, NULL, WUNTRACED) == listener,
          "stop");
    for (unsigned i = 0; i < count; i++) {
        check(send(all[i].fd, all[i].call, all[i].len, 0) >= 0, "send");
    }
    (void)clock_gettime(CLOCK_REALTIME, &start);
    check(kill(listener, SIGCONT) == 0, "go on");
    for (int ms = 0; ms < PATIENCE_MS && count_answers(all, count) < enough;
         ms += LOOK_MS) {
        sleep_ms(LOOK_MS);
    }
    for (unsigned i = 0; i < count; i++) {
        double at = answered_at(&all[i]);

        answered += at > 0;
        last = at > last ? at : last;
    }
    if (answered < enough) {
        bench_fail("answers", "too few");
    }
    return last - (double)start.tv_sec - (double)start.tv_nsec / NS;
}

static double threads_measure(unsigned count, const struct sockaddr_in *to,
                              pid_t listener, double *busy) {
    double before[BENCH_THREADS] = {0};
    struct caller *all = calloc(count, sizeof(*all));
    double seconds;
    double sum;

    if (all == NULL) {
        bench_fail("memory", "exhausted");
        return 0;
    }
    for (unsigned i = 0; i < count; i++) {
        open_caller(&all[i], i, to);
        threads_make_call(&all[i]);
        if (sealed) {
            threads_get_token(&all[i]);
        }
    }
    bench_thread_times(listener, before);
    seconds = answer_all(all, count, listener);
    *busy = bench_busiest_thread(listener, before, &sum);
    for (unsigned i = 0; i < count; i++) {
        tltcp_conn_free(all[i].conn);
        (void)close(all[i].fd);
    }
    free(all);
    return seconds;
}

static void run(unsigned threads, unsigned count) {
    struct sockaddr_in to;
    int pipes[2];
    pid_t listener;
    double seconds;
    double busy = 0;

    check(pipe(pipes) == 0, "pipe");
    listener = fork();
    check(listener >= 0, "fork");
    if (listener == 0) {
        threads_serve(pipes[1], threads, count);
    }
    check(read(pipes[0], &to, sizeof(to)) == sizeof(to), "no listener");
    seconds = threads_measure(count, &to, listener, &busy);
    (void)kill(listener, SIGKILL);
    check(waitpid(listener, NULL, 0) == listener, "wait");
    printf("{\"threads\":%u,\"calls\":%u,\"seconds\":%.6f,"
           "\"calls_per_second\":%.0f,\"busiest_us\":%.3f}\n",
           threads, count, seconds, count / seconds, busy / 1e3 / count);
}

int main(int argc, char **argv) {
    struct rlimit files;
    unsigned threads;
    unsigned count;

    if (argc != 4) {
        (void)fprintf(stderr,
                      "usage: bench_threads plain|sealed THREADS CALLERS\n");
        return 2;
    }
    sealed = strcmp(argv[1], "sealed") == 0;
    threads = (unsigned)strtoul(argv[2], NULL, 10);
    count = (unsigned)strtoul(argv[3], NULL, 10);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 &&
        files.rlim_cur < count + FILES) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    run(threads, count);
    return 0;
}

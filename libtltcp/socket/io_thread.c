/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/socket/io_thread.h"

#include <stdlib.h>
#include <string.h>

#include "libtltcp/socket/sock.h"
#include "libtltcp/socket/trace.h"

#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>
#endif

#define STACK_SIZE ((size_t)512 * 1024)
/* Room in the kernel for bursts while the thread is not scheduled. */
#define UDP_BUFFER ((size_t)8 * 1024 * 1024)

/* --- Dirty connections --------------------------------------------------- */

void tltcp__mark(tltcp_socket *s) {
    struct tltcp__reactor *r = s->r;

    if (s->dirty) {
        return;
    }
    s->dirty = true;
    s->next_dirty = NULL;
    if (r->dirty == NULL) {
        r->dirty = s;
    } else {
        r->dirty_last->next_dirty = s;
    }
    r->dirty_last = s;
}

void tltcp__kick(tltcp_socket *s) {
    tltcp__mark(s);
    if (s->r->running && !s->r->pumping) {
        (void)uv_async_send(&s->r->wake);
    }
}

void tltcp__let_go(tltcp_socket *s) {
    if (!s->release) {
        s->release = true;
        s->r->leaving++;
    }
    tltcp__kick(s);
}

tltcp_socket *tltcp__next_dirty(struct tltcp__reactor *r) {
    tltcp_socket *s = r->dirty;

    if (s != NULL) {
        r->dirty = s->next_dirty;
        s->next_dirty = NULL;
        s->dirty = false;
    }
    return s;
}

/* --- The I/O thread ------------------------------------------------------ */

static void timer_moved(void *owner, uint64_t id, uint32_t slot) {
    tltcp_socket *s = (tltcp_socket *)(uintptr_t)id;

    (void)owner;
    s->timer = slot;
}

static void on_turn(uv_check_t *turn) {
    (void)tltcp__pump(turn->data);
}

static void on_alarm(void *owner) {
#if defined(__linux__)
    (void)owner; /* the end of this turn looks at the timers */
#else
    (void)tltcp__pump(owner); /* libuv runs timers before it waits */
#endif
}

static void close_handles(struct tltcp__reactor *r) {
    if (r->udp != NULL) {
        net__udp_close(r->udp);
    }
    net__timer_close(&r->alarm);
    uv_close((uv_handle_t *)&r->wake, NULL);
    uv_close((uv_handle_t *)&r->turn, NULL);
    uv_close((uv_handle_t *)&r->again, NULL);
}

static void on_wake(uv_async_t *wake) {
    struct tltcp__reactor *r = wake->data;
    bool stopping;

    uv_mutex_lock(&r->mx);
    stopping = r->stopping;
    uv_mutex_unlock(&r->mx);
    if (stopping) {
        while (tltcp__pump(r)) { /* the last farewells */
        }
        close_handles(r);
    }
}

static void run(void *arg) {
    struct tltcp__reactor *r = arg;

#if defined(__linux__)
    (void)pthread_setname_np(pthread_self(), "tltcp-io");
#endif
    (void)uv_run(&r->loop, UV_RUN_DEFAULT);
}

/* Signals are for the application's threads. */
static int start_thread(struct tltcp__reactor *r) {
    uv_thread_options_t o = {.flags = UV_THREAD_HAS_STACK_SIZE,
                             .stack_size = STACK_SIZE};
    int rv;
#if !defined(_WIN32)
    sigset_t all;
    sigset_t before;

    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
    rv = uv_thread_create_ex(&r->thread, &o, run, r);
#if !defined(_WIN32)
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
    return rv;
}

int tltcp__reactor_start(struct tltcp__reactor *r) {
    int rv;

    r->running = true;
    (void)uv_async_send(&r->wake);
    rv = start_thread(r);
    if (rv != 0) {
        r->running = false;
    }
    return tltcp__error_of(rv);
}

/* --- Life ---------------------------------------------------------------- */

static void free_memory(struct tltcp__reactor *r) {
    while (r->all != NULL) {
        tltcp_socket *s = r->all;
        tltcp_conn_free(s->conn);
        s->conn = NULL;
        tltcp__socket_unlink(s);
        tltcp__socket_free(s);
    }
    if (r->listening != NULL) {
        tltcp_endpoint_free(r->listening->endpoint);
        free(r->listening);
    }
    if (r->calling != NULL) {
        free(r->calling->to);
        free(r->calling->hello);
        free(r->calling);
    }
    tltcp__tracer_free(r->tracer);
    cmn__heap_free(&r->timers);
    uv_mutex_destroy(&r->mx);
    free(r);
}

static void reactor_free(struct tltcp__reactor *r) {
    if (!r->running) { /* the loop has never run: let it close its handles */
        close_handles(r);
        (void)uv_run(&r->loop, UV_RUN_DEFAULT);
    }
    (void)uv_loop_close(&r->loop);
    free_memory(r);
}

/* Descriptors that the first loop of a process cannot do without. */
#define LOOP_DESCRIPTORS 4

/* libuv ends the process when it does not find them, so they are looked for
 * before. */
static int look_for_descriptors(void) {
    tltcp__event_fd probe[LOOP_DESCRIPTORS];
    int rv = 0;
    int n = 0;

    while (n < LOOP_DESCRIPTORS && rv == 0) {
        rv = tltcp__event_fd_open(&probe[n]);
        n += rv == 0;
    }
    while (n > 0) {
        tltcp__event_fd_close(&probe[--n]);
    }
    return rv;
}

static int init_loop(struct tltcp__reactor *r) {
    int rv = look_for_descriptors();

    if (rv == 0) {
        rv = uv_loop_init(&r->loop);
    }
    if (rv != 0) {
        return rv;
    }
    rv = net__timer_init(&r->alarm, &r->loop, on_alarm, r);
    if (rv != 0) {
        (void)uv_loop_close(&r->loop);
        return rv;
    }
    rv = uv_async_init(&r->loop, &r->wake, on_wake);
    if (rv != 0) {
        net__timer_close(&r->alarm);
        (void)uv_run(&r->loop, UV_RUN_DEFAULT);
        (void)uv_loop_close(&r->loop);
        return rv;
    }
    (void)uv_check_init(&r->loop, &r->turn);
    (void)uv_idle_init(&r->loop, &r->again);
    r->wake.data = r;
    r->turn.data = r;
    (void)uv_check_start(&r->turn, on_turn);
    return 0;
}

static int open_udp(struct tltcp__reactor *r, const tltcp_config *c,
                    const net__addr *bind, int family) {
    net__udp_options o = {.bind = bind,
                          .family = family,
                          .plain = c->plain_udp,
                          .no_offload = c->no_gso,
                          .max_datagram = c->max_datagram,
                          .buffer = UDP_BUFFER,
                          .ops = &tltcp__udp_ops,
                          .owner = r};

    return net__udp_open(&r->udp, &r->loop, &o);
}

static void keep_config(struct tltcp__reactor *r, const tltcp_config *c) {
    r->config = *c;
    r->config.congestion = NULL;
    r->config.recovery = NULL;
    r->config.passphrase = NULL;
    r->config.key = NULL;
    r->config.stream_id = NULL;
    r->config.qlog_dir = NULL;
    r->config.congestion_values = NULL;
    r->config.congestion_params = NULL;
    r->config.more_passphrases = NULL;
    r->config.more_keys = NULL;
    r->config.local_host = NULL;
    r->config.local_service = NULL;
}

int tltcp__reactor_new(struct tltcp__reactor **out, const tltcp_config *c,
                       const net__addr *bind, int family) {
    struct tltcp__reactor *r = calloc(1, sizeof(*r));
    int rv;

    if (r == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    if (uv_mutex_init(&r->mx) != 0) {
        free(r);
        return TLTCP_ERR_NOMEM; /* nothing else makes it fail */
    }
    keep_config(r, c);
    r->mem = cmn__mem_default();
    r->users = 1;
    cmn__heap_init(&r->timers, &r->mem, timer_moved, r);
    rv = uv_random(NULL, NULL, r->key, sizeof(r->key), 0, NULL);
    if (rv == 0) {
        rv = init_loop(r);
    }
    if (rv != 0) {
        uv_mutex_destroy(&r->mx);
        free(r);
        return tltcp__error_of(rv);
    }
    rv = open_udp(r, c, bind, family);
    if (rv != 0) {
        reactor_free(r);
        return tltcp__error_of(rv);
    }
    *out = r;
    return 0;
}

int tltcp__reactor_engine(struct tltcp__reactor *r, tltcp_config *inner,
                          uint8_t seed[TLTCP_SEED_LEN]) {
    if (r->tracer != NULL) {
        inner->on_trace = tltcp__tracer_take;
        inner->user = r;
    }
    return tltcp__error_of(
        uv_random(NULL, NULL, seed, TLTCP_SEED_LEN, 0, NULL));
}

void tltcp__reactor_release(struct tltcp__reactor *r) {
    bool last;

    uv_mutex_lock(&r->mx);
    last = --r->users == 0;
    r->stopping = last;
    if (last && r->running) {
        (void)uv_async_send(&r->wake);
    }
    uv_mutex_unlock(&r->mx);
    if (last && r->running) {
        (void)uv_thread_join(&r->thread);
    }
    if (last) {
        reactor_free(r);
    }
}

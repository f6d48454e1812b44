/* SPDX-License-Identifier: MPL-2.0 */
/* Starts, shares and ends I/O threads. */
#include "libtltcp/socket/io_thread.h"

#include <stdlib.h>

#include "libtltcp/socket/clock.h"
#include "libtltcp/socket/event_loop.h"

#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>
#endif

#define STACK_SIZE ((size_t)512 * 1024)
/* Number of users of a shared thread before another one is started. */
#define USERS_MANY 64u
/* Maximum number of shared threads; beyond it they get more users. */
#define THREADS_MAX 8u

/* --- Tasks --------------------------------------------------------------- */

static struct tltcp__task *io_next_task(struct tltcp__io_thread *io) {
    struct tltcp__task *t = io->tasks;

    if (t != NULL) {
        io->tasks = t->next;
    }
    return t;
}

static void io_on_wake(uv_async_t *wake) {
    struct tltcp__io_thread *io = wake->data;
    struct tltcp__task *t;

    uv_mutex_lock(&io->mx);
    while ((t = io_next_task(io)) != NULL) {
        uv_mutex_unlock(&io->mx);
        t->run(t->arg);
        uv_mutex_lock(&io->mx);
        t->done = true;
        uv_cond_broadcast(&io->task_done);
    }
    if (io->stopping) {
        tltcp__loop_close(io);
    }
    uv_mutex_unlock(&io->mx);
}

static bool io_is_current(const struct tltcp__io_thread *io) {
    uv_thread_t self = uv_thread_self();

    return uv_thread_equal(&self, &io->thread) != 0;
}

void tltcp__io_thread_run(struct tltcp__io_thread *io, void (*run)(void *arg),
                          void *arg) {
    struct tltcp__task task = {.run = run, .arg = arg};

    if (io_is_current(io)) { /* a callback uses another socket */
        run(arg);
        return;
    }
    uv_mutex_lock(&io->mx);
    if (io->tasks == NULL) {
        io->tasks = &task;
    } else {
        io->last_task->next = &task;
    }
    io->last_task = &task;
    (void)uv_async_send(&io->wake);
    while (!task.done) {
        uv_cond_wait(&io->task_done, &io->mx);
    }
    uv_mutex_unlock(&io->mx);
}

/* --- Lifecycle ----------------------------------------------------------- */

static void io_timer_moved(void *owner, uint64_t id, uint32_t slot) {
    tltcp_socket *s = (tltcp_socket *)(uintptr_t)id;

    (void)owner;
    s->timer = slot;
}

static void io_main(void *arg) {
    struct tltcp__io_thread *io = arg;

#if defined(__linux__)
    (void)pthread_setname_np(pthread_self(), "tltcp-io");
#endif
    (void)uv_run(&io->loop, UV_RUN_DEFAULT);
}

/* Signals are left to the application's threads. */
static int io_start(struct tltcp__io_thread *io) {
    uv_thread_options_t o = {.flags = UV_THREAD_HAS_STACK_SIZE,
                             .stack_size = STACK_SIZE};
    int rv;
#if !defined(_WIN32)
    sigset_t all;
    sigset_t before;

    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
    rv = uv_thread_create_ex(&io->thread, &o, io_main, io);
#if !defined(_WIN32)
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
    return rv;
}

static void io_free(struct tltcp__io_thread *io) {
    (void)uv_loop_close(&io->loop);
    cmn__heap_free(&io->timers);
    uv_cond_destroy(&io->task_done);
    uv_mutex_destroy(&io->mx);
    free(io);
}

static int io_init_locks(struct tltcp__io_thread *io) {
    if (uv_mutex_init(&io->mx) != 0) {
        return UV_ENOMEM; /* the only possible failure */
    }
    if (uv_cond_init(&io->task_done) != 0) {
        uv_mutex_destroy(&io->mx);
        return UV_ENOMEM;
    }
    return 0;
}

static int io_open(struct tltcp__io_thread *io) {
    int rv = io_init_locks(io);

    if (rv != 0) {
        free(io);
        return rv;
    }
    io->mem = cmn__mem_default();
    cmn__heap_init(&io->timers, &io->mem, io_timer_moved, io);
    rv = tltcp__loop_open(io, io_on_wake);
    if (rv != 0) {
        uv_cond_destroy(&io->task_done);
        uv_mutex_destroy(&io->mx);
        free(io);
        return rv;
    }
    rv = io_start(io);
    if (rv != 0) { /* the loop has never run: let it close its handles */
        tltcp__loop_close(io);
        (void)uv_run(&io->loop, UV_RUN_DEFAULT);
        io_free(io);
    }
    return rv;
}

static int io_new(struct tltcp__io_thread **out, bool own) {
    struct tltcp__io_thread *io = calloc(1, sizeof(*io));
    int rv;

    if (io == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    io->users = 1;
    io->own = own;
    io->pid = uv_os_getpid();
    rv = io_open(io);
    if (rv == 0) {
        *out = io;
    }
    return tltcp__error_of(rv);
}

static void io_end(struct tltcp__io_thread *io) {
    uv_mutex_lock(&io->mx);
    io->stopping = true;
    (void)uv_async_send(&io->wake);
    uv_mutex_unlock(&io->mx);
    (void)uv_thread_join(&io->thread);
    io_free(io);
}

bool tltcp__io_thread_is_here(const struct tltcp__io_thread *io) {
    return io->pid == uv_os_getpid();
}

/* --- The shared threads -------------------------------------------------- */

static uv_once_t shared_once = UV_ONCE_INIT;
static uv_mutex_t shared_mx; /* protects everything below */
static struct tltcp__io_thread *shared_threads;
static uv_pid_t shared_pid; /* the process in which they run */

static void shared_init(void) {
    if (uv_mutex_init(&shared_mx) != 0) {
        abort(); /* possible only if out of memory, before any allocation */
    }
}

/* Threads do not survive fork(): a child starts its own. */
static void shared_lock(void) {
    uv_once(&shared_once, shared_init);
    uv_mutex_lock(&shared_mx);
    if (shared_pid != uv_os_getpid()) {
        shared_pid = uv_os_getpid();
        shared_threads = NULL;
    }
}

/* The thread with the fewest users, or NULL to start another. */
static struct tltcp__io_thread *shared_find(void) {
    struct tltcp__io_thread *best = shared_threads;
    unsigned count = 0;

    for (struct tltcp__io_thread *io = shared_threads; io != NULL;
         io = io->next) {
        count++;
        best = io->users < best->users ? io : best;
    }
    if (best != NULL && best->users >= USERS_MANY && count < THREADS_MAX) {
        return NULL;
    }
    return best;
}

static void shared_unlink(const struct tltcp__io_thread *io) {
    struct tltcp__io_thread **at = &shared_threads;

    while (*at != NULL && *at != io) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        *at = (*at)->next;
    }
}

int tltcp__io_thread_acquire(struct tltcp__io_thread **out, bool own) {
    struct tltcp__io_thread *io = NULL;
    int rv = 0;

    if (own) {
        return io_new(out, true);
    }
    shared_lock();
    io = shared_find();
    if (io != NULL) {
        io->users++;
    } else {
        rv = io_new(&io, false);
        if (io != NULL) {
            io->next = shared_threads;
            shared_threads = io;
        }
    }
    uv_mutex_unlock(&shared_mx);
    *out = io;
    return rv;
}

void tltcp__io_thread_release(struct tltcp__io_thread *io) {
    bool last = io->own;

    if (!io->own) {
        shared_lock();
        last = --io->users == 0;
        if (last) {
            shared_unlink(io);
        }
        uv_mutex_unlock(&shared_mx);
    }
    if (last) {
        io_end(io);
    }
}

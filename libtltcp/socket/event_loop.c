/* SPDX-License-Identifier: MPL-2.0 */
/* The turns of an I/O thread's loop. */
#include "libtltcp/socket/event_loop.h"

#include "libtltcp/socket/clock.h"
#include "libtltcp/socket/output.h"
#include "libtltcp/socket/schedule.h"
#include "libtltcp/socket/trace.h"

/* Number of connections served before input is read. */
#define CONNECTIONS 1024
/* A thread with many connections, or with live streams alone, has one turn in
 * this time: input and due timers share its system calls. */
#define QUANTUM TLTCP_MS
/* Minimum latency of a live stream that bears such a delay at each end. */
#define LATENCY_MS 20u
/* If no timer expires, a crowd waits longer, for this part of the latency. */
#define QUANTUM_PART 100u
#define QUANTUM_MAX (2 * TLTCP_MS)
/* For a timer that expires so soon, the loop does not sleep. */
#define TIMER_COST (20 * TLTCP_US)
/* With more bytes than this in a quantum, from a port or to a connection, turns
 * are large anyway, and the kernel's buffers are too small for waiting. */
#define QUANTUM_BYTES ((uint64_t)65536)
/* Full reads in a turn after which more waits in the kernel. */
#define FULL_READS 4u
/* Minimum number of connections for which waiting pays. */
#define CROWD 4u
/* Fewer wait only after so many turns in a row, each within a quantum of the
 * one before: a frame and the ACK of another may just coincide. */
#define RUSH 2u
/* After a turn with this many bytes, the thread sleeps for a moment. Otherwise
 * the sender wakes it for every few packets, which took a sixth of the
 * processor time at each end on the loopback interface. With the usual slack of
 * timers, the shortest sleep takes 50 us. While such turns follow each other,
 * the sleep grows until one turn has BULK_ENOUGH bytes: each turn also costs an
 * acknowledgement and wakes the reader. More would not stay in the cache. */
#define BULK_BYTES ((size_t)65536)
#define BULK_ENOUGH ((size_t)512 * 1024)
#define BULK_NAP (5 * TLTCP_US)
#define BULK_NAP_MAX (200 * TLTCP_US)
/* Number of quanta over which connections and bytes are counted. */
#define WINDOW 4
/* A window without turns of some connections ends this part of their memory. */
#define FORGET 16u

/* --- A turn -------------------------------------------------------------- */

/* Schedules connections with expired timers. Requires the mutex. */
static void loop_run_timers(struct tltcp__io_thread *io, tltcp_time now) {
    cmn__heap_item first;

    while (cmn__heap_first(&io->timers, &first) && first.key <= now) {
        tltcp_socket *s = (tltcp_socket *)(uintptr_t)first.id;

        cmn__heap_remove(&io->timers, s->timer);
        s->armed = TLTCP_TIME_NEVER;
        tltcp_conn_on_timeout(tltcp__engine(s), now);
        tltcp__schedule(s);
    }
}

static void loop_run_scheduled(struct tltcp__io_thread *io) {
    tltcp_socket *s = NULL;

    for (int i = 0; i < CONNECTIONS && (s = tltcp__next_scheduled(io)) != NULL;
         i++) {
        tltcp__output(s);
    }
}

static void loop_on_again(uv_idle_t *idle) {
    (void)idle; /* while it is active the loop does not sleep */
}

static void loop_flush_traces(struct tltcp__io_thread *io) {
    for (struct tltcp__port *p = io->ports; p != NULL; p = p->next) {
        tltcp__tracer_flush(p->tracer);
    }
}

/* Begins a turn: timers, connections, and their output. Takes the mutex. */
static void loop_begin_turn(struct tltcp__io_thread *io) {
    uv_mutex_lock(&io->mx);
    io->pumping = true;
    loop_run_timers(io, tltcp_now());
    loop_run_scheduled(io);
    tltcp__output_flush(io);
}

/* When to wake for a timer. A crowd that may wait longer than a quantum lets
 * more timers expire until then. */
static tltcp_time loop_timer_at(const struct tltcp__io_thread *io,
                                tltcp_time at) {
    tltcp_time late = io->patience > QUANTUM ? io->patience - QUANTUM : 0;

    return at < TLTCP_TIME_NEVER - late ? at + late : at;
}

/* Ends a turn: the loop sleeps until the first timer. It does not sleep if
 * connections are left, or if that timer has expired. Releases the mutex. True:
 * connections are left. */
static bool loop_end_turn(struct tltcp__io_thread *io, tltcp_time now) {
    cmn__heap_item first = {.key = TLTCP_TIME_NEVER};
    bool left = io->scheduled != NULL;
    bool again;

    (void)cmn__heap_first(&io->timers, &first);
    again = left || first.key <= now + TIMER_COST;
    io->pumping = again;
    if (!again) {
        net__timer_set(&io->timer, loop_timer_at(io, first.key));
    }
    uv_mutex_unlock(&io->mx);
    if (again) {
        (void)uv_idle_start(&io->again, loop_on_again);
    } else {
        (void)uv_idle_stop(&io->again);
    }
    return left;
}

bool tltcp__loop_turn(struct tltcp__io_thread *io) {
    bool left;

    loop_begin_turn(io);
    left = loop_end_turn(io, tltcp_now());
    loop_flush_traces(io);
    return left;
}

/* The lowest latency of all connections, ms. */
static uint32_t loop_latency(const struct tltcp__io_thread *io) {
    uint32_t least = UINT32_MAX;

    for (const struct tltcp__port *p = io->ports; p != NULL; p = p->next) {
        least = p->config.latency_ms < least ? p->config.latency_ms : least;
    }
    return least;
}

/* How long a crowd may wait if no timer expires. */
static tltcp_time loop_patience(uint32_t latency_ms) {
    tltcp_time part = latency_ms * TLTCP_MS / QUANTUM_PART;

    return part < QUANTUM ? QUANTUM : part < QUANTUM_MAX ? part : QUANTUM_MAX;
}

/* The connections that have turns: in some windows only a few of them have. */
static uint32_t loop_recent(uint32_t recent, uint32_t now) {
    return now >= recent ? now : recent - (recent - now + FORGET - 1) / FORGET;
}

/* Decides whether waiting pays, after a window of this many quanta. */
static void loop_judge(struct tltcp__io_thread *io, uint64_t quanta) {
    uint32_t latency_ms = loop_latency(io);
    bool live = latency_ms >= LATENCY_MS;
    bool many = io->window_conns >= CROWD;
    uint64_t most = quanta * QUANTUM_BYTES;
    uint64_t senders = live && io->window_conns > 0 ? io->window_conns : 1;

    io->crowd = (live || many) && io->window_in <= most &&
                io->window_bytes <= most * senders;
    io->rush = many ? 1 : RUSH;
    io->patience = many && live ? loop_patience(latency_ms) : QUANTUM;
    io->recent_conns = loop_recent(io->recent_conns, io->window_conns);
    io->gathers = live && io->crowd && io->recent_conns >= CROWD;
    io->few = live && io->crowd && io->recent_conns < CROWD;
}

/* The next sleep of a thread that receives bulk data, after a turn with so many
 * bytes. */
static tltcp_time loop_bulk_nap(tltcp_time nap, size_t bytes) {
    if (bytes < BULK_BYTES || nap == 0) {
        return BULK_NAP;
    }
    if (bytes > 2 * BULK_ENOUGH) {
        return nap > 2 * BULK_NAP ? nap / 2 : BULK_NAP;
    }
    if (bytes < BULK_ENOUGH) {
        return nap < BULK_NAP_MAX / 2 ? 2 * nap : BULK_NAP_MAX;
    }
    return nap;
}

/* How long to wait for more after the next turn; 0: not at all. */
static tltcp_time loop_nap_time(struct tltcp__io_thread *io, tltcp_time now) {
    tltcp_time span = now - io->window_since;
    tltcp_time nap = 0;

    uv_mutex_lock(&io->mx);
    if (span >= WINDOW * QUANTUM) {
        loop_judge(io, span / QUANTUM);
        io->window++;
        io->window_conns = 0;
        io->window_in = 0;
        io->window_bytes = 0;
        io->window_since = now;
    }
    io->rushed = now - io->idle_since < io->patience ? io->rushed + 1 : 0;
    io->bulk_nap = loop_bulk_nap(io->bulk_nap, io->bulk_in);
    if (!TLTCP__CAN_SLEEP || io->full_reads >= FULL_READS) {
        nap = 0;
    } else if (io->crowd && io->rushed >= io->rush) {
        nap = QUANTUM;
    } else if (io->bulk_in >= BULK_BYTES) {
        nap = io->bulk_nap;
    }
    io->full_reads = 0;
    io->bulk_in = 0;
    uv_mutex_unlock(&io->mx);
    return nap;
}

/* When a quantum that began then ends. Waiting for a timer that expires soon
 * costs less than setting it. */
static tltcp_time loop_quantum_end(const struct tltcp__io_thread *io,
                                   tltcp_time began) {
    cmn__heap_item first = {.key = TLTCP_TIME_NEVER};
    tltcp_time soon = began + QUANTUM_MAX;

    (void)cmn__heap_first(&io->timers, &first);
    if (first.key > soon) {
        return began + io->patience;
    }
    return first.key > began + QUANTUM ? first.key : began + QUANTUM;
}

/* Sleeps until a time, without the mutex. Nobody need wake the thread: a turn
 * follows if there is work by then. */
static void loop_nap(struct tltcp__io_thread *io, tltcp_time until) {
    tltcp_time now;

    io->pumping = true;
    uv_mutex_unlock(&io->mx);
    now = tltcp_now();
    if (until > now) {
        tltcp__sleep(until - now);
    }
    uv_mutex_lock(&io->mx);
}

/* --- Lifecycle ----------------------------------------------------------- */

static void loop_on_turn(uv_check_t *turn) {
    struct tltcp__io_thread *io = turn->data;
    tltcp_time now = tltcp_now();
    tltcp_time nap = loop_nap_time(io, now);

    loop_begin_turn(io);
    if (nap > 0 && io->scheduled == NULL) {
        /* a quantum includes the turn */
        loop_nap(io, nap == QUANTUM ? loop_quantum_end(io, now)
                                    : tltcp_now() + nap);
    }
    io->idle_since = tltcp_now();
    (void)loop_end_turn(io, io->idle_since);
    loop_flush_traces(io);
}

static void loop_on_timer(void *owner) {
#if defined(__linux__)
    (void)owner; /* the end of this turn checks the timers */
#else
    (void)tltcp__loop_turn(owner); /* libuv runs timers before it waits */
#endif
}

/* Number of descriptors that the first loop of a process needs: epoll, io_uring
 * with libuv 1.45 and newer, two of a pipe, an event. */
#define LOOP_DESCRIPTORS 5

/* libuv aborts the process or leaks one when it cannot get them, so check
 * first.
 */
static int loop_probe_descriptors(void) {
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

static int loop_open_wake(struct tltcp__io_thread *io, uv_async_cb on_wake) {
    int rv = uv_async_init(&io->loop, &io->wake, on_wake);

    if (rv != 0) {
        net__timer_close(&io->timer);
        (void)uv_run(&io->loop, UV_RUN_DEFAULT);
        (void)uv_loop_close(&io->loop);
    }
    return rv;
}

int tltcp__loop_open(struct tltcp__io_thread *io, uv_async_cb on_wake) {
    int rv = loop_probe_descriptors();

    if (rv == 0) {
        rv = uv_loop_init(&io->loop);
    }
    if (rv != 0) {
        return rv;
    }
    rv = net__timer_init(&io->timer, &io->loop, loop_on_timer, io);
    if (rv != 0) {
        (void)uv_loop_close(&io->loop);
        return rv;
    }
    rv = loop_open_wake(io, on_wake);
    if (rv != 0) {
        return rv;
    }
    (void)uv_check_init(&io->loop, &io->turn);
    (void)uv_idle_init(&io->loop, &io->again);
    io->wake.data = io;
    io->turn.data = io;
    (void)uv_check_start(&io->turn, loop_on_turn);
    return 0;
}

void tltcp__loop_close(struct tltcp__io_thread *io) {
    net__timer_close(&io->timer);
    uv_close((uv_handle_t *)&io->wake, NULL);
    uv_close((uv_handle_t *)&io->turn, NULL);
    uv_close((uv_handle_t *)&io->again, NULL);
}

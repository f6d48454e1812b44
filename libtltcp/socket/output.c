/* SPDX-License-Identifier: MPL-2.0 */
/* Datagrams from the engines to the sockets; timers. */
#include "libtltcp/socket/output.h"

#include "libtltcp/socket/accept_queue.h"
#include "libtltcp/socket/attempt.h"
#include "libtltcp/socket/events.h"
#include "libtltcp/socket/readiness.h"
#include "libtltcp/socket/schedule.h"
#include "libtltcp/socket/socket.h"
#include "libtltcp/socket/stats.h"
#include "libtltcp/socket/tcp_link.h"

/* Number of bursts of one connection before the next one has its turn. */
#define BURSTS 16
/* A burst of at most this many bytes fits one call with UDP_SEGMENT. */
#define BURST_BYTES ((size_t)65000)

static void output_arm(tltcp_socket *s) {
    cmn__heap *h = &s->port->io->timers;
    tltcp_time at = s->over ? TLTCP_TIME_NEVER : tltcp_conn_timeout(s->conn);

    if (!s->closed && s->port->calling != NULL) { /* as attempts run */
        const struct tltcp__calling *c = s->port->calling;

        at = c->next < at ? c->next : at;
        at = !s->connected && c->tcp_after < at ? c->tcp_after : at;
    }
    if (at == s->armed) {
        return;
    }
    if (at == TLTCP_TIME_NEVER) {
        cmn__heap_remove(h, s->timer);
    } else if (s->timer != CMN__HEAP_NONE) {
        cmn__heap_update(h, s->timer, at);
    } else if (cmn__heap_add(h, at, (uint64_t)(uintptr_t)s) != 0) {
        return; /* out of memory; the next turn tries again */
    }
    s->armed = at;
}

bool tltcp__output_flush_port(struct tltcp__port *port) {
    bool done;

    port->flushing = true;
    uv_mutex_unlock(&port->io->mx);
    done = net__udp_flush(port->udp);
    uv_mutex_lock(&port->io->mx);
    port->flushing = false;
    port->blocked = !done;
    return done;
}

/* Writes one burst; false when there was none. */
static bool output_burst(tltcp_socket *s, uint8_t *room) {
    struct tltcp__port *port = s->port;
    tltcp_pktinfo info;
    size_t segment = 0;
    size_t len = tltcp_conn_send(tltcp__engine(s), &info, room, BURST_BYTES,
                                 &segment, tltcp_now());
    const net__route *route = NULL;

    if (len == 0) {
        return false;
    }
    if (port->listening != NULL) {
        route = net__routes_find(&s->routes, info.path);
        if (route == NULL) {
            return true; /* too many newer routes; the engine will repeat */
        }
    } else {
        tltcp__attempt_on_sent(port, room, len);
    }
    net__udp_put(port->udp, route, info.dscp << 2 | info.ecn, len, segment);
    port->io->window_bytes += len;
    return true;
}

/* Sends the data of a connection; if the kernel takes no more, the connection
 * waits for it. */
static void output_bursts(tltcp_socket *s) {
    struct tltcp__port *port = s->port;

    for (int i = 0; i < BURSTS; i++) {
        uint8_t *room = net__udp_room(port->udp);

        if (room == NULL && (!tltcp__output_flush_port(port) ||
                             (room = net__udp_room(port->udp)) == NULL)) {
            if (!s->release) {
                tltcp__schedule(s);
            }
            return;
        }
        if (!output_burst(s, room)) {
            return;
        }
        tltcp__flush_later(port);
    }
    tltcp__schedule(s); /* more to send, after the others */
}

/* Adds the counters of a connection to the sums of its listener. */
static void output_keep_stats(tltcp_socket *s) {
    tltcp_stats st;

    tltcp_stats_init(&st);
    if (tltcp_conn_get_stats(tltcp__engine(s), &st, tltcp_now()) == 0) {
        tltcp__stats_add(&s->port->listening->past, &st);
    }
}

/* Frees a connection that is no longer needed. */
static void output_forget(tltcp_socket *s) {
    if (s->port->listening != NULL) {
        tltcp__accept_drop(s);
        output_keep_stats(s);
    }
    tltcp__socket_end(s);
    s->gone = true;
    if (s->owned) {
        tltcp__wake_all(&s->watchers);
    } else {
        tltcp__socket_free(s);
    }
}

/* Whether the application has it, or will get it. */
static bool output_is_held(const tltcp_socket *s) {
    return s->owned || (s->port->listening != NULL && tltcp__accept_holds(s));
}

static void output_settle(tltcp_socket *s) {
    if (!s->over && tltcp_conn_is_closed(s->conn)) {
        s->over = true;
        s->closed = true;
    }
    if (!s->scheduled && (s->release || (s->over && !output_is_held(s)))) {
        output_forget(s);
        return;
    }
    output_arm(s);
    tltcp__notify(s);
}

static void output_count(tltcp_socket *s) {
    struct tltcp__io_thread *io = s->port->io;

    if (s->window != io->window) {
        s->window = io->window;
        io->window_conns++;
    }
}

void tltcp__output(tltcp_socket *s) {
    output_count(s);
    if (s->port->calling != NULL) {
        tltcp__attempt_turn(s);
    }
    tltcp__take_events(s);
    if (!s->over) {
        if (s->reliable) {
            tltcp__link_output(s);
        } else if (s->port->udp != NULL) {
            output_bursts(s);
        }
        tltcp__take_events(s);
    }
    output_settle(s);
}

void tltcp__output_flush(struct tltcp__io_thread *io) {
    while (io->unflushed != NULL) {
        struct tltcp__port *port = io->unflushed;

        io->unflushed = port->next_unflushed;
        port->unflushed = false;
        (void)tltcp__output_flush_port(port);
    }
}

/* --- From the application's thread ---------------------------------------- */

/* Whether the I/O thread sleeps or only reads, and has nothing else to do for
 * the connection. */
static bool output_is_idle(const tltcp_socket *s) {
    const struct tltcp__port *port = s->port;

    return port->io->few && !port->io->pumping && s->connected && !s->over &&
           !s->scheduled && !s->reliable && port->udp != NULL &&
           !port->blocked && !port->unflushed && !port->flushing &&
           port->tracer == NULL && net__udp_sends_remotely(port->udp);
}

static void output_write_bursts(tltcp_socket *s) {
    struct tltcp__port *port = s->port;
    uint8_t *room;

    for (int i = 0; i < BURSTS && (room = net__udp_room(port->udp)) != NULL &&
                    output_burst(s, room);
         i++) {
    }
    if (!net__udp_flush_remotely(port->udp)) {
        tltcp__flush_later(port);
        tltcp__wake(s);
    }
}

void tltcp__output_written(tltcp_socket *s) {
    if (!output_is_idle(s)) {
        return;
    }
    if (tltcp_conn_timeout(s->conn) <= tltcp_now()) {
        output_count(s);
        output_write_bursts(s);
    }
    if (tltcp_conn_is_closed(s->conn)) {
        tltcp__wake(s); /* it reports that */
        return;
    }
    output_arm(s);
    (void)net__timer_set_remotely(&s->port->io->timer, s->armed);
}

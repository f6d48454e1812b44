/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/socket/sock.h"
#include "libtltcp/socket/trace.h"

/* Bursts of one connection before the next one has its turn. */
#define BURSTS 16
/* Connections before what arrives has its turn. */
#define CONNECTIONS 1024
/* A burst of at most this many bytes fits one call with UDP_SEGMENT. */
#define BURST_BYTES ((size_t)65000)

/* Marks those whose time has come.  Under mx. */
static void run_timers(struct tltcp__reactor *r, tltcp_time now) {
    cmn__heap_item first;

    while (cmn__heap_first(&r->timers, &first) && first.key <= now) {
        tltcp_socket *s = (tltcp_socket *)(uintptr_t)first.id;

        cmn__heap_remove(&r->timers, s->timer);
        s->armed = TLTCP_TIME_NEVER;
        tltcp_conn_on_timeout(tltcp__engine(s), now);
        tltcp__mark(s);
    }
}

static void arm(tltcp_socket *s) {
    cmn__heap *h = &s->r->timers;
    tltcp_time at = s->over ? TLTCP_TIME_NEVER : tltcp_conn_timeout(s->conn);

    if (at == s->armed) {
        return;
    }
    if (at == TLTCP_TIME_NEVER) {
        cmn__heap_remove(h, s->timer);
    } else if (s->timer != CMN__HEAP_NONE) {
        cmn__heap_update(h, s->timer, at);
    } else if (cmn__heap_add(h, at, (uint64_t)(uintptr_t)s) != 0) {
        return; /* without memory; tried again at the next pump */
    }
    s->armed = at;
}

static bool flush(struct tltcp__reactor *r) {
    bool done;

    uv_mutex_unlock(&r->mx);
    done = net__udp_flush(r->udp);
    uv_mutex_lock(&r->mx);
    return done;
}

/* Writes one burst; false when there was none. */
static bool burst(tltcp_socket *s, uint8_t *room) {
    struct tltcp__reactor *r = s->r;
    tltcp_pktinfo info;
    size_t segment = 0;
    size_t len = tltcp_conn_send(tltcp__engine(s), &info, room, BURST_BYTES,
                                 &segment, tltcp_now());
    const net__route *route = NULL;

    if (len == 0) {
        return false;
    }
    if (r->listening != NULL) {
        route = net__routes_find(&s->routes, info.path);
        if (route == NULL) {
            return true; /* too many newer routes; the engine will repeat */
        }
    } else {
        tltcp__calling_sent(r, room, len);
    }
    net__udp_put(r->udp, route, info.dscp << 2 | info.ecn, len, segment);
    return true;
}

/* Sends what a connection has to send.  False: the kernel takes no more. */
static bool send_bursts(tltcp_socket *s) {
    for (int i = 0; i < BURSTS; i++) {
        uint8_t *room = net__udp_room(s->r->udp);

        if (room == NULL &&
            (!flush(s->r) || (room = net__udp_room(s->r->udp)) == NULL)) {
            return false;
        }
        if (!burst(s, room)) {
            return true;
        }
    }
    tltcp__mark(s); /* more to send, after the others */
    return true;
}

/* Lets go of a connection that nobody needs any more. */
static void forget(tltcp_socket *s) {
    struct tltcp__reactor *r = s->r;

    if (r->listening != NULL) {
        tltcp__listening_forget(s);
    }
    if (s->timer != CMN__HEAP_NONE) {
        cmn__heap_remove(&r->timers, s->timer);
    }
    r->leaving -= s->release;
    tltcp_conn_free(tltcp__engine(s));
    s->conn = NULL;
    r->current = NULL;
    tltcp__socket_unlink(s);
    tltcp__trace_close(s);
    s->gone = true;
    if (s->owned) {
        uv_cond_broadcast(&s->changed);
    } else {
        tltcp__socket_free(s);
    }
}

static void event_loop_settle(tltcp_socket *s) {
    if (!s->over && tltcp_conn_is_closed(s->conn)) {
        s->over = true;
        s->closed = true;
    }
    if (!s->dirty && (s->release || (s->over && !s->owned && !s->queued))) {
        forget(s);
        return;
    }
    arm(s);
    tltcp__notify(s);
}

static bool pump_one(tltcp_socket *s) {
    bool done = true;

    tltcp__take_events(s);
    if (!s->over) {
        done = send_bursts(s);
        tltcp__take_events(s);
    }
    if (!done && !s->release) {
        tltcp__mark(s);
    }
    event_loop_settle(s);
    return done;
}

static void on_again(uv_idle_t *idle) {
    (void)idle; /* while it is active the loop does not sleep */
}

static void sleep_or_go_on(struct tltcp__reactor *r, tltcp_time at, bool more) {
    if (more) {
        (void)uv_idle_start(&r->again, on_again);
    } else {
        (void)uv_idle_stop(&r->again);
    }
    net__timer_set(&r->alarm, at);
}

static tltcp_time next_time(const struct tltcp__reactor *r) {
    cmn__heap_item first = {.key = TLTCP_TIME_NEVER};

    (void)cmn__heap_first(&r->timers, &first);
    if (r->calling != NULL && r->calling->next < first.key) {
        return r->calling->next;
    }
    return first.key;
}

/* Those that applications gave back do not wait for a kernel that is full. */
static void let_go(struct tltcp__reactor *r) {
    tltcp_socket *last = r->dirty_last;
    bool end = r->dirty == NULL;

    while (!end && r->leaving > 0) {
        tltcp_socket *s = tltcp__next_dirty(r);

        end = s == last;
        if (s->release) {
            (void)pump_one(s);
        } else {
            tltcp__mark(s);
        }
    }
}

static void pump_dirty(struct tltcp__reactor *r) {
    tltcp_socket *s = NULL;

    for (int i = 0; i < CONNECTIONS && (s = tltcp__next_dirty(r)) != NULL;
         i++) {
        if (!pump_one(s)) {
            let_go(r);
            return;
        }
    }
}

bool tltcp__pump(struct tltcp__reactor *r) {
    tltcp_time at;
    bool more;

    uv_mutex_lock(&r->mx);
    r->pumping = true;
    if (r->calling != NULL) {
        tltcp__calling_turn(r);
    }
    run_timers(r, tltcp_now());
    pump_dirty(r);
    /* While the kernel takes no more, only its word or a wake go on. */
    more = flush(r) && r->dirty != NULL;
    r->pumping = more;
    at = next_time(r);
    uv_mutex_unlock(&r->mx);
    sleep_or_go_on(r, at, more);
    tltcp__tracer_flush(r->tracer);
    return more;
}

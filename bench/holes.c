/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Cost of a STATUS with very many holes: half of a file's packets are lost,
 * then the receiver lists the holes and the sender processes the list. Two
 * engines, no sockets; prints JSON.
 */
#include <saratoga/engine.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOLES 100000u
#define PAYLOAD 1000u
#define STATUS_ROOM 2000u
#define MTU 1500u

struct end {
    saratoga_engine *node;
    saratoga_handle handle;
};

struct status {
    size_t len;
    uint8_t bytes[MTU];
};

static struct status list[STATUS_ROOM];
static size_t listed;
static saratoga_time now = SARATOGA_S;

static void need(bool good, const char *what) {
    if (!good) {
        (void)fprintf(stderr, "bench_holes: %s\n", what);
        exit(1);
    }
}

static double milliseconds(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void open_node(struct end *e, uint8_t first) {
    const uint8_t seed[SARATOGA_SEED_LEN] = {first};
    saratoga_options o;
    saratoga_config c;

    saratoga_options_init(&o);
    o.payload = PAYLOAD;
    o.rate_bps = UINT64_C(1) << 50;
    o.timestamps = SARATOGA_TS_OFF;
    o.checksum = SARATOGA_NONE;
    saratoga_config_init(&c);
    c.transfer = &o;
    c.status_packets = STATUS_ROOM;
    need(saratoga_engine_new(&e->node, &c, seed, now) == 0, "no node");
}

/* The file is neither read nor written. */
static void do_work(struct end *e) {
    saratoga_work w;
    while (saratoga_engine_next_work(e->node, &w) == 1) {
        (void)saratoga_engine_work_done(
            e->node, w.id, w.type == SARATOGA_WORK_READ ? (int64_t)w.len : 0,
            now);
    }
}

static void answer(struct end *e) {
    saratoga_event ev;
    saratoga_answer a;
    while (saratoga_engine_next_event(e->node, &ev) == 1) {
        if (ev.type == SARATOGA_EVENT_REQUEST) {
            saratoga_answer_init(&a);
            e->handle = ev.handle;
            need(saratoga_transfer_accept(e->node, ev.handle, &a, now) == 0,
                 "not accepted");
        }
    }
}

static bool is_data(const uint8_t *packet) {
    return (packet[0] & 0x1F) == 3;
}

/* Passes datagrams from one to the other; every other DATA is lost. */
static size_t holes_carry(struct end *from, struct end *to) {
    static uint8_t room[65536];
    static bool odd = true;
    const saratoga_pktinfo who = {.host = 1, .path = 1};
    saratoga_pktinfo aim;
    size_t segment;
    size_t moved = 0;
    size_t len;

    do_work(from);
    while ((len = saratoga_engine_send(from->node, &aim, room, sizeof(room),
                                       &segment, now)) > 0) {
        for (size_t at = 0; at < len; at += segment) {
            size_t left = len - at;
            odd = is_data(room + at) ? !odd : odd;
            if (!is_data(room + at) || odd) {
                saratoga_engine_recv(to->node, &who, room + at,
                                     left < segment ? left : segment, now);
            }
            do_work(to);
        }
        moved += len;
        do_work(from);
    }
    answer(to);
    return moved;
}

static void send_all(struct end *sender, struct end *receiver) {
    saratoga_source src = {.kind = SARATOGA_FILE};
    saratoga_request q;

    src.entry.size = 2 * (uint64_t)HOLES * PAYLOAD;
    src.entry.descriptor = SARATOGA_DESCRIPTOR_FIT;
    (void)snprintf(src.entry.path, sizeof(src.entry.path), "f");
    saratoga_request_init(&q);
    q.type = SARATOGA_PUT;
    q.id = 7;
    q.to = (saratoga_pktinfo){.host = 1, .path = 1};
    q.path = "f";
    q.source = &src;
    need(saratoga_transfer_start(sender->node, &q, &sender->handle, now) == 0,
         "not started");
    (void)holes_carry(sender, receiver);
    (void)holes_carry(receiver, sender);
    now += SARATOGA_MS;
    (void)holes_carry(sender, receiver);
}

static double build(struct end *receiver) {
    double begun = milliseconds();
    saratoga_pktinfo aim;
    size_t segment;

    while (listed < STATUS_ROOM) {
        size_t len = saratoga_engine_send(
            receiver->node, &aim, list[listed].bytes, MTU, &segment, now);
        if (len == 0) {
            break;
        }
        list[listed++].len = len;
    }
    return milliseconds() - begun;
}

static double apply(struct end *sender) {
    const saratoga_pktinfo who = {.host = 1, .path = 1};
    double begun = milliseconds();

    for (size_t i = 0; i < listed; i++) {
        saratoga_engine_recv(sender->node, &who, list[i].bytes, list[i].len,
                             now);
    }
    return milliseconds() - begun;
}

int main(void) {
    struct end sender = {0};
    struct end receiver = {0};
    saratoga_stats st;
    double built;
    double applied;

    open_node(&sender, 1);
    open_node(&receiver, 2);
    send_all(&sender, &receiver);
    now += 50 * SARATOGA_MS;
    built = build(&receiver);
    applied = apply(&sender);
    saratoga_stats_init(&st);
    need(saratoga_transfer_get_stats(sender.node, sender.handle, &st, now) == 0,
         "no transfer");
    need(st.holes_reported == HOLES, "holes are missing from the list");
    (void)printf("{\"holes\":%llu,\"packets\":%zu,\"built_ms\":%.3f,"
                 "\"applied_ms\":%.3f}\n",
                 (unsigned long long)st.holes_reported, listed, built, applied);
    saratoga_engine_free(sender.node);
    saratoga_engine_free(receiver.node);
    return 0;
}

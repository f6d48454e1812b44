/* SPDX-License-Identifier: MPL-2.0 */
/* The worked examples of the paper on TLTCP (Figures 2 to 4), packet by packet:
 * sections of packets 10 to 19 and 20 to 29, a window of 10 that a loss halves.
 */
#include "libtltcp/engine/chunk.h"
#include "tests/simnet/world.h"

#define PACKETS 10 /* of a section, and of the window */
#define SECTIONS 2
#define FIRST 10         /* number of the first packet */
#define SECTION 11500    /* bytes, which are that many packets */
#define START (150 * MS) /* soon after the handshake */
#define EXPIRY (80 * MS) /* before the first acknowledgement */
#define SENT_MAX 64

static struct world w;

struct example {
    struct plan plan;
    const unsigned *lost; /* numbers of packets lost when sent first */
    size_t n_lost;
    tltcp_time expiry;       /* of the first section, after writing */
    unsigned sent[SENT_MAX]; /* numbers of packets, as they left */
    size_t n_sent;
    uint32_t start[SECTIONS][PACKETS]; /* places of packets in the stream */
    unsigned n_started[SECTIONS];
    bool drop_next;
};

static bool is_to_be_lost(const struct example *x, unsigned number) {
    for (size_t i = 0; i < x->n_lost; i++) {
        if (x->lost[i] == number) {
            return true;
        }
    }
    return false;
}

static void note(struct example *x, const tltcp__chunk *k) {
    tltcp__data d;
    unsigned i = 0;
    assert_true(tltcp__data_parse(k, &d));
    assert_true(d.section < SECTIONS && x->n_sent < SENT_MAX);
    while (i < x->n_started[d.section] && x->start[d.section][i] != d.seq) {
        i++;
    }
    assert_true(i < PACKETS);
    if (i == x->n_started[d.section]) {
        x->start[d.section][x->n_started[d.section]++] = d.seq;
        x->drop_next = is_to_be_lost(x, FIRST + d.section * PACKETS + i);
    }
    x->sent[x->n_sent++] = FIRST + d.section * PACKETS + i;
}

static void on_datagram(void *user, struct end *e, const void *dgram,
                        size_t len) {
    struct example *x = user;
    sec__packet p;
    tltcp__chunk k;
    cmn__reader r;
    if (e != &w.end[CLIENT] || !sec__packet_parse(dgram, len, &p) ||
        p.type != SEC__SHORT) {
        return;
    }
    r = cmn__reader_of(p.body, p.body_len);
    while (tltcp__chunk_next(&r, &k)) {
        if (k.type == TLTCP__DATA) {
            note(x, &k);
        }
    }
}

/* Comes behind on_datagram(), for the same packet. */
static bool tap(void *user, uint32_t link, struct sim_packet *p, uint64_t now) {
    struct example *x = user;
    bool drop = link == 0 && x->drop_next;
    (void)p;
    (void)now;
    if (link == 0) {
        x->drop_next = false;
    }
    return !drop;
}

static void shape(void *user, uint64_t number, tltcp_time now,
                  struct sim_section *s) {
    const struct example *x = user;
    s->len = SECTION;
    s->deadline = number == 0 && x->expiry != NEVER ? now + x->expiry : NEVER;
}

static void example_init(struct example *x, const unsigned *lost,
                         size_t n_lost) {
    struct plan *p = &x->plan;
    *x = (struct example){.lost = lost, .n_lost = n_lost, .expiry = EXPIRY};
    plan_init(p, 1);
    for (int i = 0; i < 2; i++) {
        p->link[i].delay = 50 * MS;
        p->link[i].rate = 100e6;
        p->config[i].packets.ack_every = 1;
    }
    p->config[CLIENT].recovery = "dupack-reno";
    p->config[CLIENT].congestion = "reno";
    p->config[CLIENT].controller.initial_window = PACKETS;
    p->config[CLIENT].controller.max_window = PACKETS;
    p->config[CLIENT].controller.pacing = false;
    p->config[CLIENT].packets.mtu_probing = false;
    p->config[CLIENT].fec = TLTCP_FEC_OFF;
    p->source[CLIENT].sections = SECTIONS;
    p->source[CLIENT].start = START;
    p->source[CLIENT].interval = 0;
    p->source[CLIENT].shape = shape;
    p->source[CLIENT].user = x;
    p->spy = on_datagram;
    p->tap = tap;
    p->user = x;
}

/* Plays the example, and asserts which packets leave, in which order. */
static tltcp_stats plays(struct example *x, const unsigned *expected,
                         size_t n_expected) {
    tltcp_stats st;
    world_start(&w, &x->plan);
    world_run(&w);
    assert_int_equal(x->n_sent, n_expected);
    for (size_t i = 0; i < n_expected; i++) {
        assert_int_equal(x->sent[i], expected[i]);
    }
    st = end_stats(&w.end[CLIENT]);
    assert_int_equal(st.rto_count, 0);
    world_finish(&w);
    return st;
}

#define PLAYS(x, ...)                         \
    plays(x, (const unsigned[]){__VA_ARGS__}, \
          sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

/* Section 5.4: the window is full of packets 10 to 19 when they expire, and so
 * the next section waits for their acknowledgements. */
TEST(obsolete_packets_keep_their_slots) {
    struct example x;
    example_init(&x, NULL, 0);
    world_start_for(&w, &x.plan, START + EXPIRY + 10 * MS);
    assert_int_equal(x.n_sent, PACKETS);
    world_run(&w);
    assert_int_equal(x.n_sent, SECTIONS * PACKETS);
    world_finish(&w);
}

/* Loses packets, which expire or not; `again` is the one that the first of them
 * makes go again. */
static void loses(const unsigned *lost, size_t n_lost, tltcp_time expiry,
                  unsigned again) {
    struct example x;
    tltcp_stats st;
    example_init(&x, lost, n_lost);
    x.expiry = expiry;
    st = PLAYS(&x, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, again, 22,
               23, 24, 25, 26, 27, 28, 29);
    assert_int_equal(st.pseudo_retransmissions, again != lost[0]);
    assert_int_equal(st.congestion_events, 1);
}

/* Section 5.5: the slot of packet 12 goes to 20, which was not lost. */
TEST(a_lost_obsolete_packet_makes_current_data_go_twice) {
    loses((const unsigned[]){12}, 1, EXPIRY, 20);
}

/* The seq_update with packet 20 moves the receiver past both. */
TEST(a_second_lost_obsolete_packet_goes_unnoticed) {
    loses((const unsigned[]){12, 14}, 2, EXPIRY, 20);
}

TEST(a_lost_packet_that_is_not_obsolete_goes_again_itself) {
    loses((const unsigned[]){12}, 1, NEVER, 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obsolete_packets_keep_their_slots),
        cmocka_unit_test(a_lost_obsolete_packet_makes_current_data_go_twice),
        cmocka_unit_test(a_second_lost_obsolete_packet_goes_unnoticed),
        cmocka_unit_test(a_lost_packet_that_is_not_obsolete_goes_again_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

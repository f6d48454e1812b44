/* SPDX-License-Identifier: MPL-2.0 */
/* The effect of a forged STATUS on a sender without a key.
 */
#include "libsaratoga/engine/packet.h"
#include "tests/simnet/saratoga/pass.h"
#include "tests/simnet/saratoga/raw.h"

#define COMPLETED "24010000 00000007 000a 000a"
#define NOTHING_YET "24000000 00000007 0000 000a 0000 0009"

/* Octets of DATA that left since the last look, each put where it belongs. */
static size_t collect(struct raw *r, uint8_t *to, size_t room) {
    const struct sent *s;
    saratoga__data d;
    size_t n = 0;
    while ((s = raw_next(r)) != NULL) {
        if ((s->bytes[0] & 0x1f) == 3 &&
            saratoga__data_parse(s->bytes, s->len, &d)) {
            assert_true(d.offset.lo + d.len <= room);
            memcpy(to + d.offset.lo, d.bytes, d.len);
            n += d.len;
        }
    }
    return n;
}

static saratoga_options once(void) {
    saratoga_options o = plain();
    o.copies = 1;
    return o;
}

static void write_stream(struct raw *r, const char *text) {
    int64_t n = saratoga_stream_write(r->h->sim.engine, r->h->xfers->handle,
                                      text, strlen(text), host_now(r->h));
    assert_int_equal(n, strlen(text));
    host_pump(r->h);
    raw_wait(r, 100 * MSEC);
}

TEST(holes_of_a_stream_cover_only_sent_and_kept_data) {
    saratoga_options o = once();
    struct raw *r = server(&o);
    uint8_t got[16] = {0};
    r->h->stream = true;
    raw_hex(r, "219f0001 00000007 6400");
    raw_hex(r, "24000000 00000007 0000 0000 0000 0000");
    raw_wait(r, 100 * MSEC);
    assert_int_equal(collect(r, got, sizeof(got)), 0);

    write_stream(r, "0123456789");
    assert_int_equal(collect(r, got, sizeof(got)), 10);
    raw_hex(r, "24000000 00000007 0004 000a 0004 000a");
    raw_wait(r, 100 * MSEC);
    assert_int_equal(collect(r, got, sizeof(got)), 6);
    write_stream(r, "ab");
    assert_int_equal(collect(r, got, sizeof(got)), 2);
    assert_memory_equal(got, "0123456789ab", 12);

    raw_hex(r, "24000000 00000007 000c 000c");
    raw_hex(r, "24000000 00000007 0000 000c 0000 000b");
    raw_wait(r, 100 * MSEC);
    assert_int_equal(collect(r, got, sizeof(got)), 0);
    raw_free(r);
}

/* The report about the last data, which was sent before the end was known. */
TEST(a_stream_is_over_once_its_end_can_have_been_heard) {
    saratoga_options o = once();
    struct raw *r = server(&o);
    struct xfer *x;
    r->h->stream = true;
    raw_hex(r, "219f0001 00000007 6400");
    raw_hex(r, "24000000 00000007 0000 0000 0000 0000");
    write_stream(r, "0123456789");
    x = r->h->xfers;
    assert_int_equal(
        saratoga_stream_finish(r->h->sim.engine, x->handle, host_now(r->h)), 0);
    host_pump(r->h);
    raw_hex(r, COMPLETED);
    assert_false(x->done);
    raw_wait(r, 5 * SEC);
    raw_hex(r, COMPLETED);
    assert_true(x->done);
    assert_int_equal(x->end.error, 0);
    raw_free(r);
}

/* Said before the end has left it is not believed: the peer is asked again. */
TEST(a_file_is_deleted_once_all_of_it_has_left) {
    saratoga_options o = once();
    struct raw *r = server(&o);
    struct xfer *x;
    uint8_t got[16] = {0};
    o.rate_bps = 1000;
    raw_hex(r, "218f0003 00000007 6400");
    x = r->h->xfers;
    raw_hex(r, COMPLETED);
    assert_false(x->done);
    raw_wait(r, 10 * SEC);
    assert_false(x->done);
    raw_hex(r, NOTHING_YET);
    raw_wait(r, 10 * SEC);
    assert_in_range(collect(r, got, sizeof(got)), 10, 14);
    assert_memory_equal(got, "0123456789", 10);
    assert_false(x->done);
    raw_hex(r, COMPLETED);
    assert_true(x->done && x->end.remove);
    raw_free(r);
}

TEST(a_progress_that_was_never_made_is_healed_by_the_next) {
    saratoga_options o = once();
    struct raw *r = server(&o);
    uint8_t got[16] = {0};
    raw_hex(r, GET_D);
    raw_hex(r, "24000000 00000007 0009 0009");
    raw_wait(r, 100 * MSEC);
    (void)collect(r, got, sizeof(got));
    assert_false(r->h->xfers->done);
    memset(got, 0, sizeof(got));
    raw_hex(r, NOTHING_YET);
    raw_wait(r, 100 * MSEC);
    assert_true(collect(r, got, sizeof(got)) >= 10);
    assert_memory_equal(got, "0123456789", 10);
    raw_hex(r, COMPLETED);
    assert_true(r->h->xfers->done);
    assert_false(r->h->xfers->end.remove);
    raw_free(r);
}

static void put32(uint8_t *p, uint32_t x) {
    for (int i = 3; i >= 0; i--) {
        p[i] = (uint8_t)x;
        x >>= 8;
    }
}

#define SIZE 1000000u
#define RATE 10000000u
#define RTT (40 * MSEC)

/* A list of holes in the receiver's name: all that was sent is missing. */
static void forge_list(struct world *w, uint32_t id) {
    uint8_t status[24] = {0x24, 0x40};
    put32(status + 4, id);
    put32(status + 12, SIZE);
    put32(status + 20, SIZE - 1);
    sim_saratoga_transmit(
        &w->ground->sim, sim_address(w->ground->sim.node, SARATOGA_PORT),
        sim_address(w->sat->sim.node, SARATOGA_PORT), status, sizeof(status));
}

TEST(a_forged_list_affects_packets_until_the_next_one) {
    const struct plan p = {20e6, 20e6, RTT, 0, 0, 1};
    struct world w = world_new(&p, NULL, NULL);
    saratoga_options o;
    struct xfer *x;
    uint32_t forged = 0;
    saratoga_options_init(&o);
    o.rate_bps = RATE;
    (void)host_make_file(w.sat, "f", SIZE, 1);
    w.sat->answer_options = &o;
    x = host_start(w.ground, w.sat, SARATOGA_GET, "f", &o, NULL);
    while (!x->done && forged < 100) {
        saratoga_stats st;
        world_run(&w, host_now(w.ground) + 100 * MSEC);
        saratoga_stats_init(&st);
        if (saratoga_transfer_get_stats(w.ground->sim.engine, x->handle, &st,
                                        host_now(w.ground)) == 0) {
            forge_list(&w, st.id);
            forged++;
        }
    }
    world_finish(&w, w.sat->xfers, 60 * SEC);
    assert_int_equal(x->end.error, 0);
    assert_true(host_same(host_find_file(w.sat, "f"), x->file));
    assert_true(forged > 5);
    assert_true(w.sat->xfers->stats.retransmitted_bytes <=
                forged * (RATE / 8 * 3 * RTT / SEC));
    world_free(&w);
}

/* Many would answer at once. */
static void
what_comes_from_a_group_is_not_answered_with_an_error(void **state) {
    static const char *const wrong[] = {
        "23000000 00000007 0000 41414141",   /* nobody takes it */
        META_D,                              /* nor this */
        "210f0009 00000008 6400",            /* a request that there is not */
        "2b000000 00000009 0000 0000 0000"}; /* nor such a packet */
    saratoga_config c;
    (void)state;
    saratoga_config_init(&c);
    c.can_receive = false;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct raw *r = raw_new(&c);
        r->peer.flags = SARATOGA_PKT_MULTICAST;
        raw_hex(r, wrong[i]);
        raw_wait(r, SEC);
        assert_silent(r);
        r->peer.flags = 0;
        raw_hex(r, wrong[i]);
        assert_non_null(raw_next(r));
        raw_free(r);
    }
}

/* One STATUS a second, with so much more progress every 100 s. */
static const saratoga_event *answered_for(struct raw *r, unsigned seconds,
                                          uint32_t gain) {
    uint8_t status[16] = {0x24};
    put32(status + 4, 7);
    for (uint32_t i = 0; i < seconds && !r->h->xfers->done; i++) {
        uint32_t have = i / 100 * gain;
        status[9] = (uint8_t)have; /* progress, IRT, the hole between */
        status[11] = 200;
        status[13] = (uint8_t)have;
        status[15] = 199;
        raw_recv(r, status, sizeof(status));
        raw_wait(r, SEC);
        r->n = 0;
    }
    return r->h->xfers->done ? &r->h->xfers->end : NULL;
}

TEST(a_receiver_without_progress_is_abandoned) {
    saratoga_options o = once();
    for (uint32_t gain = 0; gain < 2; gain++) {
        struct raw *r = raw_new(NULL);
        const saratoga_event *end;
        (void)host_make_file(r->h, "d", 200, 1);
        r->h->answer_options = &o;
        raw_hex(r, GET_D);
        end = answered_for(r, 1000, gain);
        if (gain == 0) {
            assert_non_null(end);
            assert_int_equal(end->error, SARATOGA_ERR_IN_VAIN);
            assert_in_range(host_now(r->h), 4 * o.inactivity, 6 * o.inactivity);
        } else {
            assert_null(end);
        }
        raw_free(r);
    }
}

/* Answers at once whatever comes: all but the last octet is here. Gives the
 * datagrams that came. */
static size_t verify_for(struct raw *r, unsigned ms) {
    size_t n = 0;
    for (unsigned i = 0; i < ms; i++) {
        r->n = 0;
        raw_wait(r, MSEC);
        n += r->n;
        if (r->n > 0) {
            raw_hex(r, "24000000 00000007 0009 000a 0009 0009");
        }
    }
    return n;
}

TEST(a_receiver_that_verifies_is_not_asked_all_the_time) {
    saratoga_options o = once();
    struct raw *r = server(&o);
    raw_hex(r, GET_D);
    (void)verify_for(r, 1000);
    assert_in_range(verify_for(r, 100000), 20, 100);
    assert_false(r->h->xfers->done);
    raw_hex(r, COMPLETED);
    assert_true(r->h->xfers->done);
    assert_int_equal(r->h->xfers->end.error, 0);
    raw_free(r);
}

/* Only what is small gets through. */
TEST(a_path_that_swallows_all_data_ends_a_transfer) {
    const struct plan p = {20e6, 20e6, RTT, 0, 0, 1};
    struct world w = world_new(&p, NULL, NULL);
    saratoga_options o = at_rate(RATE);
    struct sim_link_config c;
    struct xfer *x;
    link_config(&c, 20e6, RTT / 2, 0);
    c.mtu = 600;
    sim_net_set_link(w.net, w.down, &c);
    (void)host_make_file(w.sat, "f", SIZE, 1);
    x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
    world_finish(&w, x, 1000 * SEC);
    assert_true(x->done);
    assert_int_equal(x->end.error, SARATOGA_ERR_IN_VAIN);
    world_free(&w);
}

int main(void) {
#define T(f) cmocka_unit_test(f)
    const struct CMUnitTest tests[] = {
        T(holes_of_a_stream_cover_only_sent_and_kept_data),
        T(a_stream_is_over_once_its_end_can_have_been_heard),
        T(a_file_is_deleted_once_all_of_it_has_left),
        T(a_progress_that_was_never_made_is_healed_by_the_next),
        T(a_forged_list_affects_packets_until_the_next_one),
        T(what_comes_from_a_group_is_not_answered_with_an_error),
        T(a_receiver_without_progress_is_abandoned),
        T(a_receiver_that_verifies_is_not_asked_all_the_time),
        T(a_path_that_swallows_all_data_ends_a_transfer),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}

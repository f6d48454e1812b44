/* SPDX-License-Identifier: MPL-2.0 */
/* Complete transfers of every kind, and failures in them. */
#include <stdlib.h>

#include "tests/simnet/saratoga/pass.h"
#include "tests/support/cmocka.h"

static const struct plan GOOD = {10e6, 0, 100 * MSEC, 0, 0, 1};
static const struct plan LOSSY = {10e6, 0, 100 * MSEC, 0.03, 0.03, 1};

TEST(every_width_and_checksum_works) {
    static const uint32_t sum[] = {SARATOGA_NONE, SARATOGA_CRC32C, SARATOGA_MD5,
                                   SARATOGA_SHA1, SARATOGA_SHA256};
    for (uint32_t i = 0; i < 20; i++) {
        saratoga_config c;
        saratoga_options o = at_rate(9000000);
        struct world w;
        struct xfer *x;
        saratoga_config_init(&c);
        c.sha256 = true;
        o.max_descriptor = SARATOGA_128_BIT;
        o.descriptor = i / 5;
        c.transfer = &o;
        w = world_new(&LOSSY, &c, &c);
        w.sat->checksum = sum[i % 5];
        (void)host_make_file(w.sat, "f", 60000, i);
        x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", NULL, NULL);
        world_finish(&w, x, 100 * SEC);
        assert_arrived(&w, x, "f");
        assert_int_equal(x->stats.descriptor, i / 5);
        assert_int_equal(w.ground->xfers->end.verified, i % 5 != 0);
        world_free(&w);
    }
}

TEST(take_and_give_delete_delivered_files) {
    static const uint32_t type[] = {SARATOGA_TAKE, SARATOGA_GIVE};
    for (int i = 0; i < 2; i++) {
        saratoga_options o = at_rate(9000000);
        struct world w = world_new(&LOSSY, NULL, NULL);
        struct xfer *x;
        w.sat->answer_options = &o;
        (void)host_make_file(w.sat, "f", 200000, 3);
        x = i == 0 ? host_start(w.ground, w.sat, type[i], "f", NULL, NULL)
                   : host_start(w.sat, w.ground, type[i], "f", &o, NULL);
        world_finish(&w, x, 100 * SEC);
        world_run(&w, host_now(w.sat) + 10 * SEC);
        assert_true(w.sat->xfers->end.remove);
        assert_null(host_find_file(w.sat, "f"));
        assert_non_null(host_find_file(w.ground, "f"));
        world_free(&w);
    }
}

TEST(nothing_is_deleted_when_the_file_does_not_arrive) {
    struct world w = world_new(&GOOD, NULL, NULL);
    struct xfer *x;
    saratoga_options o = at_rate(9000000);
    (void)host_make_file(w.sat, "f", 200000, 3);
    w.ground->full = true;
    x = host_start(w.sat, w.ground, SARATOGA_GIVE, "f", &o, NULL);
    world_finish(&w, x, 100 * SEC);
    assert_int_equal(x->end.error, SARATOGA_ERR_REFUSED);
    assert_int_equal(x->end.status, SARATOGA_CANNOT_RECEIVE);
    assert_false(x->end.remove);
    assert_non_null(host_find_file(w.sat, "f"));
    assert_int_equal(w.ground->xfers->end.error, SARATOGA_ERR_NO_SPACE);
    world_free(&w);
}

TEST(a_file_that_shrinks_while_sent_ends_with_an_error) {
    struct world w = world_new(&GOOD, NULL, NULL);
    struct xfer *x;
    (void)host_make_file(w.sat, "f", 2000000, 3);
    x = host_start(w.ground, w.sat, SARATOGA_GET, "f", NULL, NULL);
    world_run(&w, 300 * MSEC);
    w.sat->shrunk = true;
    world_finish(&w, x, 100 * SEC);
    assert_int_equal(x->end.error, SARATOGA_ERR_REFUSED);
    assert_int_equal(x->end.status, SARATOGA_CANNOT_SEND);
    assert_int_equal(w.sat->xfers->end.error, SARATOGA_ERR_CHANGED);
    assert_null(host_find_file(w.ground, "f"));
    world_free(&w);
}

TEST(an_outage_is_sat_through) {
    struct world w = world_new(&GOOD, NULL, NULL);
    struct sim_link_config c;
    struct xfer *x;
    saratoga_options o = at_rate(9000000);
    link_config(&c, 10e6, 50 * MSEC, 0);
    c.blackout_start = SEC;
    c.blackout_length = 20 * SEC;
    sim_net_set_link(w.net, w.down, &c);
    sim_net_set_link(w.net, w.up, &c);
    (void)host_make_file(w.sat, "f", 5000000, 3);
    x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
    world_finish(&w, x, 100 * SEC);
    assert_arrived(&w, x, "f");
    /* Little was sent into the void, and it went on soon after. */
    assert_true(x->done_at < 30 * SEC);
    assert_true(x->stats.data_bytes < 5000000 + 4000000);
    world_free(&w);
}

struct traces {
    unsigned stalled;
    unsigned keyless; /* without even an empty list of keys */
};

static void count_trace(void *user, const saratoga_trace_event *ev) {
    struct traces *t = user;
    t->stalled += strcmp(ev->name, "saratoga:stalled") == 0;
    t->keyless += ev->keys == NULL;
}

TEST(every_trace_event_has_a_list_of_keys) {
    struct traces traces = {0};
    saratoga_config traced;
    saratoga_options o = at_rate(9000000);
    struct sim_link_config c;
    struct world w;
    struct xfer *x;
    saratoga_config_init(&traced);
    traced.on_trace = count_trace;
    traced.user = &traces;
    w = world_new(&GOOD, &traced, NULL);
    link_config(&c, 10e6, 50 * MSEC, 0);
    c.blackout_start = SEC;
    c.blackout_length = 20 * SEC;
    sim_net_set_link(w.net, w.up, &c);
    (void)host_make_file(w.sat, "f", 5000000, 3);
    x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
    world_finish(&w, x, 100 * SEC);
    assert_arrived(&w, x, "f");
    assert_true(traces.stalled > 0);
    assert_int_equal(traces.keyless, 0);
    world_free(&w);
}

/* Nothing but the sender's own timer can tell of the work: what is heard comes
 * a second later. */
TEST(what_is_sent_makes_room_for_reads_at_once) {
    struct plan p = {0, 0, SEC, 0, 0, 6};
    struct world w = world_new(&p, NULL, NULL);
    struct xfer *x;
    saratoga_options o = at_rate(UINT64_C(1000000000000000));
    w.sat->sim.terse = true;
    (void)host_make_file(w.sat, "f", 10000000, 3);
    x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
    world_finish(&w, x, 100 * SEC);
    assert_arrived(&w, x, "f");
    assert_true(x->done_at < 2 * SEC + 100 * MSEC);
    world_free(&w);
}

/* The test tells the sender the checksum, which it gets in `sum`. */
static struct xfer *get_with_late_checksum(struct world *w,
                                           const saratoga_options *o,
                                           uint8_t *sum) {
    w->sat->answer_options = o;
    w->sat->digest_later = true;
    w->sat->digest_kept = true;
    host_digest(host_make_file(w->sat, "f", 1000000, 3), SARATOGA_MD5, sum);
    return host_start(w->ground, w->sat, SARATOGA_GET, "f", NULL, NULL);
}

/* A checksum that takes longer than the file: DATA do not wait for it, what is
 * held can be resumed meanwhile, and nothing is taken for whole without it. */
TEST(a_checksum_may_come_after_the_file) {
    struct plan p = {10e6, 10e6, 50 * MSEC, 0.05, 0.05, 8};
    struct world w = world_new(&p, NULL, NULL);
    saratoga_options o = at_rate(9000000);
    uint8_t sum[SARATOGA_CHECKSUM_MAX];
    struct xfer *x;
    x = get_with_late_checksum(&w, &o, sum);
    world_run(&w, 300 * MSEC);
    assert_true(x->has_metadata);
    assert_int_equal(x->metadata.entry.size, 1000000);
    assert_int_equal(x->metadata.checksum, SARATOGA_NONE);
    world_run(&w, 60 * SEC); /* longer than either side's patience */
    assert_false(x->done);
    assert_int_equal(x->digested, 1000000);
    assert_int_equal(
        saratoga_transfer_set_digest(w.sat->sim.engine, w.sat->xfers->handle,
                                     SARATOGA_MD5, sum, host_now(w.sat)),
        0);
    host_pump(w.sat);
    world_finish(&w, w.sat->xfers, 70 * SEC);
    assert_arrived(&w, w.sat->xfers, "f");
    assert_true(x->end.verified);
    assert_int_equal(x->metadata.checksum, SARATOGA_MD5);
    world_free(&w);
}

static void count_datagram(void *user, struct host *h,
                           const saratoga_pktinfo *to, const uint8_t *dgram,
                           size_t len) {
    unsigned *n = user;
    (void)h;
    (void)to;
    (void)dgram;
    (void)len;
    ++*n;
}

/* Datagrams of both ends until then. */
static unsigned datagrams_until(struct world *w, uint64_t until) {
    unsigned n = 0;
    w->sat->tap = w->ground->tap = count_datagram;
    w->sat->tap_user = w->ground->tap_user = &n;
    world_run(w, until);
    w->sat->tap = w->ground->tap = NULL;
    return n;
}

/* A large file on a slow disk, whose receiver has all of it and not yet read it
 * again. */
TEST(a_slow_verification_costs_few_packets) {
    static const struct plan near = {100e6, 100e6, 200000, 0, 0, 1};
    struct world w = world_new(&near, NULL, NULL);
    saratoga_options o = at_rate(90000000);
    struct xfer *x;
    (void)host_make_file(w.sat, "f", 1000000, 3);
    w.ground->commit_kept = true;
    x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
    world_run(&w, SEC);
    assert_true(datagrams_until(&w, 10 * SEC) < 50);
    assert_true(datagrams_until(&w, 1810 * SEC) < 7200);
    assert_false(x->done);
    host_commit(w.ground);
    world_run(&w, host_now(w.sat) + 10 * MSEC);
    assert_arrived(&w, x, "f");
    world_free(&w);
}

/* The sender's own checksum takes longer than the file. */
TEST(a_slow_checksum_costs_few_packets) {
    static const struct plan near = {100e6, 100e6, 200000, 0, 0, 1};
    struct world w = world_new(&near, NULL, NULL);
    saratoga_options o = at_rate(90000000);
    uint8_t sum[SARATOGA_CHECKSUM_MAX];
    struct xfer *x;
    (void)get_with_late_checksum(&w, &o, sum);
    world_run(&w, SEC);
    x = w.sat->xfers;
    assert_true(datagrams_until(&w, 10 * SEC) < 50);
    assert_true(datagrams_until(&w, 1810 * SEC) < 7200);
    assert_false(x->done);
    assert_int_equal(saratoga_transfer_set_digest(w.sat->sim.engine, x->handle,
                                                  SARATOGA_MD5, sum,
                                                  host_now(w.sat)),
                     0);
    host_pump(w.sat);
    world_run(&w, host_now(w.sat) + 10 * MSEC);
    assert_arrived(&w, x, "f");
    world_free(&w);
}

TEST(a_checksum_that_comes_late_counts) {
    struct world w = world_new(&GOOD, NULL, NULL);
    uint8_t sum[SARATOGA_CHECKSUM_MAX] = {1, 2, 3};
    struct xfer *x;
    w.sat->digest_later = true;
    w.sat->digest_kept = true;
    (void)host_make_file(w.sat, "f", 100000, 3);
    x = host_start(w.ground, w.sat, SARATOGA_GET, "f", NULL, NULL);
    world_run(&w, SEC);
    assert_int_equal(
        saratoga_transfer_set_digest(w.sat->sim.engine, w.sat->xfers->handle,
                                     SARATOGA_MD5, sum, host_now(w.sat)),
        0);
    host_pump(w.sat);
    world_finish(&w, x, 10 * SEC);
    assert_int_equal(x->end.error, SARATOGA_ERR_CHECKSUM);
    assert_null(host_find_file(w.ground, "f"));
    world_free(&w);
}

TEST(a_rate_of_a_packet_in_minutes_ends_no_session) {
    struct world w = world_new(&GOOD, NULL, NULL);
    saratoga_options o = at_rate(100); /* two minutes a packet */
    struct xfer *x;
    (void)host_make_file(w.sat, "f", 5000, 3);
    x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
    world_finish(&w, x, 1000 * SEC);
    assert_arrived(&w, x, "f");
    assert_true(x->done_at > 200 * SEC);
    world_free(&w);
}

/* The data that the caller's options point to may be freed before use. */
TEST(options_are_deeply_copied) {
    struct world w = world_new(&GOOD, NULL, NULL);
    char law[] = "fixed";
    char param[] = "rate";
    const char *names[] = {param, NULL};
    double value = 25000; /* bytes/s */
    saratoga_options o;
    struct xfer *x;
    saratoga_options_init(&o);
    o.congestion = law;
    o.congestion_params = names;
    o.congestion_values = &value;
    (void)host_make_file(w.sat, "f", 100000, 3);
    x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
    memset(law, 'x', sizeof(law) - 1);
    memset(param, 'x', sizeof(param) - 1);
    names[0] = NULL;
    value = 1;
    world_finish(&w, x, 100 * SEC);
    assert_arrived(&w, x, "f");
    assert_in_range(x->done_at, 4 * SEC, 5 * SEC);
    world_free(&w);
}

/* The polls of a shut window name one place and one second. */
TEST(answers_to_identical_polls_give_no_rtt) {
    static const uint32_t kind[] = {SARATOGA_TS_POSIX32, SARATOGA_TS_OFF};
    for (uint32_t i = 0; i < 40; i++) {
        struct plan p = {1e6, 0, 300 * MSEC, 0.1, 0.1, i};
        struct world w = world_new(&p, NULL, NULL);
        saratoga_options o;
        struct xfer *x;
        saratoga_options_init(&o);
        o.congestion = "newreno";
        o.timestamps = kind[i % 2];
        (void)host_make_file(w.sat, "f", 100000, i);
        x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
        world_finish(&w, x, 600 * SEC);
        assert_arrived(&w, x, "f");
        assert_true(x->stats.min_rtt_ns >= p.rtt);
        world_free(&w);
    }
}

TEST(silence_ends_a_transfer_on_both_sides) {
    struct world w = world_new(&GOOD, NULL, NULL);
    struct xfer *x;
    (void)host_make_file(w.sat, "f", 50000000, 3);
    x = host_start(w.ground, w.sat, SARATOGA_GET, "f", NULL, NULL);
    world_run(&w, SEC);
    w.sat->sim.dead = true;
    world_finish(&w, x, 100 * SEC);
    assert_int_equal(x->end.error, SARATOGA_ERR_TIMEOUT);
    assert_in_range(x->done_at, 30 * SEC, 32 * SEC);
    assert_null(host_find_file(w.ground, "f"));
    world_free(&w);
}

TEST(a_request_into_the_void_is_given_up) {
    struct world w = world_new(&GOOD, NULL, NULL);
    saratoga_options o;
    struct xfer *x;
    saratoga_options_init(&o);
    o.inactivity = 3600 * SEC;
    w.sat->sim.dead = true;
    x = host_start(w.ground, w.sat, SARATOGA_GET, "f", &o, NULL);
    world_finish(&w, x, 1000 * SEC);
    assert_int_equal(x->end.error, SARATOGA_ERR_TIMEOUT);
    assert_int_equal(w.ground->sim.sent_packets, 5); /* 1, 2, 4, 8, 16 s */
    assert_int_equal(x->done_at, 31 * SEC);
    world_free(&w);
}

TEST(timers_may_be_hours) {
    struct plan p = {1e6, 0, 7200 * SEC, 0.01, 0.01, 4}; /* two hours */
    saratoga_options o = at_rate(900000);
    struct world w;
    struct xfer *x;
    o.rtt_hint = 7200 * SEC;
    o.request_retry = 8000 * SEC;
    o.inactivity = 100000 * SEC;
    o.poll = 600 * SEC;
    o.poll_max = 8000 * SEC;
    o.quiet_status = 3600 * SEC;
    o.metadata_wait = 20000 * SEC;
    o.status_spacing = 100 * SEC;
    w = world_new(&p, NULL, NULL);
    w.sat->answer_options = &o;
    (void)host_make_file(w.sat, "f", 1000000, 3);
    x = host_start(w.ground, w.sat, SARATOGA_GET, "f", &o, NULL);
    world_finish(&w, x, 200000 * SEC);
    assert_int_equal(x->end.error, 0);
    assert_true(x->done_at < 6 * 7200 * SEC);
    world_free(&w);
}

TEST(a_blind_get_fetches_a_file_of_the_peers_choice) {
    struct world w = world_new(&LOSSY, NULL, NULL);
    struct xfer *x;
    (void)host_make_file(w.sat, "chosen", 5000, 3);
    x = host_start(w.ground, w.sat, SARATOGA_GET, "", NULL, NULL);
    world_finish(&w, x, 100 * SEC);
    assert_int_equal(x->end.error, 0);
    assert_string_equal(x->end.entry.path, "chosen");
    world_free(&w);
}

TEST(a_copy_that_is_the_same_is_not_sent_again) {
    saratoga_config c;
    saratoga_options o;
    struct world w;
    struct xfer *x;
    struct disk_file *f;
    saratoga_range all = {0, 5000};
    saratoga_partial have = {
        .checksum = SARATOGA_MD5, .ranges = &all, .count = 1};
    saratoga_config_init(&c);
    saratoga_options_init(&o);
    c.update_check = true;
    o.update_check = true;
    w = world_new(&GOOD, &c, NULL);
    f = host_make_file(w.sat, "f", 5000, 3);
    w.ground->partial_file = host_make_file(w.ground, "f", 5000, 3);
    have.entry.size = 5000;
    have.entry.mtime = 1000;
    have.entry.ctime = 1000;
    strncpy(have.entry.path, "f", 2);
    host_digest(f, SARATOGA_MD5, have.digest);
    x = host_start(w.ground, w.sat, SARATOGA_GET, "f", &o, &have);
    world_finish(&w, x, 100 * SEC);
    assert_int_equal(x->end.error, 0);
    assert_true(x->end.unchanged);
    world_run(&w, host_now(w.sat) + SEC);
    assert_true(w.sat->xfers->done && w.sat->xfers->end.unchanged);
    assert_int_equal(w.sat->xfers->stats.data_bytes, 0);
    world_free(&w);
}

/* Writes to the stream x of w.sat until it is over. */
static void write_stream(struct world *w, const struct xfer *x,
                         const struct disk_file *f) {
    saratoga_engine *node = w->sat->sim.engine;
    uint64_t written = 0;
    bool finished = false;
    while (!x->done && host_now(w->sat) < 400 * SEC) {
        world_run(w, host_now(w->sat) + 10 * MSEC);
        if (written < f->size) {
            int64_t n =
                saratoga_stream_write(node, x->handle, f->data + written,
                                      f->size - written, host_now(w->sat));
            written += n > 0 ? (uint64_t)n : 0;
        } else if (!finished) {
            assert_int_equal(
                saratoga_stream_finish(node, x->handle, host_now(w->sat)), 0);
            finished = true;
        }
        host_pump(w->sat);
    }
}

static saratoga_options wrapping(void) {
    saratoga_options o = at_rate(9000000);
    o.descriptor = SARATOGA_16_BIT;
    o.window = 32768;
    return o;
}

/* The satellite has a stream on a lossy link. */
static struct world world_with_stream(struct disk_file **f) {
    struct world w = world_new(&LOSSY, NULL, NULL);
    *f = host_make_file(w.sat, "s", 300000, 3);
    w.sat->stream = true;
    return w;
}

TEST(a_reliable_stream_arrives_in_order) {
    struct disk_file *f;
    struct world w = world_with_stream(&f);
    saratoga_options o = wrapping();
    struct xfer *x;
    x = host_start(w.sat, w.ground, SARATOGA_PUT, "s", &o, NULL);
    write_stream(&w, x, f);
    assert_arrived(&w, x, "s");
    world_free(&w);
}

/* It has nothing to say for longer than peers wait for each other. */
TEST(a_stream_that_is_got_may_begin_late) {
    struct disk_file *f;
    struct world w = world_with_stream(&f);
    saratoga_options o = wrapping();
    struct xfer *x;
    w.sat->answer_options = &o;
    x = host_start(w.ground, w.sat, SARATOGA_GET, "s", &o, NULL);
    world_run(&w, 100 * SEC);
    assert_true(x->has_metadata && !x->done);
    assert_int_equal(x->metadata.kind, SARATOGA_STREAM);
    write_stream(&w, w.sat->xfers, f);
    world_finish(&w, x, 400 * SEC);
    assert_true(x->done);
    assert_int_equal(x->end.error, 0);
    assert_true(host_same(x->file, f));
    assert_int_equal(w.sat->xfers->end.error, 0);
    world_free(&w);
}

TEST(a_link_known_to_be_down_stops_all_timers) {
    struct world w = world_new(&GOOD, NULL, NULL);
    saratoga_options o = at_rate(9000000);
    struct xfer *x;
    uint64_t sent;
    (void)host_make_file(w.sat, "f", 2000000, 3);
    w.sat->answer_options = &o;
    x = host_start(w.ground, w.sat, SARATOGA_GET, "f", NULL, NULL);
    world_run(&w, SEC);
    (void)saratoga_transfer_set_link_down(w.sat->sim.engine,
                                          w.sat->xfers->handle, true, SEC);
    (void)saratoga_transfer_set_link_down(w.ground->sim.engine, x->handle, true,
                                          SEC);
    world_run(&w, 2 * SEC);
    sent = w.sat->sim.sent_packets + w.ground->sim.sent_packets;
    world_run(&w, 3600 * SEC);
    assert_int_equal(w.sat->sim.sent_packets + w.ground->sim.sent_packets,
                     sent);
    (void)saratoga_transfer_set_link_down(w.ground->sim.engine, x->handle,
                                          false, 3600 * SEC);
    (void)saratoga_transfer_set_link_down(
        w.sat->sim.engine, w.sat->xfers->handle, false, 3600 * SEC);
    host_pump(w.sat);
    host_pump(w.ground);
    world_finish(&w, x, 3700 * SEC);
    assert_int_equal(x->end.error, 0);
    world_free(&w);
}

/* Where all of an RTT's few packets get lost nothing is known of the rate that
 * the path bears: it is not taken for none at all. */
TEST(a_rate_equation_starves_no_flow_under_heavy_loss) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const struct plan p = {10e6, 0, 140 * MSEC, 0.25, 0, seed};
        struct world w = world_new(&p, NULL, NULL);
        saratoga_options o;
        struct xfer *x;
        saratoga_options_init(&o);
        o.congestion = "stfrc";
        (void)host_make_file(w.sat, "f", 100000, 3);
        x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
        world_finish(&w, x, 60 * SEC);
        assert_arrived(&w, x, "f");
        world_free(&w);
    }
}

int main(void) {
#define T(f) cmocka_unit_test(f)
    const struct CMUnitTest tests[] = {
        T(every_width_and_checksum_works),
        T(take_and_give_delete_delivered_files),
        T(nothing_is_deleted_when_the_file_does_not_arrive),
        T(a_file_that_shrinks_while_sent_ends_with_an_error),
        T(an_outage_is_sat_through),
        T(every_trace_event_has_a_list_of_keys),
        T(what_is_sent_makes_room_for_reads_at_once),
        T(a_checksum_may_come_after_the_file),
        T(a_slow_verification_costs_few_packets),
        T(a_slow_checksum_costs_few_packets),
        T(a_checksum_that_comes_late_counts),
        T(a_rate_of_a_packet_in_minutes_ends_no_session),
        T(options_are_deeply_copied),
        T(answers_to_identical_polls_give_no_rtt),
        T(silence_ends_a_transfer_on_both_sides),
        T(a_request_into_the_void_is_given_up),
        T(timers_may_be_hours),
        T(a_blind_get_fetches_a_file_of_the_peers_choice),
        T(a_copy_that_is_the_same_is_not_sent_again),
        T(a_reliable_stream_arrives_in_order),
        T(a_stream_that_is_got_may_begin_late),
        T(a_rate_equation_starves_no_flow_under_heavy_loss),
        T(a_link_known_to_be_down_stops_all_timers),
    };
    return cmocka_run_group_tests_name("cases", tests, NULL, NULL);
}

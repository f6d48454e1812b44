/* SPDX-License-Identifier: MPL-2.0 */
/* Transfers that go on where an earlier one broke off. */
#include "tests/simnet/saratoga/pass.h"
#include "tests/simnet/saratoga/raw.h"

static const struct plan LOSSY = {10e6, 0, 100 * MSEC, 0.03, 0.03, 1};

/* The disk of a ground station after it was killed. */
static void keep_partial(struct world *w, const struct xfer *x,
                         saratoga_partial *p, saratoga_range *ranges,
                         size_t max) {
    uint64_t at = 0;
    memset(p, 0, sizeof(*p));
    p->ranges = ranges;
    if (!x->has_metadata) {
        return;
    }
    p->entry = x->metadata.entry;
    p->checksum = x->metadata.checksum;
    memcpy(p->digest, x->metadata.digest, sizeof(p->digest));
    while (p->count < max &&
           saratoga_transfer_held(w->ground->sim.engine, x->handle, at,
                                  &ranges[p->count]) == 1) {
        at = ranges[p->count++].end;
    }
}

TEST(a_killed_receiver_resumes_again_and_again) {
    static saratoga_range ranges[4096];
    uint8_t seed[SARATOGA_SEED_LEN] = {0};
    uint64_t resumed = 0;
    for (uint64_t run = 0; run < 100; run++) {
        struct plan p = LOSSY;
        struct world w;
        struct xfer *x = NULL;
        saratoga_partial partial;
        saratoga_options o = at_rate(9000000);
        int kills = 0;
        p.seed = run;
        w = world_new(&p, NULL, NULL);
        w.sat->answer_options = &o;
        (void)host_make_file(w.sat, "f", 400000, run);
        x = host_start(w.ground, w.sat, SARATOGA_GET, "f", NULL, NULL);
        for (; kills < 3; kills++) {
            uint64_t bytes = 50 + sim_random_below(&w.ground->luck, 300);
            world_run(&w, host_now(w.sat) + bytes * MSEC);
            if (x->done) {
                break;
            }
            keep_partial(&w, x, &partial, ranges, 4096);
            /* Both sides lose all they knew. */
            w.ground->partial_file = x->file;
            saratoga_engine_free(w.ground->sim.engine);
            assert_int_equal(saratoga_engine_new(&w.ground->sim.engine, NULL,
                                                 seed, host_now(w.sat)),
                             0);
            x = host_start(w.ground, w.sat, SARATOGA_GET, "f", NULL,
                           partial.count > 0 ? &partial : NULL);
        }
        world_finish(&w, x, host_now(w.sat) + 100 * SEC);
        assert_true(x->done);
        assert_int_equal(x->end.error, 0);
        assert_true(x->end.verified);
        assert_true(host_same(host_find_file(w.sat, "f"), x->file));
        resumed += x->end.resumed;
        world_free(&w);
    }
    assert_true(resumed > 100 * 80000); /* a fifth of each, on average */
}

static void lose_all(struct host *h) {
    uint8_t seed[SARATOGA_SEED_LEN] = {1};

    saratoga_engine_free(h->sim.engine);
    assert_int_equal(
        saratoga_engine_new(&h->sim.engine, NULL, seed, host_now(h)), 0);
}

/* What the receiver held before tells nothing of what it gains now. */
TEST(a_receiver_that_lost_all_at_the_end_gets_it_again_at_the_full_rate) {
    static const struct plan near = {10e6, 10e6, 10 * MSEC, 0, 0, 1};
    struct world w = world_new(&near, NULL, NULL);
    saratoga_options o = at_rate(8000000);
    const uint64_t size = 1000000; /* takes a second */
    struct xfer *x;
    (void)host_make_file(w.sat, "f", size, 3);
    x = host_start(w.sat, w.ground, SARATOGA_PUT, "f", &o, NULL);
    while (host_stats(w.sat, x).data_bytes < size) {
        world_run(&w, host_now(w.sat) + MSEC);
    }
    lose_all(w.ground);
    world_run(&w, host_now(w.sat) + 5 * SEC);
    assert_arrived(&w, x, "f");
    assert_true(x->stats.data_bytes < 2 * size + size / 10);
    world_free(&w);
}

static struct raw *resuming(const char *digest_of, struct xfer **x) {
    static saratoga_range have[] = {{0, 4}, {6, 8}};
    static saratoga_partial p;
    struct raw *r = raw_new(NULL);
    saratoga_request q;
    struct hex sum = unhex(digest_of);
    p = (saratoga_partial){
        .checksum = SARATOGA_MD5, .ranges = have, .count = 2};
    p.entry.size = 10;
    p.entry.mtime = 0x21c86fea;
    p.entry.ctime = 0x21c86fea;
    memcpy(p.digest, sum.b, 16);
    r->h->partial_file = host_make_file(r->h, "d", 10, 1);
    memcpy(r->h->partial_file->data, "0123..67..", 10);
    r->h->partial_file->visible = false;
    saratoga_request_init(&q);
    q.type = SARATOGA_GET;
    q.to = r->peer;
    q.path = "d";
    q.id = 7;
    q.partial = &p;
    *x = host_start_request(r->h, &q, "d");
    (void)raw_next(r);
    return r;
}

TEST(a_resume_reports_the_data_held) {
    struct xfer *x;
    struct raw *r = resuming("781e5e245d69b566979b86e28d23f2c7", &x);
    raw_hex(r, META_D);
    assert_sent(r, "24010000 00000007 0004 0008 0004 0005");
    assert_false(x->purged);
    raw_hex(r, "23000000 00000007 0004 3435");
    raw_hex(r, "23018000 00000007 0008 3839");
    assert_true(x->done && x->end.verified);
    assert_int_equal(x->end.resumed, 6);
    raw_free(r);
}

/* The answer alone would say what is held up to there. */
TEST(a_sender_that_asks_about_what_was_held_before_hears_of_it_again) {
    struct xfer *x;
    struct raw *r = resuming("781e5e245d69b566979b86e28d23f2c7", &x);
    raw_hex(r, META_D);
    assert_sent(r, "24010000 00000007 0004 0008 0004 0005");
    raw_hex(r, "23010000 00000007 0000 30313233");
    assert_sent(r, "24010000 00000007 0004 0008 0004 0005");
    assert_sent(r, "24000000 00000007 0004 0004");
    raw_free(r);
}

TEST(a_resume_of_another_file_is_purged) {
    struct xfer *x;
    struct raw *r = resuming("00000000000000000000000000000000", &x);
    raw_hex(r, "23000000 00000007 0000 30313233"); /* not known yet */
    raw_hex(r, META_D);
    assert_true(x->purged);
    raw_hex(r, "23018000 00000007 0000 30313233343536373839");
    assert_true(x->done && x->end.verified);
    assert_int_equal(x->end.resumed, 0);
    raw_free(r);
}

TEST(a_sender_counts_no_hole_of_a_resume_as_sent_again) {
    struct raw *r = raw_new(NULL);
    struct xfer *x;
    (void)host_make_file(r->h, "d", 10, 1);
    x = raw_start(r, SARATOGA_PUT, "d", NULL, 7);
    raw_hex(r, "24010000 00000007 0004 0008 0004 0005");
    raw_wait(r, 300 * MSEC);
    raw_hex(r, "24010000 00000007 000a 000a");
    assert_true(x->done);
    assert_int_equal(x->end.error, 0);
    assert_int_equal(x->stats.resumed_bytes, 6);
    assert_int_equal(x->stats.data_bytes, 4);
    assert_int_equal(x->stats.retransmitted_bytes, 0);
    raw_free(r);
}

TEST(a_sender_reports_a_resume_that_it_hears_of_late) {
    struct raw *r = raw_new(NULL);
    struct xfer *x;
    (void)host_make_file(r->h, "d", 10, 1);
    x = raw_start(r, SARATOGA_PUT, "d", NULL, 7);
    raw_hex(r, "24000000 00000007 0000 0000"); /* accepted */
    raw_wait(r, 300 * MSEC);
    raw_hex(r, "24010000 00000007 000a 000a");
    assert_true(x->done);
    assert_int_equal(x->stats.resumed_bytes, 0); /* it has sent all of it */
    raw_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_receiver_resumes_again_and_again),
        cmocka_unit_test(
            a_receiver_that_lost_all_at_the_end_gets_it_again_at_the_full_rate),
        cmocka_unit_test(a_resume_reports_the_data_held),
        cmocka_unit_test(
            a_sender_that_asks_about_what_was_held_before_hears_of_it_again),
        cmocka_unit_test(a_resume_of_another_file_is_purged),
        cmocka_unit_test(a_sender_counts_no_hole_of_a_resume_as_sent_again),
        cmocka_unit_test(a_sender_reports_a_resume_that_it_hears_of_late),
    };
    return cmocka_run_group_tests_name("resume", tests, NULL, NULL);
}

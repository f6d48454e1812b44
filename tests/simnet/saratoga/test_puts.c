/* SPDX-License-Identifier: MPL-2.0 */
/* The draft's requirements on puts and deletions, octet by octet. */
#include "tests/simnet/saratoga/raw.h"
#include "tests/support/alloc.h"

TEST(delete_is_answered_with_zeros_and_may_be_repeated) {
    struct raw *r = raw_new(NULL);
    (void)host_make_file(r->h, "d", 10, 1);
    raw_hex(r, "218f0005 0000002c 6400");
    assert_sent(r, "24010000 0000002c 0000 0000");
    assert_null(host_find_file(r->h, "d"));
    raw_hex(r, "218f0005 0000002d 6400"); /* not there: just as well */
    assert_sent(r, "24010000 0000002d 0000 0000");
    raw_hex(r, "218f0005 0000002e 00");
    assert_sent(r, "2401000b 0000002e 0000 0000");
    raw_free(r);
}

TEST(a_deletion_asked_for_ends_with_either_answer) {
    static const char *const answer[] = {"24010000 00000007 0000 0000",
                                         "24810000 00000007 0000 0000",
                                         "24010004 00000007 0000 0000"};
    for (int i = 0; i < 3; i++) {
        struct raw *r = raw_new(NULL);
        struct xfer *x = raw_start(r, SARATOGA_DELETE, "d", NULL, 7);
        raw_hex(r, answer[i]);
        assert_true(x->done);
        assert_int_equal(x->end.error, 0);
        raw_free(r);
    }
}

TEST(a_blind_put_is_answered) {
    struct raw *r = raw_new(NULL);
    raw_hex(r, META_D);
    assert_int_equal(r->h->request.request, SARATOGA_BLIND_PUT);
    assert_string_equal(r->h->request.path, "d");
    assert_sent(r, "24010000 00000007 0000 0000");
    raw_hex(r, "23018000 00000007 0000 30313233343536373839");
    assert_true(r->h->xfers->done && r->h->xfers->end.verified);
    raw_free(r);
    r = raw_new(NULL);
    r->h->refuse = true;
    r->h->refuse_status = SARATOGA_ACCESS_DENIED;
    raw_hex(r, META_D);
    assert_sent(r, "24010005 00000007 0000 0000");
    raw_free(r);
}

TEST(no_answer_is_asked_for_in_multicast) {
    saratoga_options o = plain();
    struct raw *r = server(&o);
    saratoga_pktinfo to = r->peer;
    const struct sent *s;
    o.multicast = true;
    to.flags = SARATOGA_PKT_MULTICAST;
    assert_non_null(host_start_to(r->h, to, SARATOGA_BLIND_PUT, "d", &o));
    raw_wait(r, 20 * SEC);
    assert_true(r->n >= 4);
    while ((s = raw_next(r)) != NULL) {
        assert_true(s->bytes[0] != 0x23 || (s->bytes[1] & 1) == 0);
        assert_int_equal(s->flags, SARATOGA_PKT_MULTICAST);
    }
    assert_true(r->h->xfers->done);
    raw_free(r);
}

static void recv_unanswered(struct raw *r, const char *text) {
    struct hex x = unhex(text);
    saratoga_engine_recv(r->h->sim.engine, &r->peer, x.b, x.len,
                         host_now(r->h));
}

TEST(a_no_op_is_reported_and_not_answered) {
    struct raw *r = raw_new(NULL);
    saratoga_engine *node = r->h->sim.engine;
    saratoga_handle handle = 1;
    saratoga_request q;
    saratoga_event ev;
    recv_unanswered(r, "210f0000 00000007 00");
    assert_int_equal(saratoga_engine_next_event(node, &ev), 1);
    assert_int_equal(ev.type, SARATOGA_EVENT_NOOP);
    assert_int_equal(ev.from.host, r->peer.host);
    raw_wait(r, 10 * SEC);
    assert_silent(r);
    saratoga_request_init(&q);
    q.type = SARATOGA_NOOP;
    q.to = r->peer;
    q.id = 8;
    assert_int_equal(saratoga_transfer_start(node, &q, &handle, host_now(r->h)),
                     0);
    assert_int_equal(handle, 0); /* there is nothing to wait for */
    host_pump(r->h);
    assert_sent(r, "219f0000 00000008 00");
    raw_free(r);
}

/* A one-way sender does not wait for the driver's decision. */
TEST(data_that_come_before_the_answer_are_not_lost) {
    struct raw *r = raw_new(NULL);
    struct disk_file *f;
    recv_unanswered(r, "22000042 00000007 781e5e245d69b566979b86e28d23f2c7 "
                       "8000 000a 21c86fea 21c86fea 6400");
    recv_unanswered(r, "23000000 00000007 0000 30313233");
    recv_unanswered(r, "23000000 00000007 0004 34353637");
    recv_unanswered(r, "23008000 00000007 0008 3839");
    host_pump(r->h);
    f = host_find_file(r->h, "d");
    assert_non_null(f);
    assert_true(f->visible);
    assert_int_equal(f->size, 10);
    assert_memory_equal(f->data, "0123456789", 10);
    raw_free(r);
}

TEST(the_queue_for_an_answer_is_bounded) {
    struct test_alloc a = {0};
    saratoga_config cfg;
    struct raw *r;
    uint8_t data[1400] = {0x23, 0x40, 0, 0, 0, 0, 0, 7};
    saratoga_engine_stats st;
    saratoga_config_init(&cfg);
    cfg.allocator = (saratoga_allocator){test_alloc_realloc, &a};
    r = raw_new(&cfg);
    recv_unanswered(r,
                    "22400000 00000007 8040 00100000 00000001 00000001 6400");
    for (int i = 0; i < 3000; i++) {
        saratoga_engine_recv(r->h->sim.engine, &r->peer, data, sizeof(data), 0);
    }
    saratoga_engine_stats_init(&st);
    assert_int_equal(saratoga_engine_get_stats(r->h->sim.engine, &st), 0);
    assert_in_range(st.early_dropped, 3000 - (1 << 20) / 1400, 2999);
    assert_true(a.peak < 4u << 20);
    r->h->refuse = true;
    r->h->refuse_status = SARATOGA_ACCESS_DENIED;
    host_pump(r->h);
    raw_free(r);
    assert_int_equal(a.blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(delete_is_answered_with_zeros_and_may_be_repeated),
        cmocka_unit_test(a_deletion_asked_for_ends_with_either_answer),
        cmocka_unit_test(a_no_op_is_reported_and_not_answered),
        cmocka_unit_test(a_blind_put_is_answered),
        cmocka_unit_test(no_answer_is_asked_for_in_multicast),
        cmocka_unit_test(data_that_come_before_the_answer_are_not_lost),
        cmocka_unit_test(the_queue_for_an_answer_is_bounded),
    };
    return cmocka_run_group_tests_name("puts", tests, NULL, NULL);
}

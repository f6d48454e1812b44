/* SPDX-License-Identifier: MPL-2.0 */
/* Attacks on a carrier, and peers that migrate. */
#include "internal/secure/carrier_impl.h"
#include "tests/unit/secure/carriers.h"

/* --- Attackers ------------------------------------------------------------ */

TEST(a_packet_is_taken_once) {
    struct world w;
    struct flying copy;
    begin_equal(&w);
    greet(&w, A);
    say(&w, A, "y", 1);
    copy = w.flying[0];
    settle(&w);
    assert_int_equal(w.got[B], 2);
    assert_int_equal(take(&w, B, copy.path, copy.data, copy.len), SEC__NOTHING);
    assert_int_equal(stats(&w, B).repeated, 1);
    assert_int_equal(w.got[B], 2);
    end(&w);
}

TEST(every_changed_bit_is_found) {
    struct world w;
    struct flying true_one;
    begin_equal(&w);
    greet(&w, A);
    say(&w, A, "y", 1);
    true_one = w.flying[0];
    w.n = 0;
    for (size_t i = 0; i < true_one.len * 8; i++) {
        struct flying f = true_one;
        f.data[i / 8] ^= (uint8_t)(1u << i % 8);
        assert_int_equal(take(&w, B, f.path, f.data, f.len), SEC__NOTHING);
    }
    for (size_t len = 0; len < true_one.len; len++) {
        assert_int_equal(take(&w, B, true_one.path, true_one.data, len),
                         SEC__NOTHING);
    }
    assert_int_equal(take(&w, B, true_one.path, true_one.data, true_one.len),
                     SEC__CARGO);
    end(&w);
}

TEST(plain_datagrams_are_dropped) {
    static const uint8_t request[] = {0x21, 2, 0, 0, 0, 0, 0, 1, 'a', 0};
    struct world w;
    begin_equal(&w);
    assert_int_equal(take(&w, B, 9, request, sizeof(request)), SEC__NOTHING);
    assert_int_equal(stats(&w, B).foreign, 1);
    assert_int_equal(w.n, 0);
    end(&w);
}

static bool is_call(struct world *w, struct flying *f) {
    w->seen += f->data[0] == SEC__INITIAL;
    return false;
}

/* A node both calls and is called: who sends its own packets back to it must
 * not have it talk to itself. */
TEST(a_call_that_is_reflected_is_dropped) {
    struct world w;
    struct flying call;
    begin_equal(&w);
    say(&w, A, "x", 1);
    flush(&w, A);
    call = w.flying[0];
    w.n = 0;
    assert_int_equal(take(&w, A, 2, call.data, call.len), SEC__NOTHING);
    settle(&w);
    assert_int_equal(stats(&w, A).sessions, 1); /* the call itself */
    assert_int_equal(w.got[A], 0);
    end(&w);
}

/* The datagram as from that many addresses: each gets a token and no more. */
static void expect_tokens(struct world *w, const struct flying *call,
                          uint64_t addresses) {
    const uint64_t sessions = stats(w, B).sessions;
    const uint64_t sent = w->sent_bytes[B];
    for (uint64_t path = 100; path < 100 + addresses; path++) {
        const size_t before = w->n;
        assert_int_equal(take(w, B, path, call->data, call->len),
                         SEC__ANSWERED);
        assert_int_equal(w->flying[before].data[0], SEC__RETRY);
        w->n = before;
    }
    assert_int_equal(stats(w, B).sessions, sessions);
    assert_true(w->sent_bytes[B] - sent < addresses * call->len / 3);
}

/* Forged addresses: what was recorded of a call again and again. */
TEST(recorded_calls_make_no_session_and_do_not_amplify) {
    struct world w;
    struct flying call;
    begin_equal(&w);
    say(&w, A, "x", 1);
    flush(&w, A);
    call = w.flying[0];
    expect_tokens(&w, &call, 1000);
    w.n = 0;
    (void)take(&w, B, 1, call.data, call.len);
    (void)take(&w, A, 2, w.flying[0].data, w.flying[0].len);
    w.n = 0;
    flush(&w, A);
    call = w.flying[0]; /* with its token */
    assert_int_equal(call.data[0], SEC__INITIAL);
    expect_tokens(&w, &call, 1000);
    settle(&w);
    assert_int_equal(w.got[B], 1);
    sec__carrier_close(w.end[A]);
    settle(&w);
    assert_int_equal(stats(&w, B).sessions, 0);
    assert_int_equal(take(&w, B, 1, call.data, call.len), SEC__ANSWERED);
    assert_int_equal(w.flying[0].data[0], SEC__RETRY); /* the token was spent */
    assert_int_equal(stats(&w, B).sessions, 0);
    end(&w);
}

/* Somebody on the way changes the listener's key: what is sealed for his own
 * never passes for the caller's. */
static bool spoils_the_first_offer(struct world *w, struct flying *f) {
    if (f->data[0] == SEC__RETRY && w->seen++ == 0) {
        cmn__writer check = cmn__writer_of(f->data, f->len);
        f->data[f->len - SEC__CHECK_LEN - 1] ^= 1;
        check.p += f->len - SEC__CHECK_LEN;
        sec__packet_seal(&check, f->data);
    }
    return false;
}

TEST(a_forged_offer_is_refused_by_the_listener) {
    struct world w;
    begin_equal(&w);
    w.filter = spoils_the_first_offer;
    expect_refusal(&w, SEC__WRONG_KEY);
    assert_int_equal(stats(&w, B).sessions, 0);
    assert_int_equal(stats(&w, B).rejected, 1);
    end(&w);
}

TEST(every_caller_proves_its_address) {
    struct world w;
    begin_equal(&w);
    w.filter = is_call;
    greet(&w, A);
    assert_int_equal(w.got[B], 1);
    assert_int_equal(w.seen, 2);
    assert_int_equal(stats(&w, B).opened, 1);
    end(&w);
}

TEST(a_full_listener_says_so) {
    sec__carrier_config a = config_of(key);
    sec__carrier_config b = config_of(key);
    struct world w;
    b.limits.max = 0;
    begin(&w, &a, &b);
    expect_refusal(&w, SEC__FULL);
    end(&w);
}

/* An IPv6 address by its networks: 0x4856PP for /48, /56 and /64. */
static sec__origin networks_of(uint64_t path) {
    return (sec__origin){{path, path >> 8 << 8, path >> 16 << 16}};
}

/* A host with the key calls from there. */
static bool gets_in(struct world *w, const sec__carrier_config *c,
                    uint64_t path) {
    unsigned before = w->got[B];
    w->now += SEC__S;
    sec__carrier_free(w->end[A]);
    open_end(w, A, c);
    w->address[A] = path;
    greet(w, A);
    return w->got[B] > before;
}

/* Whoever has a network has all of its addresses. */
TEST(networks_have_few_sessions) {
    sec__carrier_config a = config_of(key);
    sec__carrier_config b = config_of(key);
    struct world w;
    b.limits.max = 64;
    b.limits.max_of_network = 2;
    begin(&w, &a, &b);
    w.origin_of = networks_of;
    for (uint64_t net64 = 1; net64 <= 6; net64++) { /* of one /56 */
        assert_int_equal(gets_in(&w, &a, 0x480000 + net64), net64 <= 4);
    }
    for (uint64_t net56 = 1; net56 <= 6; net56++) { /* of its /48 */
        assert_int_equal(gets_in(&w, &a, 0x480001 + (net56 << 8)), net56 <= 4);
    }
    assert_true(gets_in(&w, &a, 0x490001));
    assert_int_equal(stats(&w, B).sessions, 9);
    end(&w);
}

/* --- Addresses ------------------------------------------------------------ */

/* Somebody who has the key calls from many addresses and never goes on. */
TEST(callers_that_go_no_further_leave_room) {
    struct world w;
    sec__carrier_config a = config_of(key);
    sec__carrier_config b = config_of(key);
    b.limits.max = 8;
    begin(&w, &a, &b);
    for (uint64_t path = 100; path < 120; path++) {
        w.address[A] = path;
        say(&w, A, "x", 1);
        flush(&w, A);
        (void)take(&w, B, path, w.flying[0].data, w.flying[0].len);
        (void)take(&w, A, 2, w.flying[1].data, w.flying[1].len);
        w.n = 0;
        flush(&w, A);
        (void)take(&w, B, path, w.flying[0].data, w.flying[0].len);
        w.n = 0;
        sec__carrier_free(w.end[A]);
        w.now += 1 << 24; /* another seed */
        open_end(&w, A, &a);
        assert_true(stats(&w, B).sessions <= 4);
    }
    w.address[A] = 1;
    greet(&w, A);
    assert_int_equal(w.got[B], 1);
    end(&w);
}

TEST(a_peer_that_moves_is_followed) {
    struct world w;
    begin_equal(&w);
    greet(&w, A);
    w.address[A] = 77;
    say(&w, A, "y", 1);
    settle(&w);
    assert_int_equal(w.got[B], 2);
    {
        const sec__place known = place_of(1); /* by its first name */
        uint8_t buf[MTU];
        uint64_t path = 0;
        assert_true(sec__carrier_seal(w.end[B], &known, (const uint8_t *)"z", 1,
                                      buf, &path, w.now) > 0);
        assert_int_equal(path, 77);
    }
    end(&w);
}

/* Who sends on a packet of somebody else's from his own address cannot answer
 * the challenge, so the stream stays where it was. */
TEST(a_packet_from_elsewhere_moves_nothing) {
    struct world w;
    struct flying copy;
    uint8_t buf[MTU];
    uint64_t path = 0;
    const sec__place known = place_of(1);
    begin_equal(&w);
    greet(&w, A);
    say(&w, A, "y", 1);
    copy = w.flying[0];
    w.n = 0;
    assert_int_equal(take(&w, B, 666, copy.data, copy.len), SEC__CARGO);
    assert_true(sec__carrier_send(w.end[B], buf, sizeof(buf), &path, w.now) >
                0);
    assert_int_equal(path, 666); /* the challenge, and no more */
    assert_int_equal(
        sec__carrier_send(w.end[B], buf, sizeof(buf), &path, w.now), 0);
    assert_true(sec__carrier_seal(w.end[B], &known, (const uint8_t *)"z", 1,
                                  buf, &path, w.now) > 0);
    assert_int_equal(path, 1);
    end(&w);
}

TEST(an_old_packet_from_elsewhere_is_not_asked) {
    struct world w;
    struct flying old;
    uint8_t buf[MTU];
    uint64_t path = 0;
    begin_equal(&w);
    greet(&w, A);
    say(&w, A, "y", 1);
    old = w.flying[0];
    w.n = 0;
    greet(&w, A);
    assert_int_equal(take(&w, B, 666, old.data, old.len), SEC__CARGO);
    assert_int_equal(
        sec__carrier_send(w.end[B], buf, sizeof(buf), &path, w.now), 0);
    end(&w);
}

/* Nor does who has the key. */
TEST(an_answer_to_no_challenge_moves_nothing) {
    static const uint8_t number[8] = {0};
    const sec__place known = place_of(1);
    struct world w;
    uint8_t buf[MTU];
    uint64_t path = 0;
    size_t len;
    begin_equal(&w);
    greet(&w, A);
    len = sec__session_seal(w.end[A], w.end[A]->all, SEC__KIND_RESPONSE, number,
                            sizeof(number), buf);
    assert_int_equal(take(&w, B, 1, buf, len), SEC__TAKEN);
    assert_true(sec__carrier_seal(w.end[B], &known, (const uint8_t *)"z", 1,
                                  buf, &path, w.now) > 0);
    assert_int_equal(path, 1);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_is_taken_once),
        cmocka_unit_test(every_changed_bit_is_found),
        cmocka_unit_test(plain_datagrams_are_dropped),
        cmocka_unit_test(a_call_that_is_reflected_is_dropped),
        cmocka_unit_test(recorded_calls_make_no_session_and_do_not_amplify),
        cmocka_unit_test(a_forged_offer_is_refused_by_the_listener),
        cmocka_unit_test(every_caller_proves_its_address),
        cmocka_unit_test(a_full_listener_says_so),
        cmocka_unit_test(networks_have_few_sessions),
        cmocka_unit_test(callers_that_go_no_further_leave_room),
        cmocka_unit_test(a_peer_that_moves_is_followed),
        cmocka_unit_test(a_packet_from_elsewhere_moves_nothing),
        cmocka_unit_test(an_old_packet_from_elsewhere_is_not_asked),
        cmocka_unit_test(an_answer_to_no_challenge_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

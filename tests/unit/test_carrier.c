/* SPDX-License-Identifier: MPL-2.0 */
/* Two ends of a carrier, datagram by datagram. */
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "secure/carrier.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

#define VERSION UINT32_C(0x53410001)
#define MTU 1400u
#define FLIGHT_MAX 256u
#define A 0
#define B 1

static const uint8_t key[32] = {1, 2, 3};
static const uint8_t other_key[32] = {4, 5, 6};

struct flying {
    uint64_t path; /* of the sender */
    int to;
    size_t len;
    uint8_t data[MTU];
};

/* Address 1 is A's, 2 is B's, unless a test moves them. */
struct world {
    struct test_alloc alloc;
    sec__carrier *end[2];
    uint64_t address[2];
    uint64_t now;
    struct flying flying[FLIGHT_MAX];
    size_t n;
    cmn__rng rng;
    unsigned loss; /* of 100 */
    bool shuffled;
    unsigned got[2]; /* cargo */
    uint8_t last[2][MTU];
    size_t last_len[2];
    uint64_t sent_bytes[2];
    bool (*filter)(struct world *w, struct flying *f); /* true: lost */
    unsigned seen;                                     /* by the filter */
};

static sec__carrier_config config_of(const uint8_t *secret) {
    return (sec__carrier_config){
        .keys = {.key = secret, .key_len = secret != NULL ? 32 : 0},
        .limits = {.max = 16,
                   .max_of_network = 16,
                   .max_half_open = 8,
                   .max_half_open_of = 8},
        .version = VERSION,
        .max_datagram = MTU};
}

static void open_end(struct world *w, int end, const sec__carrier_config *c) {
    const uint8_t seed[SEC__SEED_LEN] = {(uint8_t)(10 + end),
                                         (uint8_t)(w->now >> 24)};
    const cmn__mem mem = {test_alloc_realloc, &w->alloc};
    assert_int_equal(sec__carrier_new(&w->end[end], &mem, c, seed, w->now), 0);
}

static void begin(struct world *w, const sec__carrier_config *a,
                  const sec__carrier_config *b) {
    *w = (struct world){.now = SEC__S, .address = {1, 2}};
    cmn__rng_seed(&w->rng, 3);
    open_end(w, A, a);
    open_end(w, B, b);
}

static void begin_equal(struct world *w) {
    sec__carrier_config c = config_of(key);
    begin(w, &c, &c);
}

static void end(struct world *w) {
    sec__carrier_free(w->end[A]);
    sec__carrier_free(w->end[B]);
    assert_int_equal(w->alloc.blocks, 0);
}

static sec__place place_of(uint64_t path) {
    return (sec__place){.host = path, .path = path, .network = path};
}

static void launch(struct world *w, int from, const uint8_t *data, size_t len) {
    struct flying *f = &w->flying[w->n];
    w->sent_bytes[from] += len;
    assert_true(w->n < FLIGHT_MAX);
    *f = (struct flying){.path = w->address[from], .to = 1 - from, .len = len};
    memcpy(f->data, data, len);
    if ((w->filter == NULL || !w->filter(w, f)) &&
        cmn__rng_below(&w->rng, 100) >= w->loss) {
        w->n++;
    }
}

static void flush(struct world *w, int from) {
    uint8_t buf[MTU];
    uint64_t path;
    size_t len;
    while ((len = sec__carrier_send(w->end[from], buf, sizeof(buf), &path,
                                    w->now)) > 0) {
        if (path == w->address[1 - from]) {
            launch(w, from, buf, len);
        }
    }
}

static enum sec__carried take(struct world *w, int to, uint64_t path,
                              const uint8_t *data, size_t len) {
    sec__delivery out;
    const sec__place from = place_of(path);
    enum sec__carried what =
        sec__carrier_recv(w->end[to], &from, data, len, &out, w->now);
    if (what == SEC__CARGO) {
        w->got[to]++;
        w->last_len[to] = out.len;
        memcpy(w->last[to], out.cargo, out.len);
    } else if (what == SEC__ANSWERED) {
        launch(w, to, out.word, out.len);
    }
    return what;
}

/* All that flies lands, and what is sent because of it. */
static void settle(struct world *w) {
    flush(w, A);
    flush(w, B);
    while (w->n > 0) {
        size_t i = w->shuffled ? (size_t)cmn__rng_below(&w->rng, w->n) : 0;
        struct flying f = w->flying[i];
        w->n--;
        memmove(w->flying + i, w->flying + i + 1, (w->n - i) * sizeof(f));
        (void)take(w, f.to, f.path, f.data, f.len);
        flush(w, A);
        flush(w, B);
    }
}

static void say(struct world *w, int from, const void *text, size_t len) {
    const sec__place to = place_of(w->address[1 - from]);
    uint8_t buf[MTU];
    uint64_t path;
    size_t n =
        sec__carrier_seal(w->end[from], &to, text, len, buf, &path, w->now);
    if (n > 0 && path == w->address[1 - from]) {
        launch(w, from, buf, n);
    }
}

static void wait(struct world *w, uint64_t ns) {
    const uint64_t until = w->now + ns;
    while (w->now < until) {
        w->now += SEC__S / 10;
        sec__carrier_on_timeout(w->end[A], w->now);
        sec__carrier_on_timeout(w->end[B], w->now);
        settle(w);
    }
}

static sec__carrier_stats stats(const struct world *w, int which) {
    sec__carrier_stats st;
    sec__carrier_get_stats(w->end[which], &st);
    return st;
}

/* --- The session ---------------------------------------------------------- */

static bool looks_for_text(struct world *w, struct flying *f) {
    for (size_t i = 0; i + 6 <= f->len; i++) {
        w->seen += memcmp(f->data + i, "secret", 6) == 0;
    }
    return false;
}

static void what_waits_for_the_session_arrives_unseen(void **state) {
    struct world w;
    (void)state;
    begin_equal(&w);
    w.filter = looks_for_text;
    for (int i = 0; i < 5; i++) {
        say(&w, A, "a secret", 8);
    }
    settle(&w);
    assert_int_equal(w.got[B], 5);
    assert_memory_equal(w.last[B], "a secret", 8);
    say(&w, B, "another secret", 14);
    settle(&w);
    assert_int_equal(w.last_len[A], 14);
    assert_int_equal(w.seen, 0);
    assert_int_equal(stats(&w, A).opened, 1);
    assert_int_equal(stats(&w, B).sessions, 1);
    end(&w);
}

static void a_datagram_grows_by_the_overhead(void **state) {
    struct world w;
    (void)state;
    begin_equal(&w);
    say(&w, A, "x", 1);
    settle(&w);
    w.sent_bytes[A] = 0;
    say(&w, A, "0123456789", 10);
    assert_int_equal(w.sent_bytes[A], 10 + SEC__CARRIER_OVERHEAD);
    settle(&w);
    end(&w);
}

static void what_cannot_wait_is_lost_and_counted(void **state) {
    struct world w;
    uint8_t big[1000] = {0};
    (void)state;
    begin_equal(&w);
    for (int i = 0; i < 100; i++) {
        say(&w, A, big, sizeof(big));
    }
    settle(&w);
    assert_int_equal(w.got[B] + stats(&w, A).lost, 100);
    assert_in_range(w.got[B], 30, 50);
    end(&w);
}

static void the_handshake_gets_through_heavy_loss(void **state) {
    struct world w;
    (void)state;
    begin_equal(&w);
    w.loss = 60;
    for (int i = 0; i < 200 && w.got[B] == 0; i++) {
        say(&w, A, "x", 1);
        wait(&w, SEC__S);
    }
    assert_true(w.got[B] > 0);
    end(&w);
}

static void both_may_call_at_once(void **state) {
    struct world w;
    (void)state;
    begin_equal(&w);
    for (int i = 0; i < 300; i++) { /* longer than a replaced one is kept */
        say(&w, A, "a", 1);
        say(&w, B, "b", 1);
        settle(&w);
        wait(&w, SEC__S);
    }
    assert_int_equal(w.got[A], 300);
    assert_int_equal(w.got[B], 300);
    assert_int_equal(stats(&w, A).opened, 2);
    end(&w);
}

static void a_peer_that_forgot_is_called_again(void **state) {
    struct world w;
    sec__carrier_config c = config_of(key);
    (void)state;
    begin_equal(&w);
    say(&w, A, "x", 1);
    settle(&w);
    sec__carrier_free(w.end[B]);
    open_end(&w, B, &c);
    for (int i = 0; i < 50; i++) {
        say(&w, A, "y", 1);
        wait(&w, SEC__S / 10);
    }
    assert_in_range(w.got[B], 10, 30); /* three seconds' worth is lost */
    assert_int_equal(stats(&w, A).opened, 2);
    end(&w);
}

static void one_who_only_listens_is_not_called_again(void **state) {
    struct world w;
    (void)state;
    begin_equal(&w);
    for (int i = 0; i < 300; i++) {
        say(&w, A, "y", 1);
        wait(&w, SEC__S / 10);
    }
    assert_int_equal(w.got[B], 300);
    assert_int_equal(stats(&w, A).opened, 1);
    end(&w);
}

static void a_farewell_ends_the_session_at_both_ends(void **state) {
    struct world w;
    (void)state;
    begin_equal(&w);
    say(&w, A, "x", 1);
    settle(&w);
    sec__carrier_close(w.end[A]);
    settle(&w);
    wait(&w, SEC__S);
    assert_int_equal(stats(&w, A).sessions, 0);
    assert_int_equal(stats(&w, B).sessions, 0);
    end(&w);
}

static void silence_ends_the_session(void **state) {
    struct world w;
    (void)state;
    begin_equal(&w);
    say(&w, A, "x", 1);
    settle(&w);
    wait(&w, 605 * SEC__S);
    assert_int_equal(stats(&w, A).sessions, 0);
    assert_int_equal(stats(&w, B).sessions, 0);
    say(&w, A, "x", 1);
    settle(&w);
    assert_int_equal(w.got[B], 2);
    end(&w);
}

/* --- Keys ----------------------------------------------------------------- */

static void refused(struct world *w, uint32_t why) {
    sec__refused r;
    say(w, A, "x", 1);
    settle(w); /* one round trip */
    assert_true(sec__carrier_next_refusal(w->end[A], &r));
    assert_int_equal(r.why, why);
    assert_int_equal(r.peer.path, w->address[B]);
    assert_false(sec__carrier_next_refusal(w->end[A], &r));
    assert_int_equal(w->got[B], 0);
}

static void a_wrong_key_is_told_and_leaves_no_state(void **state) {
    sec__carrier_config a = config_of(other_key);
    sec__carrier_config b = config_of(key);
    struct world w;
    (void)state;
    begin(&w, &a, &b);
    refused(&w, SEC__WRONG_KEY);
    assert_int_equal(stats(&w, B).sessions, 0);
    assert_int_equal(stats(&w, B).rejected, 1);
    say(&w, A, "x", 1); /* nobody is pestered for a while */
    settle(&w);
    assert_int_equal(stats(&w, B).rejected, 1);
    wait(&w, 6 * SEC__S);
    say(&w, A, "x", 1);
    settle(&w);
    assert_int_equal(stats(&w, B).rejected, 2);
    end(&w);
}

static void who_has_no_key_refuses(void **state) {
    sec__carrier_config a = config_of(key);
    sec__carrier_config b = config_of(NULL);
    struct world w;
    (void)state;
    begin(&w, &a, &b);
    refused(&w, SEC__WRONG_KEY);
    end(&w);
}

static void a_listener_takes_the_old_key_and_the_new(void **state) {
    const uint8_t *const more[] = {other_key, NULL};
    sec__carrier_config a = config_of(other_key);
    sec__carrier_config b = config_of(key);
    struct world w;
    (void)state;
    b.keys.more_keys = more;
    begin(&w, &a, &b);
    say(&w, A, "x", 1);
    settle(&w);
    assert_int_equal(w.got[B], 1);
    end(&w);
}

static void another_protocol_is_not_answered(void **state) {
    sec__carrier_config a = config_of(key);
    sec__carrier_config b = config_of(key);
    struct world w;
    (void)state;
    a.version++;
    begin(&w, &a, &b);
    say(&w, A, "x", 1);
    settle(&w);
    assert_int_equal(w.sent_bytes[B], 0);
    assert_int_equal(stats(&w, B).foreign, 1);
    end(&w);
}

/* Keys change in both directions again and again, over a bad link. */
static void keys_change_under_loss_and_reordering(void **state) {
    sec__carrier_config c = config_of(key);
    struct world w;
    unsigned sent = 0;
    (void)state;
    c.rekey_packets = 20;
    begin(&w, &c, &c);
    say(&w, A, "x", 1);
    settle(&w);
    w.shuffled = true;
    w.loss = 10;
    for (int i = 0; i < 2000; i++) {
        for (int j = 0; j < 5; j++) {
            say(&w, A, &i, sizeof(i));
        }
        say(&w, B, &i, sizeof(i));
        sent += 5;
        settle(&w);
        wait(&w, SEC__S / 10);
    }
    assert_int_equal(stats(&w, A).forged, 0);
    assert_int_equal(stats(&w, B).forged, 0);
    assert_in_range(w.got[B], sent * 85 / 100, sent * 95 / 100);
    assert_in_range(w.got[A], 2000 * 85 / 100, 2000 * 95 / 100);
    assert_int_equal(stats(&w, A).opened, 1);
    end(&w);
}

static bool sees_phases(struct world *w, struct flying *f) {
    w->seen |= 1u << (f->data[0] & 1u) << 2 * (unsigned)f->to;
    return false;
}

static void keys_change_when_it_is_time(void **state) {
    sec__carrier_config c = config_of(key);
    struct world w;
    (void)state;
    c.rekey_packets = 10;
    begin(&w, &c, &c);
    say(&w, A, "x", 1);
    settle(&w);
    w.filter = sees_phases;
    for (int i = 0; i < 12; i++) {
        say(&w, A, "x", 1);
        settle(&w);
    }
    for (int i = 0; i < 2; i++) { /* the other direction follows */
        say(&w, B, "x", 1);
        settle(&w);
    }
    assert_int_equal(w.seen, 15); /* both phases, both ways */
    end(&w);
}

/* --- Attackers ------------------------------------------------------------ */

static void a_packet_is_taken_once(void **state) {
    struct world w;
    struct flying copy;
    (void)state;
    begin_equal(&w);
    say(&w, A, "x", 1);
    settle(&w);
    say(&w, A, "y", 1);
    copy = w.flying[0];
    settle(&w);
    assert_int_equal(w.got[B], 2);
    assert_int_equal(take(&w, B, copy.path, copy.data, copy.len), SEC__NOTHING);
    assert_int_equal(stats(&w, B).repeated, 1);
    assert_int_equal(w.got[B], 2);
    end(&w);
}

static void every_changed_bit_is_found(void **state) {
    struct world w;
    struct flying true_one;
    (void)state;
    begin_equal(&w);
    say(&w, A, "x", 1);
    settle(&w);
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

static void plain_datagrams_are_dropped(void **state) {
    static const uint8_t request[] = {0x21, 2, 0, 0, 0, 0, 0, 1, 'a', 0};
    struct world w;
    (void)state;
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
static void a_call_that_is_reflected_is_dropped(void **state) {
    struct world w;
    struct flying call;
    (void)state;
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

/* Forged addresses: the caller's first packet again and again. */
static void repeated_calls_are_bounded_and_do_not_amplify(void **state) {
    struct world w;
    struct flying call;
    unsigned asked = 0;
    (void)state;
    begin_equal(&w);
    w.filter = is_call;
    say(&w, A, "x", 1);
    flush(&w, A);
    call = w.flying[0];
    w.n = 0;
    for (uint64_t path = 100; path < 200; path++) {
        for (int i = 0; i < 10; i++) {
            size_t before = w.n;
            enum sec__carried what = take(&w, B, path, call.data, call.len);
            asked += what == SEC__ANSWERED;
            w.n = before;
        }
    }
    assert_int_equal(stats(&w, B).sessions, 8); /* max_half_open */
    assert_int_equal(asked, (100 - 8) * 10);
    assert_true(w.sent_bytes[B] < 1000 * call.len / 3);
    wait(&w, 31 * SEC__S);
    assert_int_equal(stats(&w, B).sessions, 1); /* A's own, made meanwhile */
    end(&w);
}

static void a_caller_proves_its_address_when_asked(void **state) {
    sec__carrier_config c = config_of(key);
    struct world w;
    (void)state;
    c.limits.careful = true;
    begin(&w, &c, &c);
    w.filter = is_call;
    say(&w, A, "x", 1);
    settle(&w);
    assert_int_equal(w.got[B], 1);
    assert_int_equal(w.seen, 2);
    end(&w);
}

static void a_full_listener_says_so(void **state) {
    sec__carrier_config a = config_of(key);
    sec__carrier_config b = config_of(key);
    struct world w;
    (void)state;
    b.limits.max = 0;
    begin(&w, &a, &b);
    refused(&w, SEC__FULL);
    end(&w);
}

/* --- Addresses ------------------------------------------------------------ */

static void a_peer_that_moves_is_followed(void **state) {
    struct world w;
    (void)state;
    begin_equal(&w);
    say(&w, A, "x", 1);
    settle(&w);
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
static void a_packet_from_elsewhere_moves_nothing(void **state) {
    struct world w;
    struct flying copy;
    uint8_t buf[MTU];
    uint64_t path = 0;
    const sec__place known = place_of(1);
    (void)state;
    begin_equal(&w);
    say(&w, A, "x", 1);
    settle(&w);
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

/* --- Memory --------------------------------------------------------------- */

static void no_allocation_that_fails_breaks_it(void **state) {
    sec__carrier_config c = config_of(key);
    (void)state;
    for (uint64_t k = 1; k < 40; k++) {
        struct world w = {.now = SEC__S, .address = {1, 2}};
        const uint8_t seed[2][SEC__SEED_LEN] = {{1}, {2}};
        const cmn__mem mem = {test_alloc_realloc, &w.alloc};
        cmn__rng_seed(&w.rng, k);
        w.alloc.fail_at = k;
        if (sec__carrier_new(&w.end[A], &mem, &c, seed[A], w.now) == 0 &&
            sec__carrier_new(&w.end[B], &mem, &c, seed[B], w.now) == 0) {
            for (int i = 0; i < 20 && w.got[B] == 0; i++) {
                say(&w, A, "x", 1);
                wait(&w, SEC__S);
            }
            assert_true(w.got[B] > 0);
        }
        end(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_waits_for_the_session_arrives_unseen),
        cmocka_unit_test(a_datagram_grows_by_the_overhead),
        cmocka_unit_test(what_cannot_wait_is_lost_and_counted),
        cmocka_unit_test(the_handshake_gets_through_heavy_loss),
        cmocka_unit_test(both_may_call_at_once),
        cmocka_unit_test(a_peer_that_forgot_is_called_again),
        cmocka_unit_test(one_who_only_listens_is_not_called_again),
        cmocka_unit_test(a_farewell_ends_the_session_at_both_ends),
        cmocka_unit_test(silence_ends_the_session),
        cmocka_unit_test(a_wrong_key_is_told_and_leaves_no_state),
        cmocka_unit_test(who_has_no_key_refuses),
        cmocka_unit_test(a_listener_takes_the_old_key_and_the_new),
        cmocka_unit_test(another_protocol_is_not_answered),
        cmocka_unit_test(keys_change_under_loss_and_reordering),
        cmocka_unit_test(keys_change_when_it_is_time),
        cmocka_unit_test(a_packet_is_taken_once),
        cmocka_unit_test(every_changed_bit_is_found),
        cmocka_unit_test(plain_datagrams_are_dropped),
        cmocka_unit_test(a_call_that_is_reflected_is_dropped),
        cmocka_unit_test(repeated_calls_are_bounded_and_do_not_amplify),
        cmocka_unit_test(a_caller_proves_its_address_when_asked),
        cmocka_unit_test(a_full_listener_says_so),
        cmocka_unit_test(a_peer_that_moves_is_followed),
        cmocka_unit_test(a_packet_from_elsewhere_moves_nothing),
        cmocka_unit_test(no_allocation_that_fails_breaks_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

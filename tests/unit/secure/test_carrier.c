/* SPDX-License-Identifier: MPL-2.0 */
/* Sessions of a carrier and their keys. */
#include "tests/unit/secure/carriers.h"

/* --- The session ---------------------------------------------------------- */

static bool looks_for_text(struct world *w, struct flying *f) {
    for (size_t i = 0; i + 6 <= f->len; i++) {
        w->seen += memcmp(f->data + i, "secret", 6) == 0;
    }
    return false;
}

TEST(data_queued_for_the_session_arrives_sealed) {
    struct world w;
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

TEST(a_datagram_grows_by_the_overhead) {
    struct world w;
    begin_equal(&w);
    greet(&w, A);
    w.sent_bytes[A] = 0;
    say(&w, A, "0123456789", 10);
    assert_int_equal(w.sent_bytes[A], 10 + SEC__CARRIER_OVERHEAD);
    settle(&w);
    end(&w);
}

TEST(data_beyond_the_queue_is_lost_and_counted) {
    struct world w;
    uint8_t big[1000] = {0};
    begin_equal(&w);
    for (int i = 0; i < 100; i++) {
        say(&w, A, big, sizeof(big));
    }
    settle(&w);
    assert_int_equal(w.got[B] + stats(&w, A).lost, 100);
    assert_in_range(w.got[B], 30, 50);
    end(&w);
}

TEST(the_handshake_gets_through_heavy_loss) {
    struct world w;
    begin_equal(&w);
    w.loss = 60;
    for (int i = 0; i < 200 && w.got[B] == 0; i++) {
        say(&w, A, "x", 1);
        wait(&w, SEC__S);
    }
    assert_true(w.got[B] > 0);
    end(&w);
}

TEST(both_may_call_at_once) {
    struct world w;
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

TEST(a_peer_that_forgot_is_called_again) {
    struct world w;
    sec__carrier_config c = config_of(key);
    begin_equal(&w);
    greet(&w, A);
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

TEST(a_peer_that_only_listens_is_not_called_again) {
    struct world w;
    begin_equal(&w);
    for (int i = 0; i < 300; i++) {
        say(&w, A, "y", 1);
        wait(&w, SEC__S / 10);
    }
    assert_int_equal(w.got[B], 300);
    assert_int_equal(stats(&w, A).opened, 1);
    end(&w);
}

TEST(a_close_notify_ends_the_session_at_both_ends) {
    struct world w;
    begin_equal(&w);
    greet(&w, A);
    sec__carrier_close(w.end[A]);
    settle(&w);
    wait(&w, SEC__S);
    assert_int_equal(stats(&w, A).sessions, 0);
    assert_int_equal(stats(&w, B).sessions, 0);
    end(&w);
}

TEST(silence_ends_the_session) {
    struct world w;
    begin_equal(&w);
    greet(&w, A);
    wait(&w, 605 * SEC__S);
    assert_int_equal(stats(&w, A).sessions, 0);
    assert_int_equal(stats(&w, B).sessions, 0);
    greet(&w, A);
    assert_int_equal(w.got[B], 2);
    end(&w);
}

/* --- Keys ----------------------------------------------------------------- */

TEST(a_wrong_key_is_reported_and_leaves_no_state) {
    sec__carrier_config a = config_of(other_key);
    sec__carrier_config b = config_of(key);
    struct world w;
    begin(&w, &a, &b);
    expect_refusal(&w, SEC__WRONG_KEY);
    assert_int_equal(stats(&w, B).sessions, 0);
    assert_int_equal(stats(&w, B).rejected, 1);
    greet(&w, A); /* nobody is pestered for a while */
    assert_int_equal(stats(&w, B).rejected, 1);
    wait(&w, 6 * SEC__S);
    greet(&w, A);
    assert_int_equal(stats(&w, B).rejected, 2);
    end(&w);
}

TEST(a_node_without_a_key_refuses) {
    sec__carrier_config a = config_of(key);
    sec__carrier_config b = config_of(NULL);
    struct world w;
    begin(&w, &a, &b);
    expect_refusal(&w, SEC__WRONG_KEY);
    end(&w);
}

TEST(a_listener_takes_the_old_key_and_the_new) {
    const uint8_t *const more[] = {other_key, NULL};
    sec__carrier_config a = config_of(other_key);
    sec__carrier_config b = config_of(key);
    struct world w;
    b.keys.more_keys = more;
    begin(&w, &a, &b);
    greet(&w, A);
    assert_int_equal(w.got[B], 1);
    end(&w);
}

/* Meanwhile datagrams are taken, and nothing waits for the key but the call. */
TEST(a_key_of_a_passphrase_is_made_elsewhere) {
    struct world w;
    sec__carrier_config c = config_of(NULL);
    sec__key_job job;
    c.keys.passphrase = "correct horse";
    begin(&w, &c, &c);
    sec__carrier_defer_keys(w.end[A]);
    assert_false(sec__carrier_wants_key(w.end[A]));
    greet(&w, A);
    assert_true(sec__carrier_wants_key(w.end[A]));
    sec__carrier_key_job(w.end[A], &job);
    assert_false(sec__carrier_wants_key(w.end[A]));
    wait(&w, SEC__S); /* it repeats itself, and the same key is on its way */
    assert_false(sec__carrier_wants_key(w.end[A]));
    assert_int_equal(w.got[B], 0);
    sec__key_job_run(&job);
    sec__carrier_take_key(w.end[A], &job);
    settle(&w);
    assert_int_equal(w.got[B], 1);
    greet(&w, A);
    assert_int_equal(w.got[B], 2);
    end(&w);
}

TEST(another_protocol_is_not_answered) {
    sec__carrier_config a = config_of(key);
    sec__carrier_config b = config_of(key);
    struct world w;
    a.version ^= UINT32_C(1) << 16;
    begin(&w, &a, &b);
    greet(&w, A);
    assert_int_equal(w.sent_bytes[B], 0);
    assert_int_equal(stats(&w, B).foreign, 1);
    end(&w);
}

TEST(another_version_of_the_protocol_is_reported) {
    sec__carrier_config a = config_of(key);
    sec__carrier_config b = config_of(key);
    struct world w;
    a.version--;
    begin(&w, &a, &b);
    expect_refusal(&w, SEC__OTHER_VERSION);
    assert_int_equal(stats(&w, B).sessions, 0);
    end(&w);
}

/* Keys change in both directions again and again, over a bad link. */
TEST(keys_change_under_loss_and_reordering) {
    sec__carrier_config c = config_of(key);
    struct world w;
    unsigned sent = 0;
    c.rekey_packets = 20;
    begin(&w, &c, &c);
    greet(&w, A);
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

TEST(keys_change_when_it_is_time) {
    sec__carrier_config c = config_of(key);
    struct world w;
    c.rekey_packets = 10;
    begin(&w, &c, &c);
    greet(&w, A);
    w.filter = sees_phases;
    for (int i = 0; i < 12; i++) {
        greet(&w, A);
    }
    for (int i = 0; i < 2; i++) { /* the other direction follows */
        greet(&w, B);
    }
    assert_int_equal(w.seen, 15); /* both phases, both ways */
    end(&w);
}

/* --- Memory --------------------------------------------------------------- */

TEST(no_allocation_that_fails_breaks_it) {
    sec__carrier_config c = config_of(key);
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
        cmocka_unit_test(data_queued_for_the_session_arrives_sealed),
        cmocka_unit_test(a_datagram_grows_by_the_overhead),
        cmocka_unit_test(data_beyond_the_queue_is_lost_and_counted),
        cmocka_unit_test(the_handshake_gets_through_heavy_loss),
        cmocka_unit_test(both_may_call_at_once),
        cmocka_unit_test(a_peer_that_forgot_is_called_again),
        cmocka_unit_test(a_peer_that_only_listens_is_not_called_again),
        cmocka_unit_test(a_close_notify_ends_the_session_at_both_ends),
        cmocka_unit_test(silence_ends_the_session),
        cmocka_unit_test(a_wrong_key_is_reported_and_leaves_no_state),
        cmocka_unit_test(a_node_without_a_key_refuses),
        cmocka_unit_test(a_listener_takes_the_old_key_and_the_new),
        cmocka_unit_test(a_key_of_a_passphrase_is_made_elsewhere),
        cmocka_unit_test(another_protocol_is_not_answered),
        cmocka_unit_test(another_version_of_the_protocol_is_reported),
        cmocka_unit_test(keys_change_under_loss_and_reordering),
        cmocka_unit_test(keys_change_when_it_is_time),
        cmocka_unit_test(no_allocation_that_fails_breaks_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

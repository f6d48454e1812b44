/* SPDX-License-Identifier: MPL-2.0 */
/* Bounds of the sender's sections; what they do otherwise is tested against a
 * model in tests/fuzz. */
#include "libtltcp/engine/sections.h"
#include "tests/support/cmocka.h"

#define BIG ((size_t)16 << 20)
#define AHEAD ((uint64_t)1 << 30)

static uint8_t bytes[BIG];

static void
what_expires_runs_no_further_ahead_than_the_peer_bears(void **state) {
    const tltcp_section in = {
        .data = &(struct iovec){bytes, BIG}, .count = 1, .deadline = 1};
    const cmn__mem mem = cmn__mem_default();
    tltcp__counters stats = {0};
    tltcp__sections s;
    (void)state;
    tltcp__sections_init(&s, &mem, BIG, 16, &stats);
    s.peer_seq = 1000;
    while (tltcp__sections_write(&s, &in, 2) == 0) {
        assert_int_equal(tltcp__sections_expire(&s, 2), 0);
        assert_true(s.update <= s.peer_seq + AHEAD);
    }
    assert_int_equal(tltcp__sections_write(&s, &in, 2), TLTCP_ERR_AGAIN);
    assert_int_equal(tltcp__sections_room(&s), 1000);
    s.peer_seq += BIG; /* its application has read */
    assert_int_equal(tltcp__sections_write(&s, &in, 2), 0);
    tltcp__sections_free(&s);
}

/* ---- what dies with what ---- */

#define S 10 /* bytes of a section */

struct fate {
    int fate;
    unsigned cause;
};

static struct {
    cmn__mem mem;
    tltcp__counters stats;
    tltcp__sections s;
    struct fate fates[64]; /* by section */
} t;

static void on_fate(void *owner, uint64_t number, const tltcp__section *s,
                    int fate) {
    (void)owner;
    t.fates[number] = (struct fate){fate, s->cause};
}

static void begin(uint32_t policy) {
    memset(&t, 0, sizeof(t));
    t.mem = cmn__mem_default();
    tltcp__sections_init(&t.s, &t.mem, 4096, 64, &t.stats);
    t.s.peer_seq = 4096;
    t.s.peer_section = 64;
    t.s.policy = policy;
    t.s.on_fate = on_fate;
}

static int end(void **state) {
    (void)state;
    tltcp__sections_free(&t.s);
    return 0;
}

/* Writes one that expires at `deadline`; it gets the next number. */
static void write_one(uint32_t cls, uint32_t depends, tltcp_time deadline,
                      tltcp_time now) {
    const tltcp_section in = {
        .data = &(struct iovec){bytes, S},
        .count = 1,
        .deadline = deadline,
        .meta = {.section_class = cls, .depends = depends}};
    assert_int_equal(tltcp__sections_write(&t.s, &in, now), 0);
    assert_int_equal(tltcp__sections_expire(&t.s, now), 0);
}

static void assert_fates(const char *want) {
    char got[64] = "";
    for (size_t i = 0; i < strlen(want); i++) {
        /* none, time, dependent, yielded; delivered */
        static const char letter[] = ".tord";
        bool whole = t.fates[i].fate == TLTCP_FATE_DELIVERED;
        got[i] = letter[whole ? 4 : t.fates[i].cause];
    }
    assert_string_equal(got, want);
}

static void send_all(tltcp_time now) {
    tltcp__piece p;
    while (tltcp__sections_next(&t.s, 4096, true, now, &p)) {
        tltcp__sections_on_sent(&t.s, &p, true);
    }
}

static void arrives(uint64_t n) {
    assert_int_equal(tltcp__sections_on_acked(&t.s, n, n * S, n * S + S, 1), 0);
}

static void vanishes(uint64_t n) {
    bool current;
    assert_int_equal(
        tltcp__sections_on_lost(&t.s, n, n * S, n * S + S, 0, &current), 0);
}

static void write_group(tltcp_time reference) {
    write_one(TL_CLASS_KEY, 0, 1000, 1);
    write_one(TL_CLASS_REFERENCE, 0, reference, 1);
    write_one(TL_CLASS_DISPOSABLE, 0, 1000, 1);
    write_one(TL_CLASS_AUDIO, 0, 1000, 1);
    write_one(TL_CLASS_REFERENCE, 0, 1000, 1);
    write_one(TL_CLASS_DISPOSABLE, 0, 1000, 1);
    write_one(TL_CLASS_KEY, 0, 1000, 1);
    write_one(TL_CLASS_REFERENCE, 0, 1000, 1);
}

TEST(what_needs_a_lost_reference_goes_with_it) {
    begin(TLTCP_DROP_DEPENDENTS);
    write_group(100);
    assert_int_equal(tltcp__sections_expire(&t.s, 100), 0);
    assert_fates(".to.oo..");
    assert_int_equal(t.stats.sections_dependent, 3);
    write_one(TL_CLASS_REFERENCE, 0, 1000, 100);  /* behind the second key */
    write_one(TL_CLASS_DISPOSABLE, 4, 1000, 100); /* names one that died */
    assert_fates(".to.oo...o");
}

TEST(a_lost_disposable_section_harms_none) {
    begin(TLTCP_DROP_DEPENDENTS);
    write_one(TL_CLASS_KEY, 0, 1000, 1);
    write_one(TL_CLASS_DISPOSABLE, 0, 100, 1);
    write_one(TL_CLASS_DISPOSABLE, 0, 1000, 1);
    write_one(TL_CLASS_REFERENCE, 0, 1000, 1);
    assert_int_equal(tltcp__sections_expire(&t.s, 100), 0);
    assert_fates(".t..");
}

TEST(by_section_each_dies_alone) {
    begin(TLTCP_DROP_SECTION);
    write_group(100);
    assert_int_equal(tltcp__sections_expire(&t.s, 100), 0);
    assert_fates(".t......");
}

TEST(any_picture_lost_ends_all_up_to_the_next_key) {
    begin(TLTCP_DROP_UNTIL_KEY);
    write_one(TL_CLASS_KEY, 0, 1000, 1);
    write_one(TL_CLASS_DISPOSABLE, 0, 100, 1);
    write_one(TL_CLASS_HEADER, 0, 1000, 1);
    write_one(TL_CLASS_REFERENCE, 2, 1000, 1);
    assert_int_equal(tltcp__sections_expire(&t.s, 100), 0);
    assert_fates(".t.o");
    write_one(TL_CLASS_DISPOSABLE, 0, 1000, 100);
    write_one(TL_CLASS_KEY, 0, 1000, 100);
    write_one(TL_CLASS_REFERENCE, 0, 1000, 100);
    assert_fates(".t.oo..");
}

TEST(a_stream_without_keys_goes_on_after_ten_seconds) {
    begin(TLTCP_DROP_DEPENDENTS);
    write_one(TL_CLASS_REFERENCE, 0, 100, 1);
    assert_int_equal(tltcp__sections_expire(&t.s, 100), 0);
    write_one(TL_CLASS_REFERENCE, 0, 11 * TLTCP_S, 9 * TLTCP_S);
    write_one(TL_CLASS_REFERENCE, 0, 13 * TLTCP_S, 10 * TLTCP_S + 2);
    write_one(TL_CLASS_REFERENCE, 0, 13 * TLTCP_S, 10 * TLTCP_S + 2);
    assert_fates("to..");
}

TEST(data_in_flight_at_its_deadline_may_still_arrive) {
    begin(TLTCP_DROP_DEPENDENTS);
    write_one(TL_CLASS_KEY, 0, 100, 1);
    write_one(TL_CLASS_REFERENCE, 0, 100, 1);
    send_all(1);
    write_one(TL_CLASS_REFERENCE, 0, 1000, 1);
    assert_int_equal(tltcp__sections_expire(&t.s, 100), 0);
    assert_fates("...");
    arrives(0);
    assert_fates("d..");
    vanishes(1);
    assert_int_equal(tltcp__sections_expire(&t.s, 101), 0);
    assert_fates("dto");
}

TEST(other_streams_do_not_care) {
    tltcp_section in = {
        .data = &(struct iovec){bytes, S}, .count = 1, .deadline = 1000};
    begin(TLTCP_DROP_UNTIL_KEY);
    write_one(TL_CLASS_REFERENCE, 0, 100, 1);
    in.meta.section_class = TL_CLASS_REFERENCE;
    in.meta.stream = 1;
    assert_int_equal(tltcp__sections_write(&t.s, &in, 1), 0);
    assert_int_equal(tltcp__sections_expire(&t.s, 100), 0);
    assert_fates("t.");
}

TEST(a_section_without_a_deadline_is_reliable) {
    begin(TLTCP_DROP_DEPENDENTS);
    write_one(TL_CLASS_KEY, 0, 100, 1);
    write_one(TL_CLASS_REFERENCE, 0, TLTCP_TIME_NEVER, 1);
    write_one(TL_CLASS_DISPOSABLE, 0, 1000, 1);
    assert_int_equal(tltcp__sections_expire(&t.s, 100), 0);
    assert_fates("t..");
}

TEST(what_is_rebuilt_after_its_deadline_is_not_lost) {
    tltcp__piece p;
    begin(TLTCP_DROP_DEPENDENTS);
    write_one(TL_CLASS_KEY, 0, 100, 1);
    assert_true(tltcp__sections_next(&t.s, S, true, 2, &p));
    tltcp__sections_on_sent(&t.s, &p, true);
    write_one(TL_CLASS_REFERENCE, 0, 1000, 3);
    assert_int_equal(tltcp__sections_expire(&t.s, 100), 0);
    assert_int_equal(tltcp__sections_on_rebuilt(&t.s, 0, S), 0);
    tltcp__sections_on_forgotten(&t.s, 0);
    assert_int_equal(tltcp__sections_expire(&t.s, 101), 0);
    assert_int_equal(t.fates[0].fate, TLTCP_FATE_DELIVERED);
    assert_int_equal(t.fates[1].fate, 0);
}

/* ---- what leaves before its turn ---- */

static void write_sized(uint32_t cls, uint32_t stream, size_t len,
                        tltcp_time deadline) {
    tltcp_section in = {
        .data = &(struct iovec){bytes, len}, .count = 1, .deadline = deadline};
    in.meta.section_class = cls;
    in.meta.stream = stream;
    assert_int_equal(tltcp__sections_write(&t.s, &in, 1), 0);
}

/* The sections from which the next pieces of up to 100 bytes are. */
static void assert_order(const char *sections) {
    for (; *sections != '\0'; sections++) {
        tltcp__piece p;
        assert_true(tltcp__sections_next(&t.s, 100, true, 2, &p));
        assert_int_equal(p.section, *sections - '0');
        tltcp__sections_on_sent(&t.s, &p, true);
    }
}

TEST(audio_overtakes_large_sections) {
    begin(TLTCP_DROP_DEPENDENTS);
    write_sized(TL_CLASS_KEY, 0, 500, 1000);
    assert_order("0");
    write_sized(TL_CLASS_AUDIO, 1, 50, 1000);
    write_sized(TL_CLASS_AUDIO, 1, 100, 1000);
    assert_order("120000");
    assert_false(tltcp__sections_has(&t.s, true));
}

TEST(a_section_of_similar_size_waits_its_turn) {
    begin(TLTCP_DROP_DEPENDENTS);
    write_sized(TL_CLASS_KEY, 0, 200, 1000);
    write_sized(TL_CLASS_AUDIO, 1, 51, 1000);
    assert_order("001");
}

TEST(a_frame_without_a_deadline_is_never_late) {
    begin(TLTCP_DROP_DEPENDENTS);
    write_sized(TL_CLASS_KEY, 0, 200, 1000);
    write_sized(TL_CLASS_AUDIO, 1, 10, TLTCP_TIME_NEVER);
    assert_order("001");
}

TEST(headers_and_keys_pass_other_streams_only) {
    begin(TLTCP_DROP_DEPENDENTS);
    write_sized(TL_CLASS_KEY, 0, 300, 1000);
    write_sized(TL_CLASS_HEADER, 0, 10, 1000);
    write_sized(TL_CLASS_HEADER, 1, 10, 1000);
    write_sized(TL_CLASS_KEY, 1, 20, 1000);
    write_sized(TL_CLASS_REFERENCE, 1, 20, 1000);
    assert_order("2300014");
}

TEST(in_order_none_passes) {
    begin(TLTCP_DROP_DEPENDENTS);
    t.s.in_order = true;
    write_sized(TL_CLASS_KEY, 0, 200, 1000);
    write_sized(TL_CLASS_AUDIO, 1, 10, 1000);
    assert_order("001");
}

TEST(an_expired_section_ahead_is_not_sent_again) {
    begin(TLTCP_DROP_DEPENDENTS);
    write_sized(TL_CLASS_KEY, 0, 1000, 1000);
    write_sized(TL_CLASS_AUDIO, 1, 200, 100);
    assert_order("1");
    assert_int_equal(tltcp__sections_expire(&t.s, 100), 0);
    assert_order("0000000000");
    assert_false(tltcp__sections_has(&t.s, true));
    assert_int_equal(tltcp__sections_on_acked(&t.s, 1, 1000, 1100, 1), 0);
    assert_int_equal(t.fates[1].fate, TLTCP_FATE_PARTIAL);
}

TEST(pictures_leave_too_beside_endless_sound) {
    unsigned sound = 0;
    unsigned pictures = 0;
    begin(TLTCP_DROP_DEPENDENTS);
    t.s.limit = BIG;
    t.s.max_sections = 1 << 20;
    t.s.peer_seq = BIG;
    t.s.peer_section = 1 << 20;
    write_sized(TL_CLASS_KEY, 0, BIG / 4, 1000);
    for (int i = 0; i < 4000; i++) {
        tltcp__piece p;
        write_sized(TL_CLASS_AUDIO, 1, 100, 1000);
        assert_true(tltcp__sections_next(&t.s, 100, true, 2, &p));
        sound += p.section != 0;
        pictures += p.section == 0;
    }
    assert_true(sound > pictures && pictures > 1500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            what_expires_runs_no_further_ahead_than_the_peer_bears),
        cmocka_unit_test_teardown(what_needs_a_lost_reference_goes_with_it,
                                  end),
        cmocka_unit_test_teardown(a_lost_disposable_section_harms_none, end),
        cmocka_unit_test_teardown(by_section_each_dies_alone, end),
        cmocka_unit_test_teardown(any_picture_lost_ends_all_up_to_the_next_key,
                                  end),
        cmocka_unit_test_teardown(
            a_stream_without_keys_goes_on_after_ten_seconds, end),
        cmocka_unit_test_teardown(
            data_in_flight_at_its_deadline_may_still_arrive, end),
        cmocka_unit_test_teardown(other_streams_do_not_care, end),
        cmocka_unit_test_teardown(a_section_without_a_deadline_is_reliable,
                                  end),
        cmocka_unit_test_teardown(
            what_is_rebuilt_after_its_deadline_is_not_lost, end),
        cmocka_unit_test_teardown(audio_overtakes_large_sections, end),
        cmocka_unit_test_teardown(a_section_of_similar_size_waits_its_turn,
                                  end),
        cmocka_unit_test_teardown(a_frame_without_a_deadline_is_never_late,
                                  end),
        cmocka_unit_test_teardown(headers_and_keys_pass_other_streams_only,
                                  end),
        cmocka_unit_test_teardown(in_order_none_passes, end),
        cmocka_unit_test_teardown(an_expired_section_ahead_is_not_sent_again,
                                  end),
        cmocka_unit_test_teardown(pictures_leave_too_beside_endless_sound, end),
    };
    return cmocka_run_group_tests_name("sections", tests, NULL, NULL);
}

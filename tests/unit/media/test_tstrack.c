/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/media/stream/tstrack.h"

#include <string.h>

#include "internal/media/stream/ts.h"
#include "tests/support/cmocka.h"

/* A stream as it was sent, and what of it arrives. */
struct world {
    media_tstrack track;
    uint8_t counter[2];
    uint32_t number;
    uint32_t refs;
};

static media_header header_of(const struct world *w, char kind) {
    media_header h = {.kind = MEDIA_KIND_FRAME,
                      .number = w->number,
                      .refs = w->refs,
                      .pts = MEDIA_TIME_NONE,
                      .dts = MEDIA_TIME_NONE};

    h.frame_class = kind == 'I'                  ? MEDIA_CLASS_KEY
                    : kind == 'P' || kind == 'C' ? MEDIA_CLASS_REFERENCE
                    : kind == 'B'                ? MEDIA_CLASS_DISPOSABLE
                                                 : MEDIA_CLASS_AUDIO;
    h.flags = kind == 'I' ? MEDIA_FLAG_KEY | MEDIA_FLAG_CLOSED : 0;
    return h;
}

/* A unit of so many packets. */
static void make(struct world *w, unsigned pid, bool starts, size_t packets,
                 uint8_t *data) {
    memset(data, 0, packets * MEDIA_TS_PACKET);
    for (size_t i = 0; i < packets; i++) {
        uint8_t *p = data + i * MEDIA_TS_PACKET;
        p[0] = 0x47;
        p[1] = starts && i == 0 ? 0x41 : 0x01;
        p[2] = (uint8_t)pid;
        p[3] = (uint8_t)(0x10 | (w->counter[pid % 2]++ & 0x0f));
    }
}

/* Frames of PID 0, and of PID 1 after a digit 1: I, P, B, A (sound), C (goes on
 * with the frame before); lower case: it is missing.  Returns in `got` what can
 * be decoded. */
static void run(const char *frames, const char *expected) {
    struct world w;
    char got[80] = {0};
    unsigned pid = 0;
    size_t out = 0;

    memset(&w, 0, sizeof(w));
    for (; *frames; frames++) {
        uint8_t data[3 * MEDIA_TS_PACKET];
        char kind = (char)(*frames & ~0x20);
        if (*frames == '1') {
            pid = 1;
            continue;
        }
        media_header h = header_of(&w, kind);
        make(&w, pid, kind != 'C', 3, data);
        w.number++;
        w.refs += kind == 'I' || kind == 'P' || kind == 'C';
        if (kind == *frames) {
            bool ok =
                media__tstrack_frame(&w.track, &h, data, sizeof(data), true);
            got[out] = '.';
            if (ok) {
                got[out] = kind;
            }
            out++;
        }
        pid = 0;
    }
    assert_string_equal(got, expected);
}

TEST(what_is_whole_can_be_decoded) {
    run("IAPBBAPBBIAP", "IAPBBAPBBIAP");
}

TEST(a_lost_reference_harms_its_group_and_no_sound) {
    run("IAPBpABAPBIAPB", "IAPBA.A..IAPB");
}

TEST(lost_sound_and_lost_disposable_frames_harm_nothing) {
    run("IaPBaPbAPBPIaP", "IPBPAPBPIP");
}

TEST(a_lost_key_frame_harms_its_whole_group) {
    run("iAPBIP", "A..IP");
    run("IPiAPBIP", "IPA..IP");
}

TEST(one_program_does_not_suffer_for_another) {
    run("I1Ip1PP1P1pP1PI1PP1I1P", "IIP.P..I.PIP");
}

TEST(a_frame_in_parts_needs_all_of_them) {
    run("ICPB", "ICPB");
    run("IcPBIP", "I..IP");
    run("iCPBIP", "...IP");
}

/* 32 PIDs are told apart; of more nothing is held against them. */
TEST(more_pids_than_the_limit_do_no_harm) {
    uint8_t data[MEDIA_TS_PACKET] = {0x47, 0x40, 0, 0x10};
    media_header h = {.kind = MEDIA_KIND_FRAME,
                      .frame_class = MEDIA_CLASS_REFERENCE};
    media_tstrack t;

    memset(&t, 0, sizeof(t));
    for (unsigned i = 0; i < 100; i++) {
        data[2] = (uint8_t)i;
        bool ok = media__tstrack_frame(&t, &h, data, sizeof(data), true);
        assert_int_equal(ok, i >= MEDIA_TSTRACK_PIDS);
        h.number++;
        h.refs++;
    }
    assert_int_equal(t.count, MEDIA_TSTRACK_PIDS);
    assert_true(media__tstrack_frame(&t, &h, data, 20, true));
    assert_false(media__tstrack_frame(&t, &h, data, 20, false));
}

TEST(a_restarted_sender_needs_a_key_frame) {
    uint8_t data[MEDIA_TS_PACKET] = {0x47, 0x40, 0, 0x10};
    media_header h = {.kind = MEDIA_KIND_FRAME,
                      .frame_class = MEDIA_CLASS_KEY,
                      .number = 50,
                      .refs = 20};
    media_tstrack t;

    memset(&t, 0, sizeof(t));
    assert_true(media__tstrack_frame(&t, &h, data, sizeof(data), true));
    h = (media_header){.kind = MEDIA_KIND_FRAME,
                       .frame_class = MEDIA_CLASS_REFERENCE};
    assert_false(media__tstrack_frame(&t, &h, data, sizeof(data), true));
    h.number++;
    h.refs++;
    h.frame_class = MEDIA_CLASS_KEY;
    assert_true(media__tstrack_frame(&t, &h, data, sizeof(data), true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_whole_can_be_decoded),
        cmocka_unit_test(a_lost_reference_harms_its_group_and_no_sound),
        cmocka_unit_test(lost_sound_and_lost_disposable_frames_harm_nothing),
        cmocka_unit_test(a_lost_key_frame_harms_its_whole_group),
        cmocka_unit_test(one_program_does_not_suffer_for_another),
        cmocka_unit_test(a_frame_in_parts_needs_all_of_them),
        cmocka_unit_test(more_pids_than_the_limit_do_no_harm),
        cmocka_unit_test(a_restarted_sender_needs_a_key_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

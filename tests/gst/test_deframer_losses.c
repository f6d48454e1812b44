/* SPDX-License-Identifier: MPL-2.0 */
/* The source's handling of missing and incomplete sections: the frames that it
 * leaves out, holds back and marks. */
#include "tests/gst/deframer_world.h"

/* Gives frames in turn, each with what it says that it refers to, and compares
 * what is handed on; ' ' is nothing. */
static void assert_handed(struct world *w, const char *frames,
                          const char *depends, const char *handed) {
    for (gsize i = 0; frames[i]; i++) {
        world_forget(w);
        w->depends = depends ? (guint32)(depends[i] - '0') : 0;
        give_picture(w, frames[i]);
        assert_int_equal(w->deframed.buffer != NULL, handed[i] != ' ');
    }
}

TEST(a_missing_frame_makes_a_gap_event_and_discont) {
    struct world *w = *state;
    GstClockTime start, duration;

    give_picture(w, 'I');
    give_picture(w, 'P');
    assert_false(flagged(w, GST_BUFFER_FLAG_DISCONT));
    give_picture(w, 'b');
    give_picture(w, 'b');
    give_picture(w, 'P');
    assert_true(flagged(w, GST_BUFFER_FLAG_DISCONT));
    assert_non_null(w->deframed.event);
    gst_event_parse_gap(w->deframed.event, &start, &duration);
    assert_int_equal(start, 1000 * MS + 80 * MS);
    assert_int_equal(duration, 80 * MS);
    assert_int_equal(count_of(w, &w->d.counts.missing), 2);
    assert_int_equal(count_of(w, &w->d.counts.missing_references), 0);
}

TEST(a_gap_of_the_transport_makes_discont) {
    struct world *w = *state;

    give_picture(w, 'I');
    gst_tltcp_deframer_gap(&w->d, 1234);
    give_picture(w, 'P');
    assert_true(flagged(w, GST_BUFFER_FLAG_DISCONT));
    assert_int_equal(count_of(w, &w->d.counts.gap_bytes), 1234);
    assert_null(w->deframed.event); /* no time is missing */
}

TEST(a_cut_frame_is_left_out) {
    struct world *w = *state;

    give_picture(w, 'I');
    give_frame(w, 0, 'P', FALSE);
    assert_null(w->deframed.buffer);
    assert_int_equal(count_of(w, &w->d.counts.cut), 1);
    give_picture(w, 'P');
    assert_non_null(w->deframed.buffer);
    assert_true(flagged(w, GST_BUFFER_FLAG_DISCONT));
    assert_int_equal(count_of(w, &w->d.counts.undecodable), 2);
}

TEST(a_cut_frame_is_flagged_when_partial_ones_are_wanted) {
    struct world *w = *state;

    w->d.output = GST_TLTCP_OUTPUT_PARTIAL;
    give_picture(w, 'I');
    assert_false(flagged(w, GST_BUFFER_FLAG_CORRUPTED));
    give_frame(w, 0, 'P', FALSE);
    assert_non_null(w->deframed.buffer);
    assert_true(flagged(w, GST_BUFFER_FLAG_CORRUPTED));
}

TEST(pictures_wait_for_a_key_frame_when_asked_to) {
    struct world *w = *state;
    static const char frames[] = "PIPBpPBBIPB";
    static const char handed[] = " IPB    IPB";

    w->d.drop_until_keyframe = TRUE;
    assert_handed(w, frames, NULL, handed);
    assert_int_equal(count_of(w, &w->d.counts.held_back), 4);
}

/* A gradual refresh is needed from its beginning on. */
TEST(pictures_go_on_from_a_recovery_point) {
    struct world *w = *state;
    static const char frames[] = "PIPpPRPPPB";
    static const char handed[] = " IP  RPPPB";

    w->d.drop_until_keyframe = TRUE;
    assert_handed(w, frames, NULL, handed);
    assert_int_equal(count_of(w, &w->d.counts.undecodable), 4);
}

/* Only what says that it refers to a lost branch waits. */
TEST(a_lost_branch_holds_back_its_dependents) {
    struct world *w = *state;
    static const char frames[] = "IPVBBPvBBPVBPVB";
    static const char depends[] = "011124112411311";
    static const char handed[] = "IPVBBP   PVBPVB";

    w->d.drop_until_keyframe = TRUE;
    assert_handed(w, frames, depends, handed);
    assert_int_equal(count_of(w, &w->d.counts.held_back), 2);
    assert_int_equal(count_of(w, &w->d.counts.missing), 1);
    assert_int_equal(count_of(w, &w->d.counts.missing_references), 0);
}

/* One packet of PID 256 that begins a picture, with a clock reference. */
static gboolean ts_frame(struct world *w, char kind) {
    guint8 packet[188] = {0x47, 0x41, 0, 0x30, 50, 0x10, 0, 0, 0, 0, 0x7e, 0};
    media_header h = {.kind = MEDIA_KIND_FRAME,
                      .frame_class = (kind & ~0x20) == 'I'
                                         ? MEDIA_CLASS_KEY
                                         : MEDIA_CLASS_REFERENCE,
                      .flags = kind == 'R' ? MEDIA_FLAG_DELTA | RECOVERY_IN_2
                                           : MEDIA_FLAG_DELTA,
                      .number = w->number,
                      .refs = w->refs++,
                      .length = sizeof(packet),
                      .pts = w->number * 40 * MS,
                      .dts = w->number * 40 * MS,
                      .duration = MEDIA_TIME_NONE};

    packet[3] |= w->number++ & 0x0f;
    if (g_ascii_islower(kind)) {
        return FALSE;
    }
    give_section(w, &h, packet, TRUE, (GstClockTime)(1000 * MS + h.pts));
    assert_non_null(w->deframed.buffer);
    gst_buffer_extract(w->deframed.buffer, 0, packet, sizeof(packet));
    assert_int_equal(gst_buffer_get_size(w->deframed.buffer), sizeof(packet));
    return packet[3] & 0x10; /* there is a payload */
}

static void
pictures_of_a_transport_stream_are_held_back_clocks_are_not(void **state) {
    struct world *w = *state;

    give_caps(w, 0, MEDIA_TYPE_DATA, "video/mpegts, packetsize=(int)188");
    w->d.drop_until_keyframe = TRUE;
    assert_false(ts_frame(w, 'P'));
    assert_true(ts_frame(w, 'I'));
    assert_true(ts_frame(w, 'P'));
    ts_frame(w, 'p');
    assert_false(ts_frame(w, 'P'));
    assert_true(flagged(w, GST_BUFFER_FLAG_DISCONT));
    assert_false(ts_frame(w, 'P'));
    assert_true(ts_frame(w, 'I'));
    assert_int_equal(count_of(w, &w->d.counts.held_back), 3);
    assert_int_equal(count_of(w, &w->d.counts.missing), 1);
    assert_int_equal(count_of(w, &w->d.counts.missing_references), 1);
    ts_frame(w, 'p');
    assert_false(ts_frame(w, 'P'));
    assert_true(ts_frame(w, 'R'));
    assert_true(ts_frame(w, 'P'));
    assert_true(ts_frame(w, 'P'));
    assert_true(ts_frame(w, 'P'));
}

#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_missing_frame_makes_a_gap_event_and_discont),
        T(a_gap_of_the_transport_makes_discont),
        T(a_cut_frame_is_left_out),
        T(a_cut_frame_is_flagged_when_partial_ones_are_wanted),
        T(pictures_wait_for_a_key_frame_when_asked_to),
        T(pictures_go_on_from_a_recovery_point),
        T(a_lost_branch_holds_back_its_dependents),
        T(pictures_of_a_transport_stream_are_held_back_clocks_are_not),
    };
    return cmocka_run_group_tests(tests, world_init, NULL);
}

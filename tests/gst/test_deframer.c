/* SPDX-License-Identifier: MPL-2.0 */
/* The source's handling of sections, without a connection. */
#include <stdlib.h>

#include "internal/media/stream/ts.h"
#include "tests/gst/deframer_world.h"

TEST(caps_come_before_the_first_frame) {
    struct world *w = *state;

    give_caps(w, 0, MEDIA_TYPE_VIDEO, "video/x-test");
    assert_null(w->deframed.caps);
    give_picture(w, 'I');
    assert_non_null(w->deframed.caps);
    assert_non_null(w->deframed.buffer);
    assert_int_equal(gst_buffer_get_size(w->deframed.buffer), 5);
    assert_int_equal(gst_buffer_memcmp(w->deframed.buffer, 0, "bytes", 5), 0);
    give_picture(w, 'P');
    assert_null(w->deframed.caps);
}

TEST(video_is_chosen_before_other_streams) {
    struct world *w = *state;

    give_caps(w, 0, MEDIA_TYPE_AUDIO, "audio/x-test");
    give_caps(w, 3, MEDIA_TYPE_VIDEO, "video/x-test");
    give_frame(w, 0, 'I', TRUE);
    assert_int_equal(w->d.first, 3);
}

TEST(every_stream_has_its_own_caps_and_gaps) {
    struct world *w = *state;

    give_caps(w, 0, MEDIA_TYPE_VIDEO, "video/x-test");
    give_caps(w, 1, MEDIA_TYPE_AUDIO, "audio/x-test");
    give_frame(w, 1, 'I', TRUE);
    assert_int_equal(w->deframed.stream, 1);
    assert_non_null(w->deframed.buffer);
    assert_true(gst_structure_has_name(
        gst_caps_get_structure(w->deframed.caps, 0), "audio/x-test"));
    w->number = w->refs = 0;
    give_frame(w, 0, 'I', TRUE);
    assert_int_equal(w->deframed.stream, 0);
    assert_true(gst_structure_has_name(
        gst_caps_get_structure(w->deframed.caps, 0), "video/x-test"));
    gst_tltcp_deframer_gap(&w->d, 99); /* of which stream is not known */
    give_frame(w, 0, 'P', TRUE);
    assert_false(flagged(w, GST_BUFFER_FLAG_DISCONT));
    w->number = 2; /* of stream 1, number 1 is missing */
    give_frame(w, 1, 'P', TRUE);
    assert_true(flagged(w, GST_BUFFER_FLAG_DISCONT));
    assert_null(w->deframed.caps);
}

TEST(it_is_not_over_before_all_streams_have_begun) {
    struct world *w = *state;
    media_config c = {.type = MEDIA_TYPE_AUDIO, .streams = 2};

    give_config(w, 0, &c);
    give_end(w, 0);
    assert_false(gst_tltcp_deframer_is_over(&w->d));
    give_end(w, 1);
    assert_true(gst_tltcp_deframer_is_over(&w->d));
}

TEST(it_is_over_when_all_streams_have_ended) {
    struct world *w = *state;

    give_caps(w, 0, MEDIA_TYPE_VIDEO, "video/x-test");
    give_caps(w, 1, MEDIA_TYPE_AUDIO, "audio/x-test");
    give_end(w, 0);
    assert_true(w->deframed.eos);
    assert_false(gst_tltcp_deframer_is_over(&w->d));
    give_end(w, 1);
    assert_true(w->deframed.eos);
    assert_true(gst_tltcp_deframer_is_over(&w->d));
}

TEST(sections_that_are_no_media_are_handed_on_as_they_are) {
    struct world *w = *state;
    media_section section = {.data = (uint8_t *)strdup("plain"),
                             .len = 5,
                             .complete = TRUE,
                             .begins = TRUE};

    gst_tltcp_deframer_section(&w->d, &section, 77, &w->deframed);
    assert_non_null(w->deframed.buffer);
    assert_int_equal(GST_BUFFER_PTS(w->deframed.buffer), 77);
    assert_int_equal(gst_buffer_memcmp(w->deframed.buffer, 0, "plain", 5), 0);
}

static GstClockTime stamp_of(struct world *w, guint8 *data, gsize len,
                             GstClockTime now) {
    media_section section = {
        .data = data, .len = len, .complete = TRUE, .begins = TRUE};

    world_forget(w);
    gst_tltcp_deframer_section(&w->d, &section, now, &w->deframed);
    return GST_BUFFER_PTS(w->deframed.buffer);
}

static GstClockTime stamp_of_plain(struct world *w, GstClockTime now) {
    return stamp_of(w, (guint8 *)strdup("plain"), 5, now);
}

/* A sink waits for the time of each buffer and the latency: data that waited
 * for that must not wait again. */
TEST(data_without_times_waits_once_for_the_latency) {
    struct world *w = *state;

    w->d.latency = 300 * MS;
    assert_int_equal(stamp_of_plain(w, 1000 * MS), 1000 * MS);
    gst_tltcp_deframer_was_held(&w->d, 300 * MS);
    assert_int_equal(stamp_of_plain(w, 1300 * MS), 1000 * MS);
    gst_tltcp_deframer_was_held(&w->d, 0);
    assert_int_equal(stamp_of_plain(w, 1310 * MS), 1010 * MS);
    gst_tltcp_deframer_was_held(&w->d, 5000 * MS); /* not by the latency */
    assert_int_equal(stamp_of_plain(w, 7000 * MS), 6700 * MS);
    w->d.delivery = GST_TLTCP_DELIVERY_IMMEDIATE;
    assert_int_equal(stamp_of_plain(w, 8000 * MS), 8000 * MS);
}

/* The latency of the pipeline, which may change, also while it waits. */
TEST(data_without_times_is_early_by_what_sinks_wait) {
    struct world *w = *state;

    w->d.latency = 1000 * MS;
    gst_tltcp_deframer_set_wait(&w->d, 300 * MS);
    gst_tltcp_deframer_was_held(&w->d, 5000 * MS);
    assert_int_equal(stamp_of_plain(w, 7000 * MS), 6700 * MS);
    gst_tltcp_deframer_set_wait(&w->d, 100 * MS);
    assert_int_equal(stamp_of_plain(w, 8000 * MS), 7900 * MS);
    gst_tltcp_deframer_restart(&w->d);
    gst_tltcp_deframer_was_held(&w->d, 5000 * MS);
    assert_int_equal(stamp_of_plain(w, 9000 * MS), 8900 * MS);
}

/* A demultiplexer takes the earliest stamps for those of the path. */
TEST(a_transport_stream_keeps_the_time_of_its_arrival) {
    struct world *w = *state;
    gsize len = (gsize)2 * MEDIA_TS_PACKET;

    gst_tltcp_deframer_set_wait(&w->d, 300 * MS);
    gst_tltcp_deframer_was_held(&w->d, 300 * MS);
    for (guint i = 0; i < 2; i++) {
        guint8 *data = calloc(1, len);
        assert_non_null(data);
        data[0] = data[MEDIA_TS_PACKET] = i ? 0 : 0x47; /* cut anywhere */
        assert_int_equal(stamp_of(w, data, len, 7000 * MS), 7000 * MS);
    }
}

TEST(malformed_sections_are_counted_and_dropped) {
    struct world *w = *state;
    media_header h = header_of(MEDIA_KIND_CONFIG, 0);
    h.length = 3;

    give_picture(w, 'I');
    give_section(w, &h, "???", TRUE, 0);
    assert_null(w->deframed.buffer);
    h.kind = 9;
    give_section(w, &h, "???", TRUE, 0);
    assert_null(w->deframed.buffer);
    media_section section = {.data = (uint8_t *)strdup("plain"),
                             .len = 5,
                             .complete = TRUE,
                             .begins = TRUE};
    gst_tltcp_deframer_section(&w->d, &section, 0, &w->deframed);
    assert_null(w->deframed.buffer);
    assert_int_equal(count_of(w, &w->d.counts.refused), 3);
}

TEST(caps_from_a_peer_must_be_one_fixed_type) {
    static const char *const bad[] = {"ANY",
                                      "EMPTY",
                                      "video/x-test; audio/x-test",
                                      "video/x-test, width=(int)[ 1, 9 ]",
                                      "no caps at all",
                                      "\xff\xfe"};
    struct world *w = *state;

    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        gst_tltcp_deframer_restart(&w->d);
        give_caps(w, 0, MEDIA_TYPE_VIDEO, bad[i]);
        give_picture(w, 'I');
        assert_null(w->deframed.caps);
        assert_non_null(w->deframed.buffer);
    }
}

/* GStreamer's parser calls itself for each value inside another. */
static const gchar *const nests[] = {"{", "<", "[", "{ a, ", "(GstCaps)["};

#define NESTED 80000

static gchar *nested_text(const gchar *head, const gchar *nest) {
    GString *text = g_string_new(head);

    for (int i = 0; i < NESTED; i++) {
        g_string_append(text, nest);
    }
    return g_string_free(text, FALSE);
}

/* Inside a string, where brackets are not seen. */
static gchar *hidden_text(const gchar *head) {
    g_autofree gchar *caps = nested_text("x, a=", "{");
    g_autofree gchar *coded = g_base64_encode((const guchar *)caps, 40000);

    for (gchar *c = coded; *c; c++) {
        if (*c == '=') {
            *c = '_';
        }
    }
    return g_strconcat(head, "0000:", coded, ":None:None;", NULL);
}

static void refuse_caps(struct world *w, const gchar *text) {
    g_autofree guint8 *payload = g_malloc(MEDIA_CONFIG_MAX);
    media_config c = {.type = MEDIA_TYPE_VIDEO, .caps = {text, strlen(text)}};
    media_header h = header_of(MEDIA_KIND_CONFIG, 0);

    gst_tltcp_deframer_restart(&w->d);
    h.length = (guint32)media__config_write(&c, payload, MEDIA_CONFIG_MAX);
    assert_true(h.length > 0);
    give_section(w, &h, payload, TRUE, 0);
    give_picture(w, 'I');
    assert_null(w->deframed.caps);
}

TEST(caps_from_a_peer_do_not_use_up_the_stack) {
    struct world *w = *state;
    g_autofree gchar *hidden = hidden_text("video/x-test, a=( GstSample )");
    g_autofree gchar *octal = g_strconcat(
        "video/x-test, a=(structure)\"x\\,a\\=\\173\\173\\173\"", NULL);

    for (gsize i = 0; i < G_N_ELEMENTS(nests); i++) {
        g_autofree gchar *text = nested_text("video/x-test, a=", nests[i]);
        refuse_caps(w, text);
    }
    refuse_caps(w, hidden);
    refuse_caps(w, octal);
}

static void tags(struct world *w, const char *text, gsize len) {
    media_header h = header_of(MEDIA_KIND_EVENT, 0);

    h.picture = MEDIA_EVENT_TAGS;
    h.length = (guint32)len;
    give_section(w, &h, text, TRUE, 0);
}

/* Its work grows with the square of their number. */
TEST(caps_from_a_peer_have_few_fields) {
    struct world *w = *state;
    GString *text = g_string_new("video/x-test");

    for (int i = 0; i < 300; i++) {
        g_string_append_printf(text, ", a%d=1", i);
    }
    refuse_caps(w, text->str);
    g_string_free(text, TRUE);
}

/* Each may have a megabyte, and there are 256 streams. */
TEST(descriptions_of_all_streams_take_a_limited_memory) {
    struct world *w = *state;
    g_autofree guint8 *payload = g_malloc(MEDIA_CONFIG_MAX);
    GString *text = g_string_new("video/x-test, codec_data=(buffer)");
    media_config c = {.type = MEDIA_TYPE_VIDEO};

    while (text->len < 900000) {
        g_string_append(text, "00");
    }
    c.caps = (media_span){text->str, text->len};
    for (guint8 i = 0; i < 12; i++) {
        media_header h = header_of(MEDIA_KIND_CONFIG, i);
        h.length = (guint32)media__config_write(&c, payload, MEDIA_CONFIG_MAX);
        give_section(w, &h, payload, TRUE, 0);
    }
    assert_int_equal(count_of(w, &w->d.counts.refused), 3); /* 8 MiB fit */
    g_string_free(text, TRUE);
}

/* GLib never forgets a name. */
static void config_with_names(struct world *w, int first) {
    g_autofree guint8 *payload = g_malloc(MEDIA_CONFIG_MAX);
    GString *text = g_string_new("video/x-test");
    media_config c = {.type = MEDIA_TYPE_VIDEO};
    media_header h = header_of(MEDIA_KIND_CONFIG, 0);

    for (int i = first; i < first + 100; i++) {
        g_string_append_printf(text, ", unheard-of-%d=(int)1", i);
    }
    gst_tltcp_deframer_restart(&w->d); /* another connection */
    c.caps = (media_span){text->str, text->len};
    h.length = (guint32)media__config_write(&c, payload, MEDIA_CONFIG_MAX);
    give_section(w, &h, payload, TRUE, 0);
    give_picture(w, 'I');
    g_string_free(text, TRUE);
}

TEST(peers_cannot_make_up_names_for_ever) {
    struct world *w = *state;
    GString *text = g_string_new("taglist, title=(string)a");
    gboolean accepted = TRUE;
    int n = 0;

    for (; n < 100 && accepted; n++) {
        config_with_names(w, 100 * n);
        accepted = w->deframed.caps != NULL;
    }
    assert_true(n > 1);
    assert_false(accepted);
    assert_int_equal(g_quark_try_string("unheard-of-9999"), 0);
    config_with_names(w, 0); /* these are known */
    assert_non_null(w->deframed.caps);
    tags(w, "taglist, title=(string)\"so-what=1\"", 34);
    assert_non_null(w->deframed.tags);
    for (int i = 0; i < 100; i++) {
        g_string_append_printf(text, ", never-heard-%d=1", i);
    }
    tags(w, text->str, text->len);
    assert_null(w->deframed.tags);
    assert_int_equal(g_quark_try_string("never-heard-7"), 0);
    g_string_free(text, TRUE);
}

TEST(caps_that_senders_write_are_accepted) {
    static const char *const good[] = {
        "video/x-raw(memory:DMABuf), width=(int)640, framerate=(fraction)30/1",
        "video/x-raw, multiview-flags=(GstVideoMultiviewFlagsSet)0:ffffffff",
        "audio/x-vorbis, streamheader=(buffer)< 0102, 03 >, rate=(gint)48000",
        "audio/x-raw, channel-mask=(bitmask)0x3, layout=(string)interleaved",
        "video/x-h264, title=(string)\"a\\ \\(live\\)\""};
    struct world *w = *state;

    for (gsize i = 0; i < G_N_ELEMENTS(good); i++) {
        gst_tltcp_deframer_restart(&w->d);
        give_caps(w, 0, MEDIA_TYPE_VIDEO, good[i]);
        give_picture(w, 'I');
        assert_non_null(w->deframed.caps);
    }
}

TEST(caps_are_made_for_senders_that_know_none) {
    struct world *w = *state;
    media_config c = {.type = MEDIA_TYPE_VIDEO,
                      .codec = {"h264", 4},
                      .width = 640,
                      .height = 360};
    gint width = 0;

    give_config(w, 0, &c);
    give_picture(w, 'I');
    assert_non_null(w->deframed.caps);
    const GstStructure *s = gst_caps_get_structure(w->deframed.caps, 0);
    assert_string_equal(gst_structure_get_name(s), "video/x-h264");
    gst_structure_get_int(s, "width", &width);
    assert_int_equal(width, 640);
}

TEST(the_end_is_reported) {
    struct world *w = *state;

    give_picture(w, 'I');
    assert_false(w->deframed.eos);
    give_end(w, 0);
    assert_true(w->deframed.eos);
}

TEST(tags_come_behind_the_caps) {
    static const char text[] = "taglist, language-code=(string)de";
    struct world *w = *state;
    g_autofree gchar *language = NULL;
    GstTagList *list;

    give_caps(w, 0, MEDIA_TYPE_VIDEO, "video/x-test");
    tags(w, text, strlen(text));
    assert_null(w->deframed.tags);
    give_picture(w, 'I');
    assert_non_null(w->deframed.caps);
    assert_non_null(w->deframed.tags);
    gst_event_parse_tag(w->deframed.tags, &list);
    assert_true(
        gst_tag_list_get_string(list, GST_TAG_LANGUAGE_CODE, &language));
    assert_string_equal(language, "de");
    give_picture(w, 'P');
    assert_null(w->deframed.tags);
    tags(w, text, strlen(text));
    assert_non_null(w->deframed.tags); /* new ones, at once */
}

/* Only what is known here, with the type that it has here. */
TEST(tags_from_a_peer_are_checked) {
    static const char *const texts[] = {
        "",
        "taglist",
        "taglist, language-code=(int)7",
        "taglist, x=(string)y",
        "nonsense",
        "caps, language-code=(string)de",
        "taglist, title=(string)\xff",
        "taglist, image=(sample)\"AAAA:None:R3N0U2VnbWVudA__:None\"",
        "taglist, title=(string)\"",
        "taglist, title=(buffer)00"};
    struct world *w = *state;

    give_caps(w, 0, MEDIA_TYPE_VIDEO, "video/x-test");
    give_picture(w, 'I');
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        tags(w, texts[i], strlen(texts[i]));
        assert_null(w->deframed.tags);
    }
    tags(w, "taglist, title=(string)a\0b", 25);
    assert_non_null(w->deframed.tags); /* up to the zero */
}

TEST(tags_from_a_peer_do_not_use_up_the_stack) {
    struct world *w = *state;
    g_autofree gchar *hidden = hidden_text("taglist, image=(sample)");

    give_caps(w, 0, MEDIA_TYPE_VIDEO, "video/x-test");
    give_picture(w, 'I');
    for (gsize i = 0; i < G_N_ELEMENTS(nests); i++) {
        g_autofree gchar *text = nested_text("taglist, title=", nests[i]);
        tags(w, text, 65536);
        assert_null(w->deframed.tags);
    }
    tags(w, hidden, strlen(hidden));
    assert_null(w->deframed.tags);
}

TEST(buffers_are_stamped_by_arrival_when_asked_to) {
    struct world *w = *state;

    w->d.delivery = GST_TLTCP_DELIVERY_IMMEDIATE;
    give_picture(w, 'I');
    assert_int_equal(GST_BUFFER_PTS(w->deframed.buffer), 1000 * MS);
    give_picture(w, 'P');
    assert_int_equal(GST_BUFFER_PTS(w->deframed.buffer), 1040 * MS);
}

/* Anything a peer can send; a sanitizer looks on. */
TEST(no_section_can_do_harm) {
    struct world *w = *state;
    guint32 random = 7;

    for (guint round = 0; round < 20000; round++) {
        media_header h = {.kind = (guint8)(round % 3 + 1),
                          .length = 40,
                          .pts = round * MS,
                          .dts = round * MS,
                          .duration = MEDIA_TIME_NONE};
        gsize len = round % 97;
        media_section section = {.complete = round % 5 != 0, .begins = TRUE};
        guint8 bytes[MEDIA_HEADER_LEN + 45];
        for (gsize i = 0; i < sizeof(bytes); i++) {
            random = random * 1664525u + 1013904223u;
            bytes[i] = (guint8)(random >> 24 & (i % 6 ? 0x0f : 0));
        }
        media__header_write(&h, bytes);
        bytes[random >> 8 & 63] ^= (guint8)(random >> 20);
        section.len = len;
        section.data = malloc(len ? len : 1);
        memcpy(section.data, bytes, len);
        world_forget(w);
        gst_tltcp_deframer_section(&w->d, &section, round * (guint64)MS,
                                   &w->deframed);
    }
}

static void arrives(struct world *w, guint32 flags, gint64 late) {
    media_header h = {.kind = MEDIA_KIND_FRAME,
                      .frame_class = MEDIA_CLASS_KEY,
                      .flags = MEDIA_FLAG_KEY | flags,
                      .number = w->number,
                      .refs = w->number,
                      .pts = w->number * 40 * MS,
                      .dts = w->number * 40 * MS,
                      .duration = 40 * MS};

    w->number++;
    give_section(w, &h, "", TRUE, (GstClockTime)(1000 * MS + h.pts + late));
}

TEST(frames_that_come_late_are_counted) {
    struct world *w = *state;

    w->d.latency = 100 * MS;
    gst_tltcp_deframer_restart(&w->d);
    arrives(w, 0, 0);
    arrives(w, 0, 100 * MS);
    assert_int_equal(count_of(w, &w->d.counts.late), 0);
    arrives(w, 0, 101 * MS);
    assert_int_equal(count_of(w, &w->d.counts.late), 1);
    arrives(w, MEDIA_FLAG_DECODE_ONLY, 300 * MS); /* it is not shown */
    assert_int_equal(count_of(w, &w->d.counts.late), 1);
}

TEST(an_unknown_peer_cannot_choose_any_latency) {
    struct world *w = *state;
    media_config c = {.type = MEDIA_TYPE_VIDEO, .latency_ms = UINT32_MAX};

    give_config(w, 0, &c);
    assert_true(w->deframed.latency_changed);
    assert_int_equal(gst_tltcp_deframer_latency(&w->d), 60 * GST_SECOND);
}

#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(caps_come_before_the_first_frame),
        T(video_is_chosen_before_other_streams),
        T(every_stream_has_its_own_caps_and_gaps),
        T(it_is_over_when_all_streams_have_ended),
        T(it_is_not_over_before_all_streams_have_begun),
        T(frames_that_come_late_are_counted),
        T(an_unknown_peer_cannot_choose_any_latency),
        T(sections_that_are_no_media_are_handed_on_as_they_are),
        T(data_without_times_waits_once_for_the_latency),
        T(data_without_times_is_early_by_what_sinks_wait),
        T(a_transport_stream_keeps_the_time_of_its_arrival),
        T(malformed_sections_are_counted_and_dropped),
        T(caps_from_a_peer_must_be_one_fixed_type),
        T(caps_from_a_peer_do_not_use_up_the_stack),
        T(caps_from_a_peer_have_few_fields),
        T(descriptions_of_all_streams_take_a_limited_memory),
        T(peers_cannot_make_up_names_for_ever),
        T(caps_that_senders_write_are_accepted),
        T(caps_are_made_for_senders_that_know_none),
        T(the_end_is_reported),
        T(tags_come_behind_the_caps),
        T(tags_from_a_peer_are_checked),
        T(tags_from_a_peer_do_not_use_up_the_stack),
        T(buffers_are_stamped_by_arrival_when_asked_to),
        T(no_section_can_do_harm),
    };
    return cmocka_run_group_tests(tests, world_init, NULL);
}

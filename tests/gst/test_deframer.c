/* SPDX-License-Identifier: MPL-2.0 */
/* What the source makes of sections, without any connection. */
#include "gst-plugins/gsttltcpdeframer.h"

#include <stdlib.h>

#include "gst-plugins/gsttltcpmeta.h"
#include "media/framing.h"
#include "tests/gst/support.h"

#define MS INT64_C(1000000)

struct world {
    GstTltcpDeframer d;
    GstTltcpProduct product;
    guint32 number;
    guint32 refs;
    guint64 section; /* number of the next one */
    guint32 depends; /* what it says that it refers to */
};

static int setup(void **state) {
    struct world *w = g_new0(struct world, 1);

    gst_tltcp_deframer_init(&w->d);
    *state = w;
    return 0;
}

static void forget(struct world *w) {
    gst_clear_buffer(&w->product.buffer);
    gst_clear_event(&w->product.event);
    gst_clear_event(&w->product.tags);
    gst_clear_caps(&w->product.caps);
}

static int teardown(void **state) {
    struct world *w = *state;

    forget(w);
    gst_tltcp_deframer_clear(&w->d);
    g_free(w);
    return 0;
}

static void give(struct world *w, const media_header *h, const void *payload,
                 gboolean complete, GstClockTime now) {
    media_section section = {
        .complete = complete, .begins = TRUE, .number = w->section++};

    section.meta.depends = w->depends;
    section.len = MEDIA_HEADER_LEN + h->length;
    section.data = malloc(section.len);
    assert_non_null(section.data);
    media__header_write(h, section.data);
    memcpy(section.data + MEDIA_HEADER_LEN, payload, h->length);
    forget(w);
    gst_tltcp_deframer_section(&w->d, &section, now, &w->product);
}

static media_header header_of(unsigned kind, guint8 stream) {
    return (media_header){.kind = (guint8)kind,
                          .stream = stream,
                          .generation = 1,
                          .pts = MEDIA_TIME_NONE,
                          .dts = MEDIA_TIME_NONE,
                          .duration = MEDIA_TIME_NONE};
}

static void config(struct world *w, guint8 stream, guint8 type,
                   const char *caps) {
    media_config c = {.type = type, .caps = {caps, strlen(caps)}};
    guint8 payload[512];
    media_header h = header_of(MEDIA_KIND_CONFIG, stream);

    h.length = (guint32)media__config_write(&c, payload, sizeof(payload));
    give(w, &h, payload, TRUE, 0);
}

/* From here on all can be decoded after two more frames. */
#define RECOVERY_IN_2 (MEDIA_FLAG_RECOVERY | 2u << MEDIA_RECOVERY_SHIFT)

/* 'I', 'P', 'B', 'R', a recovery point, or 'V', a branch; lower case: it never
 * comes; the time is the number of the frame times 40 ms, at once. */
static void frame_of(struct world *w, guint8 stream, char kind,
                     gboolean complete) {
    char upper = (char)(kind & ~0x20);
    media_header h = {.kind = MEDIA_KIND_FRAME,
                      .stream = stream,
                      .frame_class = upper == 'I'   ? MEDIA_CLASS_KEY
                                     : upper == 'B' ? MEDIA_CLASS_DISPOSABLE
                                                    : MEDIA_CLASS_REFERENCE,
                      .flags = upper == 'I' ? MEDIA_FLAG_KEY
                               : upper == 'V'
                                   ? MEDIA_FLAG_DELTA | MEDIA_FLAG_BRANCH
                               : upper == 'R' ? MEDIA_FLAG_DELTA | RECOVERY_IN_2
                                              : MEDIA_FLAG_DELTA,
                      .number = w->number,
                      .refs = w->refs,
                      .length = 5,
                      .pts = w->number * 40 * MS,
                      .dts = w->number * 40 * MS,
                      .duration = 40 * MS};

    w->number++;
    w->refs += upper != 'B' && upper != 'V';
    if (upper == kind) {
        give(w, &h, "bytes", complete, (GstClockTime)(1000 * MS + h.pts));
    } else {
        w->section++;
    }
}

static void frame(struct world *w, char kind) {
    frame_of(w, 0, kind, TRUE);
}

static guint64 count_of(struct world *w, guint64 *counter) {
    guint64 value;

    g_mutex_lock(&w->d.lock);
    value = *counter;
    g_mutex_unlock(&w->d.lock);
    return value;
}

static void caps_come_before_the_first_frame(void **state) {
    struct world *w = *state;

    config(w, 0, MEDIA_TYPE_VIDEO, "video/x-test");
    assert_null(w->product.caps);
    frame(w, 'I');
    assert_non_null(w->product.caps);
    assert_non_null(w->product.buffer);
    assert_int_equal(gst_buffer_get_size(w->product.buffer), 5);
    assert_int_equal(gst_buffer_memcmp(w->product.buffer, 0, "bytes", 5), 0);
    frame(w, 'P');
    assert_null(w->product.caps);
}

static void video_is_chosen_before_other_streams(void **state) {
    struct world *w = *state;

    config(w, 0, MEDIA_TYPE_AUDIO, "audio/x-test");
    config(w, 3, MEDIA_TYPE_VIDEO, "video/x-test");
    frame_of(w, 0, 'I', TRUE);
    assert_int_equal(w->d.first, 3);
}

static void every_stream_has_its_own_caps_and_gaps(void **state) {
    struct world *w = *state;

    config(w, 0, MEDIA_TYPE_VIDEO, "video/x-test");
    config(w, 1, MEDIA_TYPE_AUDIO, "audio/x-test");
    frame_of(w, 1, 'I', TRUE);
    assert_int_equal(w->product.stream, 1);
    assert_non_null(w->product.buffer);
    assert_true(gst_structure_has_name(
        gst_caps_get_structure(w->product.caps, 0), "audio/x-test"));
    w->number = w->refs = 0;
    frame_of(w, 0, 'I', TRUE);
    assert_int_equal(w->product.stream, 0);
    assert_true(gst_structure_has_name(
        gst_caps_get_structure(w->product.caps, 0), "video/x-test"));
    gst_tltcp_deframer_gap(&w->d, 99); /* of which stream is not known */
    frame_of(w, 0, 'P', TRUE);
    assert_false(
        GST_BUFFER_FLAG_IS_SET(w->product.buffer, GST_BUFFER_FLAG_DISCONT));
    w->number = 2; /* of stream 1, number 1 is missing */
    frame_of(w, 1, 'P', TRUE);
    assert_true(
        GST_BUFFER_FLAG_IS_SET(w->product.buffer, GST_BUFFER_FLAG_DISCONT));
    assert_null(w->product.caps);
}

static void it_is_not_over_before_all_streams_have_begun(void **state) {
    struct world *w = *state;
    media_config c = {.type = MEDIA_TYPE_AUDIO, .streams = 2};
    guint8 payload[64];
    media_header h = header_of(MEDIA_KIND_CONFIG, 0);

    h.length = (guint32)media__config_write(&c, payload, sizeof(payload));
    give(w, &h, payload, TRUE, 0);
    h.kind = MEDIA_KIND_EVENT;
    h.picture = MEDIA_EVENT_EOS;
    h.length = 0;
    give(w, &h, "", TRUE, 0);
    assert_false(gst_tltcp_deframer_is_over(&w->d));
    h.stream = 1;
    give(w, &h, "", TRUE, 0);
    assert_true(gst_tltcp_deframer_is_over(&w->d));
}

static void it_is_over_when_all_streams_have_ended(void **state) {
    struct world *w = *state;
    media_header h = header_of(MEDIA_KIND_EVENT, 0);
    h.picture = MEDIA_EVENT_EOS;

    config(w, 0, MEDIA_TYPE_VIDEO, "video/x-test");
    config(w, 1, MEDIA_TYPE_AUDIO, "audio/x-test");
    give(w, &h, "", TRUE, 0);
    assert_true(w->product.eos);
    assert_false(gst_tltcp_deframer_is_over(&w->d));
    h.stream = 1;
    give(w, &h, "", TRUE, 0);
    assert_true(w->product.eos);
    assert_true(gst_tltcp_deframer_is_over(&w->d));
}

static void a_missing_frame_makes_a_gap_event_and_discont(void **state) {
    struct world *w = *state;
    GstClockTime start, duration;

    frame(w, 'I');
    frame(w, 'P');
    assert_false(
        GST_BUFFER_FLAG_IS_SET(w->product.buffer, GST_BUFFER_FLAG_DISCONT));
    frame(w, 'b');
    frame(w, 'b');
    frame(w, 'P');
    assert_true(
        GST_BUFFER_FLAG_IS_SET(w->product.buffer, GST_BUFFER_FLAG_DISCONT));
    assert_non_null(w->product.event);
    gst_event_parse_gap(w->product.event, &start, &duration);
    assert_int_equal(start, 1000 * MS + 80 * MS);
    assert_int_equal(duration, 80 * MS);
    assert_int_equal(count_of(w, &w->d.counts.missing), 2);
    assert_int_equal(count_of(w, &w->d.counts.missing_references), 0);
}

static void a_gap_of_the_transport_makes_discont(void **state) {
    struct world *w = *state;

    frame(w, 'I');
    gst_tltcp_deframer_gap(&w->d, 1234);
    frame(w, 'P');
    assert_true(
        GST_BUFFER_FLAG_IS_SET(w->product.buffer, GST_BUFFER_FLAG_DISCONT));
    assert_int_equal(count_of(w, &w->d.counts.gap_bytes), 1234);
    assert_null(w->product.event); /* no time is missing */
}

static void a_cut_frame_is_left_out(void **state) {
    struct world *w = *state;

    frame(w, 'I');
    frame_of(w, 0, 'P', FALSE);
    assert_null(w->product.buffer);
    assert_int_equal(count_of(w, &w->d.counts.cut), 1);
    frame(w, 'P');
    assert_non_null(w->product.buffer);
    assert_true(
        GST_BUFFER_FLAG_IS_SET(w->product.buffer, GST_BUFFER_FLAG_DISCONT));
    assert_int_equal(count_of(w, &w->d.counts.undecodable), 2);
}

static void a_cut_frame_is_flagged_when_partial_ones_are_wanted(void **state) {
    struct world *w = *state;

    w->d.output = GST_TLTCP_OUTPUT_PARTIAL;
    frame(w, 'I');
    assert_false(
        GST_BUFFER_FLAG_IS_SET(w->product.buffer, GST_BUFFER_FLAG_CORRUPTED));
    frame_of(w, 0, 'P', FALSE);
    assert_non_null(w->product.buffer);
    assert_true(
        GST_BUFFER_FLAG_IS_SET(w->product.buffer, GST_BUFFER_FLAG_CORRUPTED));
}

static void pictures_wait_for_a_key_frame_when_asked_to(void **state) {
    struct world *w = *state;
    static const char frames[] = "PIPBpPBBIPB";
    static const char handed[] = " IPB    IPB";

    w->d.drop_until_keyframe = TRUE;
    for (gsize i = 0; frames[i]; i++) {
        forget(w);
        memset(&w->product, 0, sizeof(w->product));
        frame(w, frames[i]);
        assert_int_equal(w->product.buffer != NULL, handed[i] != ' ');
    }
    assert_int_equal(count_of(w, &w->d.counts.held_back), 4);
}

/* What refreshes a picture bit by bit is needed from its beginning on. */
static void pictures_go_on_from_a_recovery_point(void **state) {
    struct world *w = *state;
    static const char frames[] = "PIPpPRPPPB";
    static const char handed[] = " IP  RPPPB";

    w->d.drop_until_keyframe = TRUE;
    for (gsize i = 0; frames[i]; i++) {
        forget(w);
        memset(&w->product, 0, sizeof(w->product));
        frame(w, frames[i]);
        assert_int_equal(w->product.buffer != NULL,
                         handed[i] != ' ' && handed[i] != 'p');
    }
    assert_int_equal(count_of(w, &w->d.counts.undecodable), 4);
}

/* Only what says that it refers to a lost branch waits. */
static void a_lost_branch_holds_back_what_names_it(void **state) {
    struct world *w = *state;
    static const char frames[] = "IPVBBPvBBPVBPVB";
    static const char depends[] = "011124112411311";
    static const char handed[] = "IPVBBP   PVBPVB";

    w->d.drop_until_keyframe = TRUE;
    for (gsize i = 0; frames[i]; i++) {
        forget(w);
        memset(&w->product, 0, sizeof(w->product));
        w->depends = (guint32)(depends[i] - '0');
        frame(w, frames[i]);
        assert_int_equal(w->product.buffer != NULL, handed[i] != ' ');
    }
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
    give(w, &h, packet, TRUE, (GstClockTime)(1000 * MS + h.pts));
    assert_non_null(w->product.buffer);
    gst_buffer_extract(w->product.buffer, 0, packet, sizeof(packet));
    assert_int_equal(gst_buffer_get_size(w->product.buffer), sizeof(packet));
    return packet[3] & 0x10; /* there is a payload */
}

static void
pictures_of_a_transport_stream_are_held_back_clocks_are_not(void **state) {
    struct world *w = *state;

    config(w, 0, MEDIA_TYPE_DATA, "video/mpegts, packetsize=(int)188");
    w->d.drop_until_keyframe = TRUE;
    assert_false(ts_frame(w, 'P'));
    assert_true(ts_frame(w, 'I'));
    assert_true(ts_frame(w, 'P'));
    ts_frame(w, 'p');
    assert_false(ts_frame(w, 'P'));
    assert_true(
        GST_BUFFER_FLAG_IS_SET(w->product.buffer, GST_BUFFER_FLAG_DISCONT));
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

static void sections_that_are_no_media_are_handed_on_as_they_are(void **state) {
    struct world *w = *state;
    media_section section = {.data = (uint8_t *)strdup("plain"),
                             .len = 5,
                             .complete = TRUE,
                             .begins = TRUE};

    gst_tltcp_deframer_section(&w->d, &section, 77, &w->product);
    assert_non_null(w->product.buffer);
    assert_int_equal(GST_BUFFER_PTS(w->product.buffer), 77);
    assert_int_equal(gst_buffer_memcmp(w->product.buffer, 0, "plain", 5), 0);
}

static void malformed_sections_are_counted_and_dropped(void **state) {
    struct world *w = *state;
    media_header h = header_of(MEDIA_KIND_CONFIG, 0);
    h.length = 3;

    frame(w, 'I');
    give(w, &h, "???", TRUE, 0);
    assert_null(w->product.buffer);
    h.kind = 9;
    give(w, &h, "???", TRUE, 0);
    assert_null(w->product.buffer);
    media_section section = {.data = (uint8_t *)strdup("plain"),
                             .len = 5,
                             .complete = TRUE,
                             .begins = TRUE};
    gst_tltcp_deframer_section(&w->d, &section, 0, &w->product);
    assert_null(w->product.buffer);
    assert_int_equal(count_of(w, &w->d.counts.refused), 3);
}

static void caps_of_a_stranger_must_be_one_fixed_type(void **state) {
    static const char *const bad[] = {"ANY",
                                      "EMPTY",
                                      "video/x-test; audio/x-test",
                                      "video/x-test, width=(int)[ 1, 9 ]",
                                      "no caps at all",
                                      "\xff\xfe"};
    struct world *w = *state;

    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        gst_tltcp_deframer_restart(&w->d);
        config(w, 0, MEDIA_TYPE_VIDEO, bad[i]);
        frame(w, 'I');
        assert_null(w->product.caps);
        assert_non_null(w->product.buffer);
    }
}

static void caps_are_made_for_senders_that_know_none(void **state) {
    struct world *w = *state;
    media_config c = {.type = MEDIA_TYPE_VIDEO,
                      .codec = {"h264", 4},
                      .width = 640,
                      .height = 360};
    guint8 payload[256];
    media_header h = header_of(MEDIA_KIND_CONFIG, 0);
    gint width = 0;

    h.length = (guint32)media__config_write(&c, payload, sizeof(payload));
    give(w, &h, payload, TRUE, 0);
    frame(w, 'I');
    assert_non_null(w->product.caps);
    const GstStructure *s = gst_caps_get_structure(w->product.caps, 0);
    assert_string_equal(gst_structure_get_name(s), "video/x-h264");
    gst_structure_get_int(s, "width", &width);
    assert_int_equal(width, 640);
}

static void the_end_is_told(void **state) {
    struct world *w = *state;
    media_header h = header_of(MEDIA_KIND_EVENT, 0);
    h.picture = MEDIA_EVENT_EOS;

    frame(w, 'I');
    assert_false(w->product.eos);
    give(w, &h, "", TRUE, 0);
    assert_true(w->product.eos);
}

static void tags(struct world *w, const char *text, gsize len) {
    media_header h = header_of(MEDIA_KIND_EVENT, 0);

    h.picture = MEDIA_EVENT_TAGS;
    h.length = (guint32)len;
    give(w, &h, text, TRUE, 0);
}

static void tags_come_behind_the_caps(void **state) {
    static const char text[] = "taglist, language-code=(string)de";
    struct world *w = *state;
    g_autofree gchar *language = NULL;
    GstTagList *list;

    config(w, 0, MEDIA_TYPE_VIDEO, "video/x-test");
    tags(w, text, strlen(text));
    assert_null(w->product.tags);
    frame(w, 'I');
    assert_non_null(w->product.caps);
    assert_non_null(w->product.tags);
    gst_event_parse_tag(w->product.tags, &list);
    assert_true(
        gst_tag_list_get_string(list, GST_TAG_LANGUAGE_CODE, &language));
    assert_string_equal(language, "de");
    frame(w, 'P');
    assert_null(w->product.tags);
    tags(w, text, strlen(text));
    assert_non_null(w->product.tags); /* new ones, at once */
}

/* Only what is known here, with the type that it has here. */
static void tags_of_a_stranger_are_looked_at(void **state) {
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

    config(w, 0, MEDIA_TYPE_VIDEO, "video/x-test");
    frame(w, 'I');
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        tags(w, texts[i], strlen(texts[i]));
        assert_null(w->product.tags);
    }
    tags(w, "taglist, title=(string)a\0b", 25);
    assert_non_null(w->product.tags); /* up to the zero */
}

static void buffers_are_stamped_by_arrival_when_asked_to(void **state) {
    struct world *w = *state;

    w->d.delivery = GST_TLTCP_DELIVERY_IMMEDIATE;
    frame(w, 'I');
    assert_int_equal(GST_BUFFER_PTS(w->product.buffer), 1000 * MS);
    frame(w, 'P');
    assert_int_equal(GST_BUFFER_PTS(w->product.buffer), 1040 * MS);
}

/* Anything a peer can send; a sanitizer looks on. */
static void no_section_can_do_harm(void **state) {
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
        forget(w);
        gst_tltcp_deframer_section(&w->d, &section, round * (guint64)MS,
                                   &w->product);
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
    give(w, &h, "", TRUE, (GstClockTime)(1000 * MS + h.pts + late));
}

static void frames_that_come_late_are_counted(void **state) {
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

static void a_stranger_does_not_ask_for_any_latency(void **state) {
    struct world *w = *state;
    media_config c = {.type = MEDIA_TYPE_VIDEO, .latency_ms = UINT32_MAX};
    guint8 payload[512];
    media_header h = header_of(MEDIA_KIND_CONFIG, 0);

    h.length = (guint32)media__config_write(&c, payload, sizeof(payload));
    give(w, &h, payload, TRUE, 0);
    assert_true(w->product.latency_changed);
    assert_int_equal(gst_tltcp_deframer_latency(&w->d), 60 * GST_SECOND);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static int init(void **state) {
    (void)state;
    gst_init(NULL, NULL);
    gst_tltcp_meta_register();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        T(caps_come_before_the_first_frame),
        T(video_is_chosen_before_other_streams),
        T(every_stream_has_its_own_caps_and_gaps),
        T(it_is_over_when_all_streams_have_ended),
        T(it_is_not_over_before_all_streams_have_begun),
        T(a_missing_frame_makes_a_gap_event_and_discont),
        T(a_gap_of_the_transport_makes_discont),
        T(frames_that_come_late_are_counted),
        T(a_stranger_does_not_ask_for_any_latency),
        T(a_cut_frame_is_left_out),
        T(a_cut_frame_is_flagged_when_partial_ones_are_wanted),
        T(pictures_wait_for_a_key_frame_when_asked_to),
        T(pictures_go_on_from_a_recovery_point),
        T(a_lost_branch_holds_back_what_names_it),
        T(pictures_of_a_transport_stream_are_held_back_clocks_are_not),
        T(sections_that_are_no_media_are_handed_on_as_they_are),
        T(malformed_sections_are_counted_and_dropped),
        T(caps_of_a_stranger_must_be_one_fixed_type),
        T(caps_are_made_for_senders_that_know_none),
        T(the_end_is_told),
        T(tags_come_behind_the_caps),
        T(tags_of_a_stranger_are_looked_at),
        T(buffers_are_stamped_by_arrival_when_asked_to),
        T(no_section_can_do_harm),
    };
    return cmocka_run_group_tests(tests, init, NULL);
}

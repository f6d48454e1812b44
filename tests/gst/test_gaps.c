/* SPDX-License-Identifier: MPL-2.0 */
/* A sender that writes sections itself, some of them obsolete, and a source. */
#include "tests/gst/support.h"

#include <tltcp/socket.h>

#include "internal/media/codec/framing.h"

struct sender {
    GstHarness *src;
    tltcp_socket *socket;
    guint32 number;
    guint64 gaps;
    guint64 gap_bytes;
};

static void on_gap(GstElement *e, guint64 position, guint64 size,
                   gpointer user) {
    struct sender *s = user;

    (void)e;
    (void)position;
    s->gaps++;
    s->gap_bytes += size;
}

static void begin(struct sender *s, const char *query) {
    g_autofree char *port = NULL;
    tltcp_config config;

    memset(s, 0, sizeof(*s));
    s->src = support_listener("tltcpsrc", query);
    g_signal_connect(s->src->element, "gap", G_CALLBACK(on_gap), s);
    port = g_strdup_printf("%u", support_port(s->src->element));
    tltcp_config_init(&config);
    assert_int_equal(
        tltcp_connect(&s->socket, "127.0.0.1", port, &config, PATIENCE_MS), 0);
}

static void end(struct sender *s) {
    tltcp_close(s->socket, 2000);
    support_stop(s->src);
}

static void write_section(struct sender *s, void *data, gsize len,
                          tltcp_time deadline) {
    union {
        struct cmsghdr head;
        guint8 room[CMSG_SPACE(sizeof(tltcp_time))];
    } control = {0};
    struct iovec iov = {data, len};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control.room)};

    control.head.cmsg_level = SOL_TLTCP;
    control.head.cmsg_type = TL_DEADLINE;
    control.head.cmsg_len = CMSG_LEN(sizeof(deadline));
    memcpy(CMSG_DATA(&control.head), &deadline, sizeof(deadline));
    assert_int_equal(tltcp_sendmsg(s->socket, &msg, MSG_TL), len);
}

static void frame(struct sender *s, unsigned frame_class, gsize len,
                  gboolean obsolete) {
    g_autofree guint8 *data = g_malloc0(MEDIA_HEADER_LEN + len);
    media_header h = {.kind = MEDIA_KIND_FRAME,
                      .frame_class = (guint8)frame_class,
                      .number = s->number,
                      .refs = s->number,
                      .length = (guint32)len,
                      .pts = s->number * INT64_C(40000000),
                      .dts = s->number * INT64_C(40000000),
                      .duration = 40000000};

    s->number++;
    media__header_write(&h, data);
    write_section(s, data, MEDIA_HEADER_LEN + len,
                  obsolete ? 1 : TLTCP_TIME_NEVER);
}

TEST(an_obsolete_frame_is_a_gap_with_its_size) {
    struct sender s;
    GstStructure *stats = NULL;
    guint64 value = 0;

    begin(&s, "latency=100");
    frame(&s, MEDIA_CLASS_KEY, 100, FALSE);
    gst_buffer_unref(support_pull(s.src));
    frame(&s, MEDIA_CLASS_REFERENCE, 5000, TRUE);
    frame(&s, MEDIA_CLASS_KEY, 300, FALSE);
    GstBuffer *got = support_pull(s.src);
    assert_int_equal(gst_buffer_get_size(got), 300);
    assert_true(GST_BUFFER_FLAG_IS_SET(got, GST_BUFFER_FLAG_DISCONT));
    gst_buffer_unref(got);
    gst_event_unref(support_pull_event(s.src, GST_EVENT_GAP));
    assert_int_equal(s.gaps, 1);
    assert_int_equal(s.gap_bytes, MEDIA_HEADER_LEN + 5000);
    g_object_get(s.src->element, "stats", &stats, NULL);
    assert_true(gst_structure_get_uint64(stats, "gap-bytes", &value));
    assert_int_equal(value, MEDIA_HEADER_LEN + 5000);
    assert_true(gst_structure_get_uint64(stats, "frames-missing", &value));
    assert_int_equal(value, 1);
    assert_true(
        gst_structure_get_uint64(stats, "frames-missing-references", &value));
    assert_int_equal(value, 1);
    gst_structure_free(stats);
    end(&s);
}

TEST(what_needs_a_lost_frame_is_held_back_when_asked_to) {
    struct sender s;

    begin(&s, "latency=100&drop-until-keyframe=true");
    frame(&s, MEDIA_CLASS_KEY, 1, FALSE);
    frame(&s, MEDIA_CLASS_REFERENCE, 2, TRUE);
    frame(&s, MEDIA_CLASS_REFERENCE, 3, FALSE);
    frame(&s, MEDIA_CLASS_KEY, 4, FALSE);
    for (gsize expected = 1; expected <= 4; expected += 3) {
        GstBuffer *got = support_pull(s.src);
        assert_int_equal(gst_buffer_get_size(got), expected);
        gst_buffer_unref(got);
    }
    end(&s);
}

TEST(plain_sections_are_buffers) {
    struct sender s;
    char text[] = "just bytes";

    begin(&s, "latency=100");
    write_section(&s, text, sizeof(text), TLTCP_TIME_NEVER);
    GstBuffer *got = support_pull(s.src);
    assert_int_equal(gst_buffer_memcmp(got, 0, text, sizeof(text)), 0);
    assert_int_equal(gst_buffer_get_size(got), sizeof(text));
    gst_buffer_unref(got);
    end(&s);
}

TEST(a_connection_that_ends_in_order_ends_the_stream) {
    struct sender s;

    begin(&s, "latency=100");
    frame(&s, MEDIA_CLASS_KEY, 100, FALSE);
    tltcp_close(s.socket, 5000);
    gst_buffer_unref(support_pull(s.src));
    gst_event_unref(support_pull_event(s.src, GST_EVENT_EOS));
    support_stop(s.src);
}

static void
a_connection_that_breaks_off_is_told_and_ends_the_stream(void **state) {
    struct sender s;

    (void)state;
    begin(&s, "latency=100");
    GstBus *bus = support_bus(s.src);
    frame(&s, MEDIA_CLASS_KEY, 100, FALSE);
    gst_buffer_unref(support_pull(s.src));
    frame(&s, MEDIA_CLASS_KEY, 1000000, FALSE);
    tltcp_close(s.socket, 0);
    gst_event_unref(support_pull_event(s.src, GST_EVENT_EOS));
    support_wait_state(bus, "lost");
    gst_object_unref(bus);
    support_stop(s.src);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_obsolete_frame_is_a_gap_with_its_size),
        cmocka_unit_test(what_needs_a_lost_frame_is_held_back_when_asked_to),
        cmocka_unit_test(plain_sections_are_buffers),
        cmocka_unit_test(a_connection_that_ends_in_order_ends_the_stream),
        cmocka_unit_test(
            a_connection_that_breaks_off_is_told_and_ends_the_stream),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Connections that fail, and what the application hears of it. */
#include "tests/gst/support.h"

#include <gio/gio.h>
#include <netinet/in.h>
#include <tltcp/socket.h>

#define MS GST_MSECOND

/* A port that was free a moment ago and that nobody listens on. */
static guint free_port(void) {
    g_autoptr(GSocket) s =
        g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM,
                     G_SOCKET_PROTOCOL_UDP, NULL);
    g_autoptr(GInetAddress) any =
        g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
    g_autoptr(GSocketAddress) a = g_inet_socket_address_new(any, 0);

    assert_true(g_socket_bind(s, a, FALSE, NULL));
    g_autoptr(GSocketAddress) bound = g_socket_get_local_address(s, NULL);
    return g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
}

TEST(errors_name_their_cause) {
    g_autofree char *absent = g_strdup_printf(
        "tltcp://127.0.0.1:%u?auto-reconnect=false", free_port());
    GstHarness *other = support_listener("tltcpsrc", "latency=1");
    g_autofree char *taken = g_strdup_printf(
        "tltcp://127.0.0.1:%u?mode=listener", support_port(other->element));

    support_fails_at("tltcpsink", absent, GST_RESOURCE_ERROR_OPEN_WRITE,
                     "127.0.0.1");
    support_fails_at("tltcpsrc", absent, GST_RESOURCE_ERROR_OPEN_READ,
                     "127.0.0.1");
    support_fails_at("tltcpsrc", taken, GST_RESOURCE_ERROR_BUSY, "in use");
    support_fails_at("tltcpsink", taken, GST_RESOURCE_ERROR_BUSY, "in use");
    support_fails_at("tltcpsink", "tltcp://no-such-host.invalid:7",
                     GST_RESOURCE_ERROR_NOT_FOUND, "no-such-host.invalid");
    support_stop(other);
}

static bool refuse(void *user, const tltcp_caller *caller, char *reason) {
    (void)user;
    (void)caller;
    g_strlcpy(reason, "go \xff\xc2\x9b away", TLTCP_REASON_MAX + 1);
    return false;
}

/* GStreamer's structures take nothing else, and somebody prints it. */
TEST(text_from_a_peer_is_made_printable) {
    tltcp_socket *listener = NULL;
    struct sockaddr_in at;
    socklen_t len = sizeof(at);
    tltcp_config config;

    tltcp_config_init(&config);
    config.listener.on_caller = refuse;
    assert_int_equal(tltcp_listen(&listener, "127.0.0.1", "0", &config), 0);
    assert_int_equal(
        tltcp_local_address(listener, (struct sockaddr *)&at, &len), 0);
    g_autofree char *uri = g_strdup_printf(
        "tltcp://127.0.0.1:%u?auto-reconnect=false", g_ntohs(at.sin_port));
    support_fails_at("tltcpsink", uri, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
                     "go ?? away");
    support_fails_at("tltcpsrc", uri, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
                     "go ?? away");
    assert_int_equal(tltcp_close(listener, 0), 0);
}

static void
an_unknown_controller_is_named_when_set_as_a_property(void **state) {
    (void)state;
    support_fails_with("congestion-control", "magic", "reno");
    support_fails_with("qlog-dir", "/nonexistent", "folder");
}

/* Ever rarer, so that it is not only said at the top of a long log. */
static void warns_again_of_calls_in_vain(const char *name) {
    g_autofree char *uri = g_strdup_printf("tltcp://127.0.0.1:%u", free_port());
    GstElement *e = support_element(name, uri);
    GstBus *bus = gst_bus_new();
    const char *words[] = {"with 127.0.0.1:", "after 2 attempts",
                           "after 4 attempts"};

    gst_element_set_bus(e, bus);
    g_object_set(e, "async", FALSE, NULL);
    gst_element_set_state(e, GST_STATE_PLAYING);
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        g_autoptr(GError) warning = NULL;
        GstMessage *m =
            gst_bus_timed_pop_filtered(bus, PATIENCE, GST_MESSAGE_WARNING);
        assert_non_null(m);
        gst_message_parse_warning(m, &warning, NULL);
        assert_non_null(strstr(warning->message, words[i]));
        gst_message_unref(m);
    }
    gst_element_set_state(e, GST_STATE_NULL);
    gst_element_set_bus(e, NULL);
    gst_object_unref(bus);
    gst_object_unref(e);
}

TEST(a_sink_warns_again_while_nobody_answers) {
    warns_again_of_calls_in_vain("tltcpsink");
}

TEST(a_source_warns_again_while_nobody_answers) {
    warns_again_of_calls_in_vain("tltcpsrc");
}

TEST(a_sink_that_waits_for_callers_can_be_stopped) {
    GstElement *pipeline =
        gst_parse_launch("videotestsrc ! video/x-raw,width=16,height=16 ! "
                         "tltcpsink uri=tltcp://127.0.0.1:0?mode=listener",
                         NULL);

    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    gst_element_get_state(pipeline, NULL, NULL, PATIENCE);
    assert_int_equal(gst_element_set_state(pipeline, GST_STATE_NULL),
                     GST_STATE_CHANGE_SUCCESS);
    gst_object_unref(pipeline);
}

TEST(a_source_that_waits_can_be_stopped) {
    GstHarness *h = support_listener("tltcpsrc", "latency=1");

    assert_int_equal(gst_element_set_state(h->element, GST_STATE_NULL),
                     GST_STATE_CHANGE_SUCCESS);
    support_stop(h);
}

/* A frame arrives, then the source is gone. */
static void lose_source(GstHarness *sink, GstHarness *src) {
    gst_harness_set_src_caps_str(sink, SUPPORT_H264_CAPS);
    support_push(sink, support_frame('I', 'a', 40 * MS, 0));
    support_expect(src, "a");
    support_stop(src);
}

TEST(a_sink_calls_again_when_the_connection_is_lost) {
    GstHarness *src = support_listener("tltcpsrc", "latency=60000");
    g_autofree char *uri = g_strdup_printf("tltcp://127.0.0.1:%u?mode=listener",
                                           support_port(src->element));
    GstHarness *sink = support_caller("tltcpsink", src->element, "");
    GstBus *bus = support_bus(sink);

    lose_source(sink, src);
    support_wait_state(bus, "lost");
    src = support_harness(support_element("tltcpsrc", uri));
    gst_harness_play(src);
    support_wait_state(bus, "connected");
    support_push(sink, support_frame('P', 'b', 80 * MS, 40 * MS));
    support_push(sink, support_frame('I', 'c', 120 * MS, 80 * MS));
    support_expect(src, "c");
    assert_true(gst_pad_has_current_caps(src->sinkpad));
    gst_object_unref(bus);
    support_stop(sink);
    support_stop(src);
}

static GstHarness *listening_sink(const char *uri) {
    GstHarness *sink = support_harness(support_element("tltcpsink", uri));

    gst_harness_play(sink);
    gst_harness_set_src_caps_str(sink, SUPPORT_H264_CAPS);
    return sink;
}

/* A sender that is stopped has not ended its stream. */
TEST(a_source_calls_again_when_its_sender_was_stopped) {
    GstHarness *sink = listening_sink("tltcp://127.0.0.1:0?mode=listener");
    g_autofree char *uri = g_strdup_printf("tltcp://127.0.0.1:%u?mode=listener",
                                           support_port(sink->element));
    GstHarness *src = support_caller("tltcpsrc", sink->element, "latency=100");
    GstBus *bus = support_bus(src);

    support_push(sink, support_frame('I', 'a', 40 * MS, 0));
    support_expect(src, "a");
    support_stop(sink);
    support_wait_state(bus, "lost");
    sink = listening_sink(uri);
    support_wait_state(bus, "connected");
    support_push(sink, support_frame('I', 'b', 40 * MS, 0));
    GstBuffer *got = support_pull(src);
    assert_int_equal(support_mark(got), 'b');
    assert_true(GST_BUFFER_FLAG_IS_SET(got, GST_BUFFER_FLAG_DISCONT));
    gst_buffer_unref(got);
    gst_harness_push_event(sink, gst_event_new_eos());
    gst_event_unref(support_pull_event(src, GST_EVENT_EOS));
    gst_object_unref(bus);
    support_stop(sink);
    support_stop(src);
}

TEST(without_reconnecting_a_source_ends_with_its_sender) {
    GstHarness *sink = listening_sink("tltcp://127.0.0.1:0?mode=listener");
    GstHarness *src =
        support_caller("tltcpsrc", sink->element, "auto-reconnect=false");

    support_push(sink, support_frame('I', 'a', 40 * MS, 0));
    support_expect(src, "a");
    support_stop(sink);
    gst_event_unref(support_pull_event(src, GST_EVENT_EOS));
    support_stop(src);
}

TEST(without_reconnecting_a_lost_connection_is_an_error) {
    GstHarness *src = support_listener("tltcpsrc", "latency=60000");
    GstHarness *sink =
        support_caller("tltcpsink", src->element, "auto-reconnect=false");
    GstBus *bus = support_bus(sink);

    lose_source(sink, src);
    support_expect_error(bus, GST_RESOURCE_ERROR_WRITE, "failed");
    assert_int_equal(
        gst_harness_push(sink, support_frame('P', 'b', 80 * MS, 40 * MS)),
        GST_FLOW_ERROR);
    gst_object_unref(bus);
    support_stop(sink);
}

TEST(elements_come_and_go_a_hundred_times) {
    for (guint i = 0; i < 100; i++) {
        GstElement *e =
            gst_element_factory_make(i % 2 ? "tltcpsink" : "tltcpsrc", NULL);
        g_object_set(e, "uri", "tltcp://127.0.0.1:0?mode=listener", NULL);
        if (i % 4 > 1) {
            gst_element_set_state(e, GST_STATE_PAUSED);
        }
        gst_element_set_state(e, GST_STATE_NULL);
        gst_object_unref(e);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_their_cause),
        cmocka_unit_test(text_from_a_peer_is_made_printable),
        cmocka_unit_test(an_unknown_controller_is_named_when_set_as_a_property),
        cmocka_unit_test(a_sink_warns_again_while_nobody_answers),
        cmocka_unit_test(a_source_warns_again_while_nobody_answers),
        cmocka_unit_test(a_sink_that_waits_for_callers_can_be_stopped),
        cmocka_unit_test(a_source_that_waits_can_be_stopped),
        cmocka_unit_test(a_sink_calls_again_when_the_connection_is_lost),
        cmocka_unit_test(a_source_calls_again_when_its_sender_was_stopped),
        cmocka_unit_test(without_reconnecting_a_source_ends_with_its_sender),
        cmocka_unit_test(without_reconnecting_a_lost_connection_is_an_error),
        cmocka_unit_test(elements_come_and_go_a_hundred_times),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}

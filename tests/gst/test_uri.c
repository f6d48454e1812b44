/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/gst/support.h"

#include <gio/gio.h>

static guint get_uint(GstElement *e, const char *name) {
    guint value = 0;
    g_object_get(e, name, &value, NULL);
    return value;
}

static int get_enum(GstElement *e, const char *name) {
    int value = -1;
    g_object_get(e, name, &value, NULL);
    return value;
}

static gboolean get_boolean(GstElement *e, const char *name) {
    gboolean value = FALSE;
    g_object_get(e, name, &value, NULL);
    return value;
}

static void assert_text(GstElement *e, const char *name, const char *expected) {
    g_autofree char *value = NULL;
    g_object_get(e, name, &value, NULL);
    assert_string_equal(value, expected);
}

TEST(every_key_of_a_sink_is_a_property) {
    const char *uri = "tltcp://example.org:5000?latency=300&streamid=cam1"
                      "&deadline-mode=gop&drop-policy=until-keyframe"
                      "&max-send-bitrate=2000000&initial-window=375"
                      "&auto-reconnect=false"
                      "&congestion-control=reno&wait-for-connection=0"
                      "&force-key-unit=no&reference-grace=50&fec=off"
                      "&transport=auto";
    GstElement *e = support_element("tltcpsink", uri);
    guint64 rate = 0;

    assert_text(e, "uri", uri);
    assert_text(e, "streamid", "cam1");
    assert_text(e, "congestion-control", "reno");
    assert_int_equal(get_enum(e, "mode"), 1);
    assert_int_equal(get_uint(e, "latency"), 300);
    assert_int_equal(get_enum(e, "deadline-mode"), 1);
    assert_int_equal(get_enum(e, "drop-policy"), 2);
    assert_int_equal(get_uint(e, "reference-grace"), 50);
    assert_int_equal(get_uint(e, "initial-window"), 375);
    assert_int_equal(get_enum(e, "fec"), 1);
    assert_int_equal(get_enum(e, "transport"), 1);
    assert_false(get_boolean(e, "auto-reconnect"));
    assert_false(get_boolean(e, "wait-for-connection"));
    assert_false(get_boolean(e, "force-key-unit"));
    g_object_get(e, "max-send-bitrate", &rate, NULL);
    assert_int_equal(rate, 2000000);
    gst_object_unref(e);
}

static void expect_transport(const char *uri, int transport) {
    GstElement *e = gst_element_make_from_uri(GST_URI_SINK, uri, NULL, NULL);
    assert_non_null(e);
    assert_text(e, "uri", uri);
    assert_int_equal(get_enum(e, "transport"), transport);
    gst_object_unref(e);
}

TEST(a_uri_names_the_transport) {
    expect_transport("tltcp://example.org:5000", 0);
    expect_transport("tltcp://example.org:5000?transport=auto", 1);
    expect_transport("tltcp+tcp://example.org:5000", 2);
}

TEST(every_key_of_a_source_is_a_property) {
    GstElement *e = support_element(
        "tltcpsrc", "tltcp://127.0.0.1:5001?mode=listener&keep-listening=true"
                    "&output=partial&delivery=immediate"
                    "&drop-until-keyframe=yes&latency=7&fec=on");

    assert_int_equal(get_enum(e, "mode"), 2);
    assert_text(e, "localaddress", "127.0.0.1");
    assert_int_equal(get_uint(e, "localport"), 5001);
    assert_true(get_boolean(e, "keep-listening"));
    assert_int_equal(get_enum(e, "output"), 1);
    assert_int_equal(get_enum(e, "delivery"), 1);
    assert_true(get_boolean(e, "drop-until-keyframe"));
    assert_int_equal(get_uint(e, "latency"), 7);
    assert_int_equal(get_enum(e, "fec"), 2);
    gst_object_unref(e);
}

TEST(enumerations_are_taken_by_number_too) {
    GstElement *e = support_element("tltcpsink", "tltcp://h:1?deadline-mode=2");

    assert_int_equal(get_enum(e, "deadline-mode"), 2);
    gst_object_unref(e);
}

TEST(a_uri_without_host_is_a_listener) {
    GstElement *e = support_element("tltcpsrc", "tltcp://:7002");

    assert_int_equal(get_enum(e, "mode"), 2);
    assert_int_equal(get_uint(e, "localport"), 7002);
    gst_object_unref(e);
}

TEST(escaped_values_are_unescaped) {
    GstElement *e =
        support_element("tltcpsink", "tltcp://h:1?streamid=a%20b%26c%3d1");

    assert_text(e, "streamid", "a b&c=1");
    gst_object_unref(e);
}

TEST(mode_and_port_may_be_set_as_properties) {
    GstElement *e = support_element("tltcpsrc", "tltcp://127.0.0.1:7003");

    g_object_set(e, "mode", 2, NULL);
    assert_int_equal(get_uint(e, "localport"), 7003);
    g_object_set(e, "localport", 7004, NULL);
    assert_int_equal(get_uint(e, "localport"), 7004);
    gst_object_unref(e);
}

/* An error, and a word that the message must contain. */
static const struct {
    const char *element;
    const char *uri;
    const char *word;
} refused[] = {
    {"tltcpsink", "tltcp://h:1?bogus=1", "bogus"},
    {"tltcpsink", "tltcp://h:1?latency=soon", "latency"},
    {"tltcpsink", "tltcp://h:1?latency=-1", "latency"},
    {"tltcpsink", "tltcp://h:1?latency=0", "1 to 2147483647"},
    {"tltcpsrc", "tltcp://h:1?latency=0", "1 to 2147483647"},
    {"tltcpsink", "tltcp://h:1?latency=200ms", "number"},
    {"tltcpsink", "tltcp://h:1?latency=4294967296", "2147483647"},
    {"tltcpsink", "tltcp://h:1?latency=", "latency"},
    {"tltcpsink", "tltcp://h:1?latency", "latency"},
    {"tltcpsink", "tltcp://h:1?auto-reconnect=maybe", "true or false"},
    {"tltcpsink", "tltcp://h:1?deadline-mode=later", "gop"},
    {"tltcpsink", "tltcp://h:1?mode=rendezvous", "listener"},
    {"tltcpsink", "tltcp://h:1?congestion-control=magic", "reno"},
    {"tltcpsink", "tltcp://h:1?fec=maybe", "auto, off, on"},
    {"tltcpsink", "tltcp://h:1?stats=1", "stats"},
    {"tltcpsink", "tltcp://h:1?uri=x", "uri"},
    {"tltcpsink", "tltcp://h:1?sync=false", "sync"},
    {"tltcpsink", "tltcp://h:1?keep-listening=true", "keep-listening"},
    {"tltcpsrc", "tltcp://h:1?deadline-mode=gop", "deadline-mode"},
    {"tltcpsink", "tltcp://h:99999", "port"},
    {"tltcpsink", "tltcp://h:-1", "PORT"},
    {"tltcpsink", "tltcp://h:", "port"},
    {"tltcpsink", "tltcp://h", "port"},
    {"tltcpsink", "tltcp://h:12ab", "PORT"},
    {"tltcpsink", "tltcp://h:0", "port"},
    {"tltcpsink", "tltcp://:1?mode=caller", "host"},
    {"tltcpsink", "srt://h:1", "URI"},
    {"tltcpsink", "nonsense", "URI"},
    {"tltcpsink", "", "URI"},
};

TEST(wrong_uris_are_refused_with_the_cause) {
    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
        GstElement *e = gst_element_factory_make(refused[i].element, NULL);
        GError *error = NULL;
        if (gst_uri_handler_set_uri(GST_URI_HANDLER(e), refused[i].uri,
                                    &error)) {
            fail_msg("%s was taken", refused[i].uri);
        }
        assert_non_null(error);
        if (!strstr(error->message, refused[i].word)) {
            fail_msg("%s: \"%s\" does not say %s", refused[i].uri,
                     error->message, refused[i].word);
        }
        g_error_free(error);
        gst_object_unref(e);
    }
}

static void expect_no_start(const char *name) {
    GstElement *e = support_element(name, "tltcp://127.0.0.1:9");
    GstBus *bus = gst_bus_new();

    gst_element_set_bus(e, bus);
    g_object_set(e, "latency", 0, NULL);
    assert_int_equal(gst_element_set_state(e, GST_STATE_PAUSED),
                     GST_STATE_CHANGE_FAILURE);
    support_expect_error(bus, GST_RESOURCE_ERROR_SETTINGS, "1 to 2147483647");
    gst_element_set_state(e, GST_STATE_NULL);
    gst_element_set_bus(e, NULL);
    gst_object_unref(bus);
    gst_object_unref(e);
}

TEST(nothing_could_arrive_in_no_time) {
    expect_no_start("tltcpsink");
    expect_no_start("tltcpsrc");
}

TEST(a_refused_uri_changes_nothing) {
    GstElement *e = support_element("tltcpsink", "tltcp://h:1?latency=7");

    assert_false(gst_uri_handler_set_uri(
        GST_URI_HANDLER(e), "tltcp://i:2?latency=8&bogus=1", NULL));
    assert_text(e, "uri", "tltcp://h:1?latency=7");
    assert_int_equal(get_uint(e, "latency"), 7);
    gst_object_unref(e);
}

/* A property cannot be refused: that is said when the element starts, which
 * would else call whom nobody named. */
TEST(an_element_does_not_start_with_a_refused_uri) {
    GstElement *e = gst_element_factory_make("tltcpsink", NULL);
    GstBus *bus = gst_bus_new();

    gst_element_set_bus(e, bus);
    g_object_set(e, "async", FALSE, NULL);
    g_test_expect_message(NULL, G_LOG_LEVEL_WARNING, "*bogus*");
    g_object_set(e, "uri", "tltcp://127.0.0.1:9?bogus=1", NULL);
    g_test_assert_expected_messages();
    assert_int_equal(gst_element_set_state(e, GST_STATE_PLAYING),
                     GST_STATE_CHANGE_FAILURE);
    support_expect_error(bus, GST_RESOURCE_ERROR_SETTINGS,
                         "Cannot start: Bad URI: bogus=1: no such key");
    gst_element_set_state(e, GST_STATE_NULL);
    g_object_set(e, "uri", "tltcp://127.0.0.1:9", NULL);
    assert_int_not_equal(gst_element_set_state(e, GST_STATE_PLAYING),
                         GST_STATE_CHANGE_FAILURE);
    gst_element_set_state(e, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(e);
}

TEST(elements_are_made_from_uris) {
    GstElement *sink =
        gst_element_make_from_uri(GST_URI_SINK, "tltcp://h:1", NULL, NULL);
    GstElement *src =
        gst_element_make_from_uri(GST_URI_SRC, "tltcp://h:1", NULL, NULL);

    assert_non_null(sink);
    assert_non_null(src);
    assert_string_equal(G_OBJECT_TYPE_NAME(sink), "GstTltcpSink");
    assert_string_equal(G_OBJECT_TYPE_NAME(src), "GstTltcpSrc");
    gst_object_unref(sink);
    gst_object_unref(src);
}

TEST(a_running_element_keeps_its_uri) {
    GstHarness *h = support_listener("tltcpsrc", "latency=10");
    g_autoptr(GError) error = NULL;

    assert_false(gst_uri_handler_set_uri(GST_URI_HANDLER(h->element),
                                         "tltcp://h:1", &error));
    assert_int_equal(error->code, GST_URI_ERROR_BAD_STATE);
    support_stop(h);
}

/* A port that was free a moment ago. */
static guint free_port(void) {
    GSocket *socket = g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM,
                                   G_SOCKET_PROTOCOL_UDP, NULL);
    GInetAddress *loopback = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
    GSocketAddress *any = g_inet_socket_address_new(loopback, 0);

    assert_true(g_socket_bind(socket, any, FALSE, NULL));
    GSocketAddress *bound = g_socket_get_local_address(socket, NULL);
    guint port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
    g_object_unref(bound);
    g_object_unref(any);
    g_object_unref(loopback);
    g_object_unref(socket);
    return port;
}

static void on_caller(GstElement *e, int unused, GSocketAddress *address,
                      gpointer user) {
    (void)e;
    (void)unused;
    g_async_queue_push(user, GUINT_TO_POINTER(g_inet_socket_address_get_port(
                                 G_INET_SOCKET_ADDRESS(address))));
}

TEST(a_caller_calls_from_its_local_port) {
    GstHarness *sink = support_listener("tltcpsink", "latency=10");
    GAsyncQueue *callers = g_async_queue_new();
    guint port = free_port();
    g_autofree char *query =
        g_strdup_printf("localaddress=127.0.0.1&localport=%u", port);

    g_signal_connect(sink->element, "caller-added", G_CALLBACK(on_caller),
                     callers);
    GstHarness *src = support_caller("tltcpsrc", sink->element, query);
    assert_int_equal(
        GPOINTER_TO_UINT(g_async_queue_timeout_pop(callers, PATIENCE / 1000)),
        port);
    support_stop(src);
    support_stop(sink);
    g_async_queue_unref(callers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_of_a_sink_is_a_property),
        cmocka_unit_test(a_uri_names_the_transport),
        cmocka_unit_test(every_key_of_a_source_is_a_property),
        cmocka_unit_test(enumerations_are_taken_by_number_too),
        cmocka_unit_test(a_uri_without_host_is_a_listener),
        cmocka_unit_test(escaped_values_are_unescaped),
        cmocka_unit_test(mode_and_port_may_be_set_as_properties),
        cmocka_unit_test(wrong_uris_are_refused_with_the_cause),
        cmocka_unit_test(nothing_could_arrive_in_no_time),
        cmocka_unit_test(a_refused_uri_changes_nothing),
        cmocka_unit_test(an_element_does_not_start_with_a_refused_uri),
        cmocka_unit_test(elements_are_made_from_uris),
        cmocka_unit_test(a_running_element_keeps_its_uri),
        cmocka_unit_test(a_caller_calls_from_its_local_port),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}

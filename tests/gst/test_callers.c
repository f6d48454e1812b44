/* SPDX-License-Identifier: MPL-2.0 */
/* A listening sink and those who call it, and what becomes of connections. */
#include "tests/gst/support.h"

#include <gio/gio.h>
#include <gst/video/video.h>

#include <tltcp/socket.h>

#define MS GST_MSECOND

/* A count that other threads raise. */
struct counter {
    GMutex lock;
    GCond changed;
    int value;
};

static void counter_add(struct counter *c) {
    g_mutex_lock(&c->lock);
    c->value++;
    g_cond_broadcast(&c->changed);
    g_mutex_unlock(&c->lock);
}

static void counter_wait(struct counter *c, int value) {
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;

    g_mutex_lock(&c->lock);
    while (c->value < value) {
        if (!g_cond_wait_until(&c->changed, &c->lock, end)) {
            fail_msg("%d instead of %d", c->value, value);
        }
    }
    g_mutex_unlock(&c->lock);
}

static void on_caller(GstElement *e, int unused, GSocketAddress *address,
                      gpointer user) {
    (void)e;
    (void)unused;
    if (G_IS_INET_SOCKET_ADDRESS(address)) {
        counter_add(user);
    }
}

static void push(GstHarness *sink, GstBuffer *buffer) {
    assert_int_equal(gst_harness_push(sink, buffer), GST_FLOW_OK);
}

static GstHarness *listening_sink(const char *query, struct counter *added,
                                  struct counter *removed) {
    g_autofree char *uri =
        g_strdup_printf("tltcp://127.0.0.1:0?mode=listener&%s", query);
    GstHarness *h = support_harness(support_element("tltcpsink", uri));

    g_signal_connect(h->element, "caller-added", G_CALLBACK(on_caller), added);
    g_signal_connect(h->element, "caller-removed", G_CALLBACK(on_caller),
                     removed);
    gst_harness_play(h);
    gst_harness_set_src_caps_str(h, SUPPORT_H264_CAPS);
    return h;
}

static void assert_marks(GstHarness *src, const char *marks) {
    for (; *marks; marks++) {
        GstBuffer *got = support_pull(src);
        assert_int_equal(support_mark(got), *marks);
        gst_buffer_unref(got);
    }
}

static guint count_callers(GstElement *sink) {
    GstStructure *s = NULL;
    guint n;

    g_object_get(sink, "stats", &s, NULL);
    G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    GValueArray *callers =
        g_value_get_boxed(gst_structure_get_value(s, "callers"));
    n = callers->n_values;
    for (guint i = 0; i < n; i++) {
        const GstStructure *one =
            g_value_get_boxed(g_value_array_get_nth(callers, i));
        assert_true(gst_structure_has_field_typed(one, "caller-address",
                                                  G_TYPE_SOCKET_ADDRESS));
        assert_true(gst_structure_has_field(one, "rtt-us"));
    }
    G_GNUC_END_IGNORE_DEPRECATIONS
    gst_structure_free(s);
    return n;
}

static void a_listener_serves_several_callers(void **state) {
    struct counter added = {0};
    struct counter removed = {0};
    GstHarness *sink = listening_sink("latency=5000", &added, &removed);
    GstHarness *src[3];

    (void)state;
    for (guint i = 0; i < 3; i++) {
        src[i] = support_caller("tltcpsrc", sink->element, "latency=5000");
    }
    counter_wait(&added, 3);
    assert_int_equal(count_callers(sink->element), 3);
    push(sink, support_frame('I', 'a', 40 * MS, 0));
    push(sink, support_frame('P', 'b', 80 * MS, 40 * MS));
    for (guint i = 0; i < 3; i++) {
        assert_marks(src[i], "ab");
    }
    gst_harness_teardown(src[1]);
    counter_wait(&removed, 1);
    assert_int_equal(count_callers(sink->element), 2);
    push(sink, support_frame('P', 'c', 120 * MS, 80 * MS));
    assert_marks(src[0], "c");
    assert_marks(src[2], "c");
    gst_harness_push_event(sink, gst_event_new_eos());
    gst_event_unref(support_pull_event(src[0], GST_EVENT_EOS));
    gst_event_unref(support_pull_event(src[2], GST_EVENT_EOS));
    gst_harness_teardown(sink);
    gst_harness_teardown(src[0]);
    gst_harness_teardown(src[2]);
}

static void who_joins_later_begins_with_caps_and_a_key_frame(void **state) {
    struct counter added = {0};
    struct counter removed = {0};
    GstHarness *sink = listening_sink("latency=5000", &added, &removed);
    GstHarness *first = support_caller("tltcpsrc", sink->element, "");

    (void)state;
    counter_wait(&added, 1);
    push(sink, support_frame('I', 'a', 40 * MS, 0));
    push(sink, support_frame('P', 'b', 80 * MS, 40 * MS));
    GstHarness *late = support_caller("tltcpsrc", sink->element, "");
    counter_wait(&added, 2);
    push(sink, support_frame('P', 'c', 120 * MS, 80 * MS));
    push(sink, support_frame('B', 'd', 160 * MS, 160 * MS));
    push(sink, support_frame('I', 'e', 200 * MS, 160 * MS));
    push(sink, support_frame('P', 'f', 240 * MS, 200 * MS));
    assert_marks(first, "abcdef");
    assert_marks(late, "ef");
    assert_true(gst_pad_has_current_caps(late->sinkpad));
    gst_harness_teardown(sink);
    gst_harness_teardown(first);
    gst_harness_teardown(late);
}

static void stream_headers_are_given_to_all_who_join(void **state) {
    struct counter added = {0};
    struct counter removed = {0};
    GstHarness *sink = listening_sink("latency=5000", &added, &removed);
    GstHarness *src[2];

    (void)state;
    gst_harness_set_src_caps_str(
        sink, "application/x-test, streamheader=(buffer)< 68656164 >");
    src[0] = support_caller("tltcpsrc", sink->element, "");
    counter_wait(&added, 1);
    GstBuffer *header = gst_buffer_new_memdup("head", 4);
    GST_BUFFER_FLAG_SET(header, GST_BUFFER_FLAG_HEADER);
    GST_BUFFER_PTS(header) = 0;
    push(sink, header);
    push(sink, support_buffer(1, 10, 0, 0, 0));
    src[1] = support_caller("tltcpsrc", sink->element, "");
    counter_wait(&added, 2);
    push(sink, support_buffer(2, 10, 40 * MS, 40 * MS, 0));
    for (guint i = 0; i < 2; i++) {
        GstBuffer *got = support_pull(src[i]);
        assert_int_equal(gst_buffer_memcmp(got, 0, "head", 4), 0);
        assert_true(GST_BUFFER_FLAG_IS_SET(got, GST_BUFFER_FLAG_HEADER));
        gst_buffer_unref(got);
        got = support_pull(src[i]);
        guint8 byte = (guint8)(i + 1); /* the header came once, not twice */
        assert_int_equal(gst_buffer_memcmp(got, 0, &byte, 1), 0);
        gst_buffer_unref(got);
    }
    gst_harness_teardown(sink);
    gst_harness_teardown(src[0]);
    gst_harness_teardown(src[1]);
}

/* The other caller is a plain connection that nobody reads from. */
static void a_caller_that_never_reads_harms_no_other(void **state) {
    struct counter added = {0};
    struct counter removed = {0};
    GstHarness *sink = listening_sink("latency=100", &added, &removed);
    GstHarness *src = support_caller("tltcpsrc", sink->element, "latency=100");
    g_autofree char *port = g_strdup_printf("%u", support_port(sink->element));
    tltcp_config config;
    tltcp_socket *deaf = NULL;

    (void)state;
    tltcp_config_init(&config);
    config.recv_buffer = 4096;
    assert_int_equal(tltcp_connect(&deaf, "127.0.0.1", port, &config, 5000), 0);
    counter_wait(&added, 2);
    for (guint i = 0; i < 600; i++) {
        push(sink, support_buffer((guint8)i, 100000, i * MS, i * MS, 0));
        GstBuffer *got = support_pull(src);
        assert_int_equal(gst_buffer_get_size(got), 100000);
        gst_buffer_unref(got);
    }
    assert_int_equal(removed.value, 0);
    assert_int_equal(count_callers(sink->element), 2);
    tltcp_close(deaf, 0);
    counter_wait(&removed, 1);
    gst_harness_teardown(sink);
    gst_harness_teardown(src);
}

static gboolean refuse_bob(GstElement *e, GSocketAddress *address,
                           const char *streamid, gpointer user) {
    (void)e;
    (void)user;
    return G_IS_INET_SOCKET_ADDRESS(address) && g_strcmp0(streamid, "bob") != 0;
}

static void on_rejected(GstElement *e, GSocketAddress *address,
                        const char *streamid, gpointer user) {
    (void)e;
    (void)address;
    assert_string_equal(streamid, "bob");
    counter_add(user);
}

static GstMessage *wait_error(GstBus *bus) {
    GstMessage *m =
        gst_bus_timed_pop_filtered(bus, PATIENCE, GST_MESSAGE_ERROR);

    assert_non_null(m);
    return m;
}

static void assert_error(GstBus *bus, gint code, const char *word) {
    GstMessage *m = wait_error(bus);
    g_autoptr(GError) error = NULL;

    gst_message_parse_error(m, &error, NULL);
    assert_int_equal(error->domain, GST_RESOURCE_ERROR);
    assert_int_equal(error->code, code);
    if (!strstr(error->message, word)) {
        fail_msg("\"%s\" does not say %s", error->message, word);
    }
    gst_message_unref(m);
}

static void the_application_may_refuse_callers(void **state) {
    struct counter added = {0};
    struct counter removed = {0};
    struct counter rejected = {0};
    GstHarness *sink = listening_sink("latency=5000", &added, &removed);
    g_autofree char *uri = g_strdup_printf("tltcp://127.0.0.1:%u?streamid=bob",
                                           support_port(sink->element));

    (void)state;
    g_signal_connect(sink->element, "caller-connecting", G_CALLBACK(refuse_bob),
                     NULL);
    g_signal_connect(sink->element, "caller-rejected", G_CALLBACK(on_rejected),
                     &rejected);
    GstHarness *bob = support_harness(support_element("tltcpsrc", uri));
    GstBus *bus = support_bus(bob);
    gst_harness_play(bob);
    counter_wait(&rejected, 1);
    assert_error(bus, GST_RESOURCE_ERROR_NOT_AUTHORIZED, "refused");
    GstHarness *alice =
        support_caller("tltcpsrc", sink->element, "streamid=alice");
    counter_wait(&added, 1);
    assert_int_equal(added.value, 1);
    gst_object_unref(bus);
    gst_harness_teardown(alice);
    gst_harness_teardown(bob);
    gst_harness_teardown(sink);
}

static void start_badly(const char *name, const char *uri, gint code,
                        const char *word) {
    GstElement *element = support_element(name, uri);
    GstBus *bus = gst_bus_new();

    gst_element_set_bus(element, bus);
    gst_element_set_state(element, GST_STATE_PLAYING);
    assert_error(bus, code, word);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, NULL);
    gst_object_unref(bus);
    gst_object_unref(element);
}

static void a_source_takes_one_caller_and_tells_the_next(void **state) {
    GstHarness *src =
        support_listener("tltcpsrc", "latency=5000&keep-listening=true");
    GstHarness *one = support_caller("tltcpsink", src->element, "");
    g_autofree char *uri =
        g_strdup_printf("tltcp://127.0.0.1:%u?auto-reconnect=false",
                        support_port(src->element));

    (void)state;
    gst_harness_set_src_caps_str(one, SUPPORT_H264_CAPS);
    push(one, support_frame('I', 'a', 40 * MS, 0));
    assert_marks(src, "a");
    start_badly("tltcpsink", uri, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
                "another caller");
    /* Who is patient gets its turn. */
    GstHarness *two = support_caller("tltcpsink", src->element, "");
    GstBus *bus = support_bus(two);
    support_wait_state(bus, "failed");
    gst_harness_teardown(one);
    support_wait_state(bus, "connected");
    gst_harness_set_src_caps_str(two, SUPPORT_H264_CAPS);
    push(two, support_frame('I', 'b', 40 * MS, 0));
    assert_marks(src, "b");
    gst_object_unref(bus);
    gst_harness_teardown(two);
    gst_harness_teardown(src);
}

static void a_key_unit_is_asked_for_when_somebody_joins(void **state) {
    struct counter added = {0};
    struct counter removed = {0};
    GstHarness *sink = listening_sink("latency=5000", &added, &removed);
    GstHarness *src = support_caller("tltcpsrc", sink->element, "");

    (void)state;
    for (;;) {
        GstEvent *event = gst_harness_pull_upstream_event(sink);
        assert_non_null(event);
        gboolean found = gst_video_event_is_force_key_unit(event);
        gst_event_unref(event);
        if (found) {
            break;
        }
    }
    gst_harness_teardown(sink);
    gst_harness_teardown(src);
}

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

static void errors_name_their_cause(void **state) {
    g_autofree char *absent = g_strdup_printf(
        "tltcp://127.0.0.1:%u?auto-reconnect=false", free_port());
    GstHarness *other = support_listener("tltcpsrc", "latency=1");
    g_autofree char *taken = g_strdup_printf(
        "tltcp://127.0.0.1:%u?mode=listener", support_port(other->element));

    (void)state;
    start_badly("tltcpsink", absent, GST_RESOURCE_ERROR_OPEN_WRITE,
                "127.0.0.1");
    start_badly("tltcpsrc", absent, GST_RESOURCE_ERROR_OPEN_READ, "127.0.0.1");
    start_badly("tltcpsrc", taken, GST_RESOURCE_ERROR_BUSY, "in use");
    start_badly("tltcpsink", taken, GST_RESOURCE_ERROR_BUSY, "in use");
    start_badly("tltcpsink", "tltcp://no-such-host.invalid:7",
                GST_RESOURCE_ERROR_NOT_FOUND, "no-such-host.invalid");
    gst_harness_teardown(other);
}

static void fails_with_property(const char *name, const char *value,
                                const char *word) {
    GstElement *element = support_element("tltcpsink", "tltcp://127.0.0.1:7");
    GstBus *bus = gst_bus_new();

    gst_element_set_bus(element, bus);
    g_object_set(element, name, value, NULL);
    assert_int_equal(gst_element_set_state(element, GST_STATE_PAUSED),
                     GST_STATE_CHANGE_FAILURE);
    assert_error(bus, GST_RESOURCE_ERROR_SETTINGS, word);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, NULL);
    gst_object_unref(bus);
    gst_object_unref(element);
}

static void
an_unknown_controller_is_named_when_set_as_a_property(void **state) {
    (void)state;
    fails_with_property("congestion-control", "magic", "reno");
}

static bool have_security(void) {
    tltcp_config config;

    tltcp_config_init(&config);
    config.passphrase = "a long enough secret";
    return tltcp_config_check(&config, NULL) == 0;
}

static void with_the_same_passphrase_the_stream_arrives(void **state) {
    (void)state;
    if (!have_security()) {
        fails_with_property("passphrase", "long enough", "passphrase");
        skip();
    }
    GstHarness *src = support_listener("tltcpsrc", "passphrase=long%20enough");
    GstHarness *sink =
        support_caller("tltcpsink", src->element, "passphrase=long%20enough");
    gst_harness_set_src_caps_str(sink, SUPPORT_H264_CAPS);
    push(sink, support_frame('I', 'a', 40 * MS, 0));
    assert_marks(src, "a");
    gst_harness_teardown(sink);
    gst_harness_teardown(src);
}

static guint64 rejected_at(GstElement *listener) {
    GstStructure *s = NULL;
    guint64 n = 0;

    g_object_get(listener, "stats", &s, NULL);
    assert_true(gst_structure_get_uint64(s, "callers-rejected", &n));
    assert_true(gst_structure_has_field(s, "callers-turned-away"));
    assert_true(gst_structure_has_field(s, "callers-retried"));
    gst_structure_free(s);
    return n;
}

static void a_wrong_passphrase_is_an_error_of_the_caller(void **state) {
    GstHarness *sink =
        support_listener("tltcpsink", "passphrase=long%20enough");
    static const char *const wrong[] = {"?passphrase=something%20else", ""};

    (void)state;
    for (gsize i = 0; have_security() && i < G_N_ELEMENTS(wrong); i++) {
        g_autofree char *uri = g_strdup_printf(
            "tltcp://127.0.0.1:%u%s", support_port(sink->element), wrong[i]);
        start_badly("tltcpsrc", uri, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
                    "passphrase");
        assert_true(rejected_at(sink->element) > i);
    }
    gst_harness_teardown(sink);
}

static void a_source_tells_whom_it_turned_away(void **state) {
    GstHarness *src = support_listener("tltcpsrc", "passphrase=long%20enough");

    (void)state;
    assert_int_equal(rejected_at(src->element), 0);
    gst_harness_teardown(src);
}

static void a_passphrase_can_be_read_nowhere(void **state) {
    GstElement *e = support_element(
        "tltcpsink", "tltcp://h:1?latency=5&passphrase=long%20enough");
    g_autofree char *uri = NULL;
    g_autoptr(GError) error = NULL;
    GParamSpec *spec =
        g_object_class_find_property(G_OBJECT_GET_CLASS(e), "passphrase");

    (void)state;
    assert_false(spec->flags & G_PARAM_READABLE);
    g_object_get(e, "uri", &uri, NULL);
    assert_string_equal(uri, "tltcp://h:1?latency=5");
    assert_false(gst_uri_handler_set_uri(
        GST_URI_HANDLER(e), "tltcp://h:1?passphrase=short", &error));
    assert_null(strstr(error->message, "short"));
    assert_non_null(strstr(error->message, "8 to 512"));
    gst_object_unref(e);
}

static void on_notify(GObject *object, GParamSpec *spec, gpointer user) {
    guint rate = 0;

    (void)spec;
    g_object_get(object, "estimated-bitrate", &rate, NULL);
    if (rate) {
        counter_add(user);
    }
}

static void what_the_path_carries_is_notified(void **state) {
    GstHarness *src = support_listener("tltcpsrc", "latency=5000");
    GstHarness *sink =
        support_caller("tltcpsink", src->element, "latency=5000");
    struct counter notified = {0};

    (void)state;
    g_signal_connect(sink->element, "notify::estimated-bitrate",
                     G_CALLBACK(on_notify), &notified);
    gst_harness_set_src_caps_str(sink, SUPPORT_H264_CAPS);
    for (guint i = 0; i < 200; i++) {
        push(sink, support_buffer((guint8)i, 100000, i * MS, i * MS, 0));
        gst_buffer_unref(support_pull(src));
    }
    counter_wait(&notified, 1);
    gst_harness_teardown(sink);
    gst_harness_teardown(src);
}

static void a_sink_need_not_wait_for_callers(void **state) {
    struct counter added = {0};
    struct counter removed = {0};
    GstHarness *sink = listening_sink("latency=5000&wait-for-connection=false",
                                      &added, &removed);

    (void)state;
    push(sink, support_frame('I', 'a', 40 * MS, 0));
    push(sink, support_frame('P', 'b', 80 * MS, 40 * MS));
    GstHarness *src = support_caller("tltcpsrc", sink->element, "");
    counter_wait(&added, 1);
    push(sink, support_frame('I', 'c', 120 * MS, 80 * MS));
    assert_marks(src, "c");
    gst_harness_teardown(sink);
    gst_harness_teardown(src);
}

/* Of many callers that come and go none is left over. */
static void callers_come_and_go(void **state) {
    struct counter added = {0};
    struct counter removed = {0};
    GstHarness *sink = listening_sink("latency=5000&wait-for-connection=false",
                                      &added, &removed);
    g_autofree char *port = g_strdup_printf("%u", support_port(sink->element));

    (void)state;
    for (int i = 0; i < 60; i++) {
        tltcp_socket *s = NULL;
        assert_int_equal(tltcp_connect(&s, "127.0.0.1", port, NULL, 10000), 0);
        counter_wait(&added, i + 1);
        push(sink, support_frame(i % 10 ? 'P' : 'I', 'a', (guint)i * 40 * MS,
                                 (guint)i * 40 * MS));
        tltcp_close(s, 0);
    }
    counter_wait(&removed, 60);
    assert_int_equal(count_callers(sink->element), 0);
    gst_harness_teardown(sink);
}

static void a_sink_that_waits_for_callers_can_be_stopped(void **state) {
    GstElement *pipeline =
        gst_parse_launch("videotestsrc ! video/x-raw,width=16,height=16 ! "
                         "tltcpsink uri=tltcp://127.0.0.1:0?mode=listener",
                         NULL);

    (void)state;
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    gst_element_get_state(pipeline, NULL, NULL, PATIENCE);
    assert_int_equal(gst_element_set_state(pipeline, GST_STATE_NULL),
                     GST_STATE_CHANGE_SUCCESS);
    gst_object_unref(pipeline);
}

static void a_source_that_waits_can_be_stopped(void **state) {
    GstHarness *h = support_listener("tltcpsrc", "latency=1");

    (void)state;
    assert_int_equal(gst_element_set_state(h->element, GST_STATE_NULL),
                     GST_STATE_CHANGE_SUCCESS);
    gst_harness_teardown(h);
}

static void a_sink_calls_again_when_the_connection_is_lost(void **state) {
    GstHarness *src = support_listener("tltcpsrc", "latency=5000");
    g_autofree char *uri = g_strdup_printf("tltcp://127.0.0.1:%u?mode=listener",
                                           support_port(src->element));
    GstHarness *sink = support_caller("tltcpsink", src->element, "");
    GstBus *bus = support_bus(sink);

    (void)state;
    gst_harness_set_src_caps_str(sink, SUPPORT_H264_CAPS);
    push(sink, support_frame('I', 'a', 40 * MS, 0));
    assert_marks(src, "a");
    gst_harness_teardown(src);
    support_wait_state(bus, "lost");
    src = support_harness(support_element("tltcpsrc", uri));
    gst_harness_play(src);
    support_wait_state(bus, "connected");
    push(sink, support_frame('P', 'b', 80 * MS, 40 * MS));
    push(sink, support_frame('I', 'c', 120 * MS, 80 * MS));
    assert_marks(src, "c");
    assert_true(gst_pad_has_current_caps(src->sinkpad));
    gst_object_unref(bus);
    gst_harness_teardown(sink);
    gst_harness_teardown(src);
}

static void without_reconnecting_a_lost_connection_is_an_error(void **state) {
    GstHarness *src = support_listener("tltcpsrc", "latency=5000");
    GstHarness *sink =
        support_caller("tltcpsink", src->element, "auto-reconnect=false");
    GstBus *bus = support_bus(sink);

    (void)state;
    gst_harness_set_src_caps_str(sink, SUPPORT_H264_CAPS);
    push(sink, support_frame('I', 'a', 40 * MS, 0));
    assert_marks(src, "a");
    gst_harness_teardown(src);
    assert_error(bus, GST_RESOURCE_ERROR_WRITE, "failed");
    assert_int_equal(
        gst_harness_push(sink, support_frame('P', 'b', 80 * MS, 40 * MS)),
        GST_FLOW_ERROR);
    gst_object_unref(bus);
    gst_harness_teardown(sink);
}

static void elements_come_and_go_a_hundred_times(void **state) {
    (void)state;
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
        cmocka_unit_test(a_listener_serves_several_callers),
        cmocka_unit_test(who_joins_later_begins_with_caps_and_a_key_frame),
        cmocka_unit_test(stream_headers_are_given_to_all_who_join),
        cmocka_unit_test(a_caller_that_never_reads_harms_no_other),
        cmocka_unit_test(the_application_may_refuse_callers),
        cmocka_unit_test(a_source_takes_one_caller_and_tells_the_next),
        cmocka_unit_test(a_key_unit_is_asked_for_when_somebody_joins),
        cmocka_unit_test(errors_name_their_cause),
        cmocka_unit_test(an_unknown_controller_is_named_when_set_as_a_property),
        cmocka_unit_test(with_the_same_passphrase_the_stream_arrives),
        cmocka_unit_test(a_wrong_passphrase_is_an_error_of_the_caller),
        cmocka_unit_test(a_source_tells_whom_it_turned_away),
        cmocka_unit_test(a_passphrase_can_be_read_nowhere),
        cmocka_unit_test(what_the_path_carries_is_notified),
        cmocka_unit_test(a_sink_need_not_wait_for_callers),
        cmocka_unit_test(callers_come_and_go),
        cmocka_unit_test(a_sink_that_waits_for_callers_can_be_stopped),
        cmocka_unit_test(a_source_that_waits_can_be_stopped),
        cmocka_unit_test(a_sink_calls_again_when_the_connection_is_lost),
        cmocka_unit_test(without_reconnecting_a_lost_connection_is_an_error),
        cmocka_unit_test(elements_come_and_go_a_hundred_times),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}

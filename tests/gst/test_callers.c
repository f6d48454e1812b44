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

/* Callers of a sink. */
struct visits {
    struct counter added;
    struct counter removed;
};

/* Of the test that runs; elements that a failure left standing still count. */
static struct visits visits;
static struct counter rejected;
static struct counter notified;

static int forget(void **state) {
    (void)state;
    visits = (struct visits){0};
    rejected = (struct counter){0};
    notified = (struct counter){0};
    return 0;
}

static void counter_add(struct counter *c) {
    g_mutex_lock(&c->lock);
    c->value++;
    g_cond_broadcast(&c->changed);
    g_mutex_unlock(&c->lock);
}

static int counter_value(struct counter *c) {
    g_mutex_lock(&c->lock);
    int value = c->value;
    g_mutex_unlock(&c->lock);
    return value;
}

static void counter_wait(struct counter *c, int value) {
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;

    g_mutex_lock(&c->lock);
    while (c->value < value && g_cond_wait_until(&c->changed, &c->lock, end)) {
    }
    int reached = c->value;
    g_mutex_unlock(&c->lock);
    if (reached < value) {
        fail_msg("%d instead of %d", reached, value);
    }
}

static void on_caller(GstElement *e, int unused, GSocketAddress *address,
                      gpointer user) {
    (void)e;
    (void)unused;
    if (G_IS_INET_SOCKET_ADDRESS(address)) {
        counter_add(user);
    }
}

static GstHarness *listening_sink(const char *query) {
    g_autofree char *uri =
        g_strdup_printf("tltcp://127.0.0.1:0?mode=listener&%s", query);
    GstHarness *h = support_harness(support_element("tltcpsink", uri));

    g_signal_connect(h->element, "caller-added", G_CALLBACK(on_caller),
                     &visits.added);
    g_signal_connect(h->element, "caller-removed", G_CALLBACK(on_caller),
                     &visits.removed);
    gst_harness_play(h);
    gst_harness_set_src_caps_str(h, SUPPORT_H264_CAPS);
    return h;
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

TEST(a_listener_serves_several_callers) {
    GstHarness *sink = listening_sink("latency=60000");
    GstHarness *src[3];

    for (guint i = 0; i < 3; i++) {
        src[i] = support_caller("tltcpsrc", sink->element, "latency=60000");
    }
    counter_wait(&visits.added, 3);
    assert_int_equal(count_callers(sink->element), 3);
    support_push(sink, support_frame('I', 'a', 40 * MS, 0));
    support_push(sink, support_frame('P', 'b', 80 * MS, 40 * MS));
    for (guint i = 0; i < 3; i++) {
        support_expect(src[i], "ab");
    }
    support_stop(src[1]);
    counter_wait(&visits.removed, 1);
    assert_int_equal(count_callers(sink->element), 2);
    support_push(sink, support_frame('P', 'c', 120 * MS, 80 * MS));
    support_expect(src[0], "c");
    support_expect(src[2], "c");
    gst_harness_push_event(sink, gst_event_new_eos());
    gst_event_unref(support_pull_event(src[0], GST_EVENT_EOS));
    gst_event_unref(support_pull_event(src[2], GST_EVENT_EOS));
    support_stop(sink);
    support_stop(src[0]);
    support_stop(src[2]);
}

TEST(a_late_caller_begins_with_caps_and_a_key_frame) {
    GstHarness *sink = listening_sink("latency=60000");
    GstHarness *first = support_caller("tltcpsrc", sink->element, "");

    counter_wait(&visits.added, 1);
    support_push(sink, support_frame('I', 'a', 40 * MS, 0));
    support_push(sink, support_frame('P', 'b', 80 * MS, 40 * MS));
    GstHarness *late = support_caller("tltcpsrc", sink->element, "");
    counter_wait(&visits.added, 2);
    support_push(sink, support_frame('P', 'c', 120 * MS, 80 * MS));
    support_push(sink, support_frame('B', 'd', 160 * MS, 160 * MS));
    support_push(sink, support_frame('I', 'e', 200 * MS, 160 * MS));
    support_push(sink, support_frame('P', 'f', 240 * MS, 200 * MS));
    support_expect(first, "abcdef");
    support_expect(late, "ef");
    assert_true(gst_pad_has_current_caps(late->sinkpad));
    support_stop(sink);
    support_stop(first);
    support_stop(late);
}

/* The encoder gives its parameter sets once. */
TEST(a_late_caller_gets_the_parameter_sets) {
    static const guint8 sets[] = {0, 0, 0, 1, 0x67, 0x42,
                                  0, 0, 0, 1, 0x68, 0xce};
    GstHarness *sink = listening_sink("latency=60000");
    GstHarness *first = support_caller("tltcpsrc", sink->element, "");

    counter_wait(&visits.added, 1);
    GstBuffer *buffer = support_frame('I', 'a', 40 * MS, 0);
    gst_buffer_prepend_memory(
        buffer,
        gst_memory_new_wrapped(GST_MEMORY_FLAG_READONLY, (gpointer)(gsize)sets,
                               sizeof(sets), 0, sizeof(sets), NULL, NULL));
    support_push(sink, buffer);
    GstHarness *late = support_caller("tltcpsrc", sink->element, "");
    counter_wait(&visits.added, 2);
    support_push(sink, support_frame('I', 'b', 80 * MS, 40 * MS));
    support_push(sink, support_frame('I', 'c', 120 * MS, 80 * MS));
    for (guint i = 0; i < 2; i++) { /* with the first key frame only */
        GstBuffer *got = support_pull(late);
        assert_int_equal(gst_buffer_get_size(got),
                         i ? 200 : 200 + sizeof(sets));
        assert_int_equal(gst_buffer_memcmp(got, 0, sets, sizeof(sets)) == 0,
                         i == 0);
        gst_buffer_unref(got);
    }
    for (guint i = 0; i < 3; i++) { /* and not for a caller that has them */
        GstBuffer *got = support_pull(first);
        assert_int_equal(gst_buffer_get_size(got),
                         i ? 200 : 200 + sizeof(sets));
        gst_buffer_unref(got);
    }
    support_stop(sink);
    support_stop(first);
    support_stop(late);
}

TEST(stream_headers_are_sent_to_every_new_caller) {
    GstHarness *sink = listening_sink("latency=60000");
    GstHarness *src[2];

    gst_harness_set_src_caps_str(
        sink, "application/x-test, streamheader=(buffer)< 68656164 >");
    src[0] = support_caller("tltcpsrc", sink->element, "");
    counter_wait(&visits.added, 1);
    GstBuffer *header = gst_buffer_new_memdup("head", 4);
    GST_BUFFER_FLAG_SET(header, GST_BUFFER_FLAG_HEADER);
    GST_BUFFER_PTS(header) = 0;
    support_push(sink, header);
    support_push(sink, support_buffer(1, 10, 0, 0, 0));
    src[1] = support_caller("tltcpsrc", sink->element, "");
    counter_wait(&visits.added, 2);
    support_push(sink, support_buffer(2, 10, 40 * MS, 40 * MS, 0));
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
    support_stop(sink);
    support_stop(src[0]);
    support_stop(src[1]);
}

/* How many frames come within a second: one or none. */
static guint arrives(GstHarness *src, gsize size) {
    GstBuffer *got = NULL;

    for (guint i = 0; i < 1000 && !(got = gst_harness_try_pull(src)); i++) {
        g_usleep(1000);
    }
    if (got) {
        assert_int_equal(gst_buffer_get_size(got), size);
        gst_buffer_unref(got);
    }
    return got ? 1 : 0;
}

/* The other caller is a plain connection that nobody reads from.  A busy
 * machine may make some frames late. */
TEST(a_caller_that_never_reads_harms_no_other) {
    GstHarness *sink = listening_sink("latency=500");
    GstHarness *src = support_caller("tltcpsrc", sink->element, "latency=500");
    g_autofree char *port = g_strdup_printf("%u", support_port(sink->element));
    tltcp_config config;
    tltcp_socket *deaf = NULL;
    guint arrived = 0;

    tltcp_config_init(&config);
    config.recv_buffer = 4096;
    assert_int_equal(
        tltcp_connect(&deaf, "127.0.0.1", port, &config, PATIENCE_MS), 0);
    counter_wait(&visits.added, 2);
    for (guint i = 0; i < 1000 && arrived < 600; i++) {
        GstClockTime now = gst_element_get_current_running_time(sink->element);
        support_push(sink, support_buffer((guint8)i, 100000, now, now, 0));
        arrived += arrives(src, 100000);
    }
    assert_int_equal(arrived, 600);
    assert_int_equal(visits.removed.value, 0);
    assert_int_equal(count_callers(sink->element), 2);
    tltcp_close(deaf, 0);
    counter_wait(&visits.removed, 1);
    support_stop(sink);
    support_stop(src);
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

TEST(the_application_may_refuse_callers) {
    GstHarness *sink = listening_sink("latency=60000");
    g_autofree char *uri = g_strdup_printf("tltcp://127.0.0.1:%u?streamid=bob",
                                           support_port(sink->element));

    g_signal_connect(sink->element, "caller-connecting", G_CALLBACK(refuse_bob),
                     NULL);
    g_signal_connect(sink->element, "caller-rejected", G_CALLBACK(on_rejected),
                     &rejected);
    GstHarness *bob = support_harness(support_element("tltcpsrc", uri));
    GstBus *bus = support_bus(bob);
    gst_harness_play(bob);
    counter_wait(&rejected, 1);
    support_expect_error(bus, GST_RESOURCE_ERROR_NOT_AUTHORIZED, "refused");
    GstHarness *alice =
        support_caller("tltcpsrc", sink->element, "streamid=alice");
    counter_wait(&visits.added, 1);
    assert_int_equal(visits.added.value, 1);
    gst_object_unref(bus);
    support_stop(alice);
    support_stop(bob);
    support_stop(sink);
}

/* Handlers may be of languages that take valid UTF-8 only. */
static gboolean refuse_readable(GstElement *e, GSocketAddress *address,
                                const char *streamid, gpointer user) {
    (void)e;
    (void)address;
    (void)user;
    return !g_utf8_validate(streamid, -1, NULL);
}

static void count_readable(GstElement *e, GSocketAddress *address,
                           const char *streamid, gpointer user) {
    (void)e;
    (void)address;
    if (g_utf8_validate(streamid, -1, NULL)) {
        counter_add(user);
    }
}

TEST(signals_name_a_caller_in_utf8_whatever_it_sends) {
    GstHarness *sink = listening_sink("latency=60000");
    g_autofree char *port = g_strdup_printf("%u", support_port(sink->element));
    tltcp_socket *s = NULL;
    tltcp_config config;

    g_signal_connect(sink->element, "caller-connecting",
                     G_CALLBACK(refuse_readable), NULL);
    g_signal_connect(sink->element, "caller-rejected",
                     G_CALLBACK(count_readable), &rejected);
    tltcp_config_init(&config);
    config.stream_id = "caf\xe9 \xff\xc0\x80";
    assert_int_equal(tltcp_connect(&s, "127.0.0.1", port, &config, PATIENCE_MS),
                     TLTCP_ERR_REFUSED);
    counter_wait(&rejected, 1);
    support_stop(sink);
}

TEST(a_source_accepts_one_caller_and_rejects_the_next) {
    GstHarness *src =
        support_listener("tltcpsrc", "latency=60000&keep-listening=true");
    GstHarness *one = support_caller("tltcpsink", src->element, "");
    g_autofree char *uri =
        g_strdup_printf("tltcp://127.0.0.1:%u?auto-reconnect=false",
                        support_port(src->element));

    gst_harness_set_src_caps_str(one, SUPPORT_H264_CAPS);
    support_push(one, support_frame('I', 'a', 40 * MS, 0));
    support_expect(src, "a");
    support_fails_at("tltcpsink", uri, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
                     "another caller");
    /* A caller that waits gets its turn. */
    GstHarness *two = support_caller("tltcpsink", src->element, "");
    GstBus *bus = support_bus(two);
    support_wait_state(bus, "failed");
    support_stop(one);
    support_wait_state(bus, "connected");
    gst_harness_set_src_caps_str(two, SUPPORT_H264_CAPS);
    support_push(two, support_frame('I', 'b', 40 * MS, 0));
    support_expect(src, "b");
    gst_object_unref(bus);
    support_stop(two);
    support_stop(src);
}

TEST(a_key_unit_is_requested_for_a_new_caller) {
    GstHarness *sink = listening_sink("latency=60000");
    GstHarness *src = support_caller("tltcpsrc", sink->element, "");

    for (;;) {
        GstEvent *event = gst_harness_pull_upstream_event(sink);
        assert_non_null(event);
        gboolean found = gst_video_event_is_force_key_unit(event);
        gst_event_unref(event);
        if (found) {
            break;
        }
    }
    support_stop(sink);
    support_stop(src);
}

static void on_notify(GObject *object, GParamSpec *spec, gpointer user) {
    guint rate = 0;

    (void)spec;
    g_object_get(object, "estimated-bitrate", &rate, NULL);
    if (rate) {
        counter_add(user);
    }
}

TEST(the_estimated_bitrate_is_notified) {
    GstHarness *src = support_listener("tltcpsrc", "latency=60000");
    GstHarness *sink =
        support_caller("tltcpsink", src->element, "latency=60000");

    g_signal_connect(sink->element, "notify::estimated-bitrate",
                     G_CALLBACK(on_notify), &notified);
    gst_harness_set_src_caps_str(sink, SUPPORT_H264_CAPS);
    for (guint i = 0; i < 200; i++) {
        support_push(sink,
                     support_buffer((guint8)i, 100000, i * MS, i * MS, 0));
        gst_buffer_unref(support_pull(src));
    }
    counter_wait(&notified, 1);
    support_stop(sink);
    support_stop(src);
}

static void on_target(GObject *object, GParamSpec *spec, gpointer user) {
    guint target = 0;

    (void)spec;
    g_object_get(object, "target-bitrate", &target, NULL);
    if (target) {
        counter_add(user);
    }
}

TEST(the_target_bitrate_is_notified) {
    static struct counter told;
    GstHarness *src = support_listener("tltcpsrc", "latency=60000");
    GstHarness *sink =
        support_caller("tltcpsink", src->element, "latency=60000");

    g_signal_connect(sink->element, "notify::target-bitrate",
                     G_CALLBACK(on_target), &told);
    gst_harness_set_src_caps_str(sink, SUPPORT_H264_CAPS);
    /* a stream as long as it takes */
    for (guint i = 0; i < 10000 && !counter_value(&told); i++) {
        support_push(sink, support_buffer((guint8)i, 20000, i * MS, i * MS, 0));
        gst_buffer_unref(support_pull(src));
        g_usleep(1000);
    }
    counter_wait(&told, 1);
    support_stop(sink);
    support_stop(src);
}

TEST(a_sink_need_not_wait_for_callers) {
    GstHarness *sink =
        listening_sink("latency=60000&wait-for-connection=false");

    support_push(sink, support_frame('I', 'a', 40 * MS, 0));
    support_push(sink, support_frame('P', 'b', 80 * MS, 40 * MS));
    GstHarness *src = support_caller("tltcpsrc", sink->element, "");
    counter_wait(&visits.added, 1);
    support_push(sink, support_frame('I', 'c', 120 * MS, 80 * MS));
    support_expect(src, "c");
    support_stop(sink);
    support_stop(src);
}

/* Of many callers that come and go none is left over. */
TEST(callers_come_and_go) {
    GstHarness *sink =
        listening_sink("latency=60000&wait-for-connection=false");
    g_autofree char *port = g_strdup_printf("%u", support_port(sink->element));

    for (int i = 0; i < 60; i++) {
        tltcp_socket *s = NULL;
        assert_int_equal(
            tltcp_connect(&s, "127.0.0.1", port, NULL, PATIENCE_MS), 0);
        counter_wait(&visits.added, i + 1);
        support_push(sink,
                     support_frame(i % 10 ? 'P' : 'I', 'a', (guint)i * 40 * MS,
                                   (guint)i * 40 * MS));
        tltcp_close(s, 0);
    }
    counter_wait(&visits.removed, 60);
    assert_int_equal(count_callers(sink->element), 0);
    support_stop(sink);
}

#define T(name) cmocka_unit_test_setup_teardown(name, forget, support_stop_all)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_listener_serves_several_callers),
        T(a_late_caller_begins_with_caps_and_a_key_frame),
        T(a_late_caller_gets_the_parameter_sets),
        T(stream_headers_are_sent_to_every_new_caller),
        T(a_caller_that_never_reads_harms_no_other),
        T(the_application_may_refuse_callers),
        T(signals_name_a_caller_in_utf8_whatever_it_sends),
        T(a_source_accepts_one_caller_and_rejects_the_next),
        T(a_key_unit_is_requested_for_a_new_caller),
        T(the_estimated_bitrate_is_notified),
        T(the_target_bitrate_is_notified),
        T(a_sink_need_not_wait_for_callers),
        T(callers_come_and_go),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/gst/support.h"

static GPtrArray *standing; /* GstHarness */

int support_setup(void **state) {
    GstElement *element;

    (void)state;
    gst_init(NULL, NULL);
    standing = g_ptr_array_new();
    element = gst_element_factory_make("tltcpsink", NULL);
    if (!element) {
        print_error("tltcpsink was not found: GST_PLUGIN_PATH is wrong\n");
        return -1;
    }
    gst_object_unref(element);
    return 0;
}

GstElement *support_element(const char *name, const char *uri) {
    GstElement *element = gst_element_factory_make(name, NULL);
    g_autoptr(GError) error = NULL;

    assert_non_null(element);
    if (!gst_uri_handler_set_uri(GST_URI_HANDLER(element), uri, &error)) {
        fail_msg("%s: %s", uri, error->message);
    }
    return element;
}

GstHarness *support_harness(GstElement *element) {
    gboolean is_sink = GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK);
    GstHarness *h = gst_harness_new_with_element(
        element, is_sink ? "sink" : NULL, is_sink ? NULL : "src");

    gst_harness_use_systemclock(h);
    if (is_sink) {
        g_object_set(element, "sync", FALSE, "async", FALSE, NULL);
    }
    gst_object_unref(element);
    g_ptr_array_add(standing, h);
    return h;
}

void support_stop(GstHarness *h) {
    g_ptr_array_remove(standing, h);
    gst_harness_teardown(h);
}

int support_stop_all(void **state) {
    (void)state;
    while (standing->len > 0) {
        support_stop(g_ptr_array_index(standing, standing->len - 1));
    }
    return 0;
}

guint support_port(GstElement *element) {
    guint port = 0;

    g_object_get(element, "localport", &port, NULL);
    assert_in_range(port, 1, 65535);
    return port;
}

GstHarness *support_caller(const char *name, GstElement *listener,
                           const char *query) {
    g_autofree char *uri = g_strdup_printf("tltcp://127.0.0.1:%u?%s",
                                           support_port(listener), query);
    GstHarness *h = support_harness(support_element(name, uri));

    gst_harness_play(h);
    return h;
}

GstHarness *support_listener(const char *name, const char *query) {
    g_autofree char *uri =
        g_strdup_printf("tltcp://127.0.0.1:0?mode=listener&%s", query);
    GstHarness *h = support_harness(support_element(name, uri));

    gst_harness_play(h);
    return h;
}

GstBus *support_bus(GstHarness *h) {
    GstBus *bus = gst_bus_new();

    gst_element_set_bus(h->element, bus);
    return bus;
}

void support_wait_state(GstBus *bus, const char *state) {
    for (;;) {
        GstMessage *m = gst_bus_timed_pop_filtered(
            bus, PATIENCE, GST_MESSAGE_ELEMENT | GST_MESSAGE_ERROR);
        if (!m) {
            fail_msg("no message \"%s\"", state);
        }
        const GstStructure *s = gst_message_get_structure(m);
        gboolean found =
            gst_structure_has_name(s, "tltcp-connection") &&
            g_strcmp0(gst_structure_get_string(s, "state"), state) == 0;
        gst_message_unref(m);
        if (found) {
            return;
        }
    }
}

GstBuffer *support_buffer(guint8 first, gsize len, GstClockTime pts,
                          GstClockTime dts, guint flags) {
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, len, NULL);
    GstMapInfo map;

    gst_buffer_map(buffer, &map, GST_MAP_WRITE);
    for (gsize i = 0; i < len; i++) {
        map.data[i] = (guint8)(first + i);
    }
    gst_buffer_unmap(buffer, &map);
    GST_BUFFER_PTS(buffer) = pts;
    GST_BUFFER_DTS(buffer) = dts;
    GST_BUFFER_DURATION(buffer) = 40 * GST_MSECOND;
    GST_BUFFER_FLAG_SET(buffer, flags);
    return buffer;
}

GstBuffer *support_frame(char kind, guint8 mark, GstClockTime pts,
                         GstClockTime dts) {
    static const guint8 heads[][6] = {{0, 0, 1, 0x65, 0x88, 0x80},
                                      {0, 0, 1, 0x41, 0x9a, 0x80},
                                      {0, 0, 1, 0x01, 0x9e, 0x80}};
    gsize row = kind == 'I' ? 0 : kind == 'P' ? 1 : 2;
    GstBuffer *buffer = support_buffer(0x80, 200, pts, dts,
                                       row ? GST_BUFFER_FLAG_DELTA_UNIT : 0);

    gst_buffer_fill(buffer, 0, heads[row], sizeof(heads[row]));
    gst_buffer_fill(buffer, 6, &mark, 1);
    return buffer;
}

guint8 support_mark(GstBuffer *buffer) {
    guint8 mark = 0;

    gst_buffer_extract(buffer, 6, &mark, 1);
    return mark;
}

GstBuffer *support_pull(GstHarness *h) {
    GstBuffer *buffer = gst_harness_pull(h);

    assert_non_null(buffer);
    return buffer;
}

GstEvent *support_pull_event(GstHarness *h, GstEventType type) {
    for (;;) {
        GstEvent *event = gst_harness_pull_event(h);
        assert_non_null(event);
        if (GST_EVENT_TYPE(event) == type) {
            return event;
        }
        gst_event_unref(event);
    }
}

void support_push(GstHarness *sink, GstBuffer *buffer) {
    assert_int_equal(gst_harness_push(sink, buffer), GST_FLOW_OK);
}

void support_expect(GstHarness *src, const char *marks) {
    for (; *marks; marks++) {
        GstBuffer *got = support_pull(src);
        assert_int_equal(support_mark(got), *marks);
        gst_buffer_unref(got);
    }
}

static GstMessage *wait_error(GstBus *bus) {
    GstMessage *m =
        gst_bus_timed_pop_filtered(bus, PATIENCE, GST_MESSAGE_ERROR);

    assert_non_null(m);
    return m;
}

void support_expect_error(GstBus *bus, gint code, const char *word) {
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

void support_fails_at(const char *name, const char *uri, gint code,
                      const char *word) {
    GstElement *element = support_element(name, uri);
    GstBus *bus = gst_bus_new();

    gst_element_set_bus(element, bus);
    gst_element_set_state(element, GST_STATE_PLAYING);
    support_expect_error(bus, code, word);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, NULL);
    gst_object_unref(bus);
    gst_object_unref(element);
}

void support_fails_with(const char *name, const char *value, const char *word) {
    GstElement *element = support_element("tltcpsink", "tltcp://127.0.0.1:7");
    GstBus *bus = gst_bus_new();

    gst_element_set_bus(element, bus);
    g_object_set(element, name, value, NULL);
    assert_int_equal(gst_element_set_state(element, GST_STATE_PAUSED),
                     GST_STATE_CHANGE_FAILURE);
    support_expect_error(bus, GST_RESOURCE_ERROR_SETTINGS, word);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_element_set_bus(element, NULL);
    gst_object_unref(bus);
    gst_object_unref(element);
}

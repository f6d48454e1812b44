/* SPDX-License-Identifier: MPL-2.0 */
/* Streams that are closed to strangers. */
#include "tests/gst/support.h"

#include <tltcp/socket.h>

#define MS GST_MSECOND

static bool have_security(void) {
    tltcp_config config;

    tltcp_config_init(&config);
    config.passphrase = "a long enough secret";
    return tltcp_config_check(&config, NULL) == 0;
}

static void with_the_same_passphrase_the_stream_arrives(void **state) {
    (void)state;
    if (!have_security()) {
        support_fails_with("passphrase", "long enough", "passphrase");
        skip();
    }
    GstHarness *src = support_listener("tltcpsrc", "passphrase=long%20enough");
    GstHarness *sink =
        support_caller("tltcpsink", src->element, "passphrase=long%20enough");
    gst_harness_set_src_caps_str(sink, SUPPORT_H264_CAPS);
    support_push(sink, support_frame('I', 'a', 40 * MS, 0));
    support_expect(src, "a");
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
        support_fails_at("tltcpsrc", uri, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_the_same_passphrase_the_stream_arrives),
        cmocka_unit_test(a_wrong_passphrase_is_an_error_of_the_caller),
        cmocka_unit_test(a_source_tells_whom_it_turned_away),
        cmocka_unit_test(a_passphrase_can_be_read_nowhere),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}

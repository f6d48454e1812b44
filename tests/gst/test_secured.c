/* SPDX-License-Identifier: MPL-2.0 */
/* Streams that are closed to strangers. */
#include "tests/gst/support.h"

#include <glib/gstdio.h>

#include <tltcp/socket.h>

#include "tests/support/folder.h"

#define MS GST_MSECOND

static bool have_security(void) {
    tltcp_config config;

    tltcp_config_init(&config);
    config.passphrase = "a long enough secret";
    return tltcp_config_check(&config, NULL) == 0;
}

TEST(with_the_same_passphrase_the_stream_arrives) {
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
    support_stop(sink);
    support_stop(src);
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

TEST(a_wrong_passphrase_is_an_error_of_the_caller) {
    GstHarness *sink =
        support_listener("tltcpsink", "passphrase=long%20enough");
    static const char *const wrong[] = {"?passphrase=something%20else", ""};

    for (gsize i = 0; have_security() && i < G_N_ELEMENTS(wrong); i++) {
        g_autofree char *uri = g_strdup_printf(
            "tltcp://127.0.0.1:%u%s", support_port(sink->element), wrong[i]);
        support_fails_at("tltcpsrc", uri, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
                         "passphrase");
        assert_true(rejected_at(sink->element) > i);
    }
    support_stop(sink);
}

TEST(a_source_reports_rejected_callers) {
    GstHarness *src = support_listener("tltcpsrc", "passphrase=long%20enough");

    assert_int_equal(rejected_at(src->element), 0);
    support_stop(src);
}

/* A listener in a pipeline says who called without the right key. */
static void warns_of_a_caller(const char *listens, const char *calls) {
    GstHarness *listener = support_listener(
        listens, have_security() ? "passphrase=long%20enough" : "latency=100");
    GstBus *bus = support_bus(listener);
    g_autofree char *uri =
        g_strdup_printf("tltcp://127.0.0.1:%u?passphrase=something%%20else",
                        support_port(listener->element));
    g_autoptr(GError) warning = NULL;

    if (have_security()) {
        support_fails_at(calls, uri, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
                         "passphrase");
        GstMessage *m =
            gst_bus_timed_pop_filtered(bus, PATIENCE, GST_MESSAGE_WARNING);
        assert_non_null(m);
        gst_message_parse_warning(m, &warning, NULL);
        assert_non_null(strstr(warning->message, "caller at 127.0.0.1:"));
        assert_non_null(strstr(warning->message, "give both the same"));
        gst_message_unref(m);
    }
    gst_element_set_bus(listener->element, NULL);
    gst_object_unref(bus);
    support_stop(listener);
}

TEST(a_source_warns_of_a_caller_with_a_wrong_passphrase) {
    warns_of_a_caller("tltcpsrc", "tltcpsink");
}

TEST(a_sink_warns_of_a_caller_with_a_wrong_passphrase) {
    warns_of_a_caller("tltcpsink", "tltcpsrc");
}

TEST(a_passphrase_can_be_read_nowhere) {
    GstElement *e = support_element(
        "tltcpsink", "tltcp://h:1?latency=5&passphrase=long%20enough");
    g_autofree char *uri = NULL;
    g_autoptr(GError) error = NULL;
    GParamSpec *spec =
        g_object_class_find_property(G_OBJECT_GET_CLASS(e), "passphrase");

    assert_false(spec->flags & G_PARAM_READABLE);
    g_object_get(e, "uri", &uri, NULL);
    assert_string_equal(uri, "tltcp://h:1?latency=5");
    assert_false(gst_uri_handler_set_uri(
        GST_URI_HANDLER(e), "tltcp://h:1?passphrase=short", &error));
    assert_null(strstr(error->message, "short"));
    assert_non_null(strstr(error->message, "8 to 512"));
    gst_object_unref(e);
}

/* ---- out of files ---- */

static char *folder;

static int make_files(void **state) {
    static const struct {
        const char *name, *content;
        gssize len;
    } files[] = {{"new", "the passphrase of today\n", -1},
                 {"old", "the passphrase of yesterday\nand a note\n", -1},
                 {"key", "32 bytes of a key, zeros in it\0\n", 32},
                 {"short", "1234567\n", -1}};

    (void)state;
    folder = g_dir_make_tmp("tltcp-secrets-XXXXXX", NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *path = g_build_filename(folder, files[i].name, NULL);
        assert_true(
            g_file_set_contents(path, files[i].content, files[i].len, NULL));
    }
    return 0;
}

static int remove_files(void **state) {
    int rv = remove_folder(folder);

    (void)state;
    g_free(folder);
    return rv;
}

TEST(callers_with_any_of_a_listeners_files_get_in) {
    static const char *const callers[][2] = {{"passphrase-file", "old"},
                                             {"key-file", "key"},
                                             {"passphrase-file", "new"}};
    g_autofree char *query = g_strdup_printf(
        "keep-listening=true&passphrase-file=%s/new:%s/old&key-file=%s/key",
        folder, folder, folder);

    if (!have_security()) {
        skip();
    }
    GstHarness *src = support_listener("tltcpsrc", query);
    for (gsize i = 0; i < G_N_ELEMENTS(callers); i++) {
        g_autofree char *own =
            g_strdup_printf("%s=%s/%s", callers[i][0], folder, callers[i][1]);
        GstHarness *sink = support_caller("tltcpsink", src->element, own);
        gst_harness_set_src_caps_str(sink, SUPPORT_H264_CAPS);
        support_push(sink, support_frame('I', 'a', 40 * MS, 0));
        support_expect(src, "a");
        support_stop(sink);
    }
    support_stop(src);
}

static void write_line(const char *name, const char *line) {
    g_autofree char *path = g_build_filename(folder, name, NULL);

    assert_true(g_file_set_contents(path, line, -1, NULL));
}

/* A static key whose secret goes to a file; returns the public one. */
static char *make_identity(const char *name, uint8_t number) {
    uint8_t secret[32] = {8, number};
    uint8_t key[32];
    g_autofree char *path = g_build_filename(folder, name, NULL);
    GString *hex = g_string_new(NULL);

    assert_int_equal(tltcp_identity_public(secret, key), 0);
    assert_true(g_file_set_contents(path, (char *)secret, 32, NULL));
    for (size_t i = 0; i < sizeof(key); i++) {
        g_string_append_printf(hex, "%02x", key[i]);
    }
    return g_string_free(hex, FALSE);
}

TEST(a_caller_with_its_static_key_gets_in) {
    g_autofree char *listener = make_identity("listener", 1);
    g_autofree char *camera = make_identity("camera", 2);
    g_autofree char *line = g_strdup_printf("%s camera 7\n", camera);
    g_autofree char *query = g_strdup_printf(
        "keep-listening=true&identity-file=%s/listener&caller-keys=%s/callers",
        folder, folder);
    g_autofree char *own = g_strdup_printf(
        "identity-file=%s/camera&listener-key=%s", folder, listener);

    write_line("callers", line);
    GstHarness *src = support_listener("tltcpsrc", query);
    GstHarness *sink = support_caller("tltcpsink", src->element, own);
    gst_harness_set_src_caps_str(sink, SUPPORT_H264_CAPS);
    support_push(sink, support_frame('I', 'a', 40 * MS, 0));
    support_expect(src, "a");
    support_stop(sink);
    support_stop(src);
}

TEST(static_keys_need_those_of_the_other_side) {
    g_autofree char *listener = make_identity("listener", 1);
    g_autofree char *path = g_build_filename(folder, "listener", NULL);

    support_fails_with("identity-file", path, "listener-key");
    support_fails_with("listener-key", listener, "identity-file");
    support_fails_with("listener-key", "0123", "64 hexadecimal");
    support_fails_with("caller-keys", path, "public key");
}

TEST(without_its_file_an_element_does_not_start) {
    g_autofree char *none = g_build_filename(folder, "none", NULL);
    g_autofree char *too_short = g_build_filename(folder, "short", NULL);
    g_autofree char *second = g_strdup_printf("%s/new:%s/none", folder, folder);
    g_autofree char *uri =
        g_strdup_printf("tltcp://h:1?passphrase-file=%s", too_short);
    GstElement *e = support_element("tltcpsrc", "tltcp://h:1");
    g_autoptr(GError) error = NULL;

    support_fails_with("passphrase-file", none, "a file that exists");
    support_fails_with("passphrase-file", too_short, "8 to 512");
    support_fails_with("passphrase-file", second, "none");
    support_fails_with("key-file", none, "a file that exists");
    assert_false(gst_uri_handler_set_uri(GST_URI_HANDLER(e), uri, &error));
    assert_non_null(strstr(error->message, "8 to 512"));
    gst_object_unref(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_the_same_passphrase_the_stream_arrives),
        cmocka_unit_test(a_wrong_passphrase_is_an_error_of_the_caller),
        cmocka_unit_test(a_source_reports_rejected_callers),
        cmocka_unit_test(a_source_warns_of_a_caller_with_a_wrong_passphrase),
        cmocka_unit_test(a_sink_warns_of_a_caller_with_a_wrong_passphrase),
        cmocka_unit_test(a_passphrase_can_be_read_nowhere),
        cmocka_unit_test_setup_teardown(
            callers_with_any_of_a_listeners_files_get_in, make_files,
            remove_files),
        cmocka_unit_test_setup_teardown(a_caller_with_its_static_key_gets_in,
                                        make_files, remove_files),
        cmocka_unit_test_setup_teardown(
            static_keys_need_those_of_the_other_side, make_files, remove_files),
        cmocka_unit_test_setup_teardown(
            without_its_file_an_element_does_not_start, make_files,
            remove_files),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}

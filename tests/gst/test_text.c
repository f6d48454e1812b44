/* SPDX-License-Identifier: MPL-2.0 */
/* Which text of peers GStreamer may parse. */
#include "gst-plugins/gsttltcptext.h"

#include "tests/support/cmocka.h"

#define TEXTS 20000
#define NAMES 1000

static guint below(guint32 *random, guint n) {
    *random = *random * 1664525u + 1013904223u;
    return (*random >> 16) % n;
}

/* Things that stand in caps and tags, in any order. */
static gchar *any_text(guint32 *random) {
    static const gchar *const parts[] = {
        "=",          "=",           ",",           ", ",        ";",
        "(int)",      "(string)",    "(structure)", "{",         "}",
        "<",          ">",           "[",           "]",         "\"",
        "\\\"",       "1",           "x y",         "(memory:F", ")",
        "(sample)",   "(GstCaps)",   "(array)<",    "; z, ",     "\"; q, n=1",
        "(buffer)00", "( bool )yes", "\\173",       "3/4",       "(int)["};
    GString *text = g_string_new(below(random, 3) ? "video/x-t" : "taglist");

    g_string_append(text, below(random, 2) ? ", a=" : "");
    for (guint n = below(random, 14); n > 0; n--) {
        if (below(random, 6) == 0) {
            g_string_append_printf(text, "new-%u", *random);
        } else {
            g_string_append(text, parts[below(random, G_N_ELEMENTS(parts))]);
        }
    }
    return g_string_free(text, FALSE);
}

/* The number of names so far; this takes one more. */
static guint names_so_far(void) {
    static guint n;
    g_autofree gchar *name = g_strdup_printf("names-so-far-%u", n++);

    return g_quark_from_string(name);
}

/* GLib never forgets a name. */
TEST(all_names_that_are_made_are_counted) {
    guint32 random = 1;
    guint fit = 0;

    (void)state;
    for (guint i = 0; i < TEXTS; i++) {
        g_autofree gchar *text = any_text(&random);
        guint names = NAMES;
        guint before;

        if (!gst_tltcp_text_is_fit(text, &names)) {
            continue;
        }
        fit++;
        before = names_so_far();
        gst_clear_caps(&(GstCaps *){gst_caps_from_string(text)});
        gst_clear_tag_list(&(GstTagList *){gst_tag_list_new_from_string(text)});
        if (names_so_far() - before - 1 > NAMES - names) {
            fail_msg("more than %u new names: %s", NAMES - names, text);
        }
    }
    assert_true(fit > TEXTS / 20);
}

TEST(what_is_not_one_structure_is_refused) {
    static const gchar *const bad[] = {
        "",           "video/x-t,",    "video/x-t, a",    "video/x-t, a=",
        "a; b",       "a, b=1; c",     "a, b=(int)[1,2]", "a, b=\"x",
        "a, b={1, 2", "a(m:F), b(=1)", "a, b=(caps)c",    "a, b=1,, c=2"};
    (void)state;

    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        guint names = NAMES;
        assert_false(gst_tltcp_text_is_fit(bad[i], &names));
        assert_int_equal(names, NAMES);
    }
}

static void ignore(const gchar *domain, GLogLevelFlags level,
                   const gchar *message, gpointer user) {
    (void)domain, (void)level, (void)message, (void)user;
}

/* GStreamer warns of values that it cannot parse. */
static int init(void **state) {
    (void)state;
    gst_init(NULL, NULL);
    (void)g_log_set_always_fatal(G_LOG_LEVEL_ERROR);
    (void)g_log_set_default_handler(ignore, NULL);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_names_that_are_made_are_counted),
        cmocka_unit_test(what_is_not_one_structure_is_refused),
    };
    return cmocka_run_group_tests_name("text", tests, init, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Properties that name passphrases and keys. */
#include "gst-plugins/gsttltcpsecrets.h"

#include <string.h>

gboolean gst_tltcp_secrets_is_property(const gchar *name) {
    static const gchar *const names[] = {
        "passphrase",   "passphrase-file", "key-file", "identity-file",
        "listener-key", "caller-keys",     NULL};

    return g_strv_contains(names, name);
}

static gchar *add_files(struct secrets *secrets, const gchar *property,
                        const gchar *value) {
    g_auto(GStrv) files = g_strsplit(value, G_SEARCHPATH_SEPARATOR_S, -1);

    for (guint i = 0; files[i]; i++) {
        const gchar *wrong = NULL;
        secrets_option(secrets, property, files[i], &wrong);
        if (wrong) {
            return g_strdup_printf("%s \"%s\" should be %s", property, files[i],
                                   wrong);
        }
    }
    return NULL;
}

gchar *gst_tltcp_secrets_add(struct secrets *secrets, const gchar *property,
                             const gchar *value) {
    const gchar *wrong = NULL;

    if (g_str_equal(property, "passphrase-file") ||
        g_str_equal(property, "key-file")) {
        return add_files(secrets, property, value);
    }
    secrets_option(secrets, property, value, &wrong);
    if (wrong && g_str_equal(property, "passphrase")) {
        return g_strdup_printf("a passphrase should be %s", wrong);
    }
    return wrong ? g_strdup_printf("%s \"%s\" should be %s", property, value,
                                   wrong)
                 : NULL;
}

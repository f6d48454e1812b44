/* SPDX-License-Identifier: MPL-2.0 */
/* The properties passphrase, passphrase-file, key-file, identity-file,
 * listener-key and caller-keys. */
#ifndef GST_TLTCP_SECRETS_H
#define GST_TLTCP_SECRETS_H

#include <glib.h>

#include "internal/credentials/credentials.h"

gboolean gst_tltcp_secrets_is_property(const gchar *name);

/* Adds the secrets that a property names: a passphrase, a key, a file, or
 * files, separated as in PATH. Returns NULL, or a description of the error. */
gchar *gst_tltcp_secrets_add(struct secrets *secrets, const gchar *property,
                             const gchar *value);

#endif /* GST_TLTCP_SECRETS_H */

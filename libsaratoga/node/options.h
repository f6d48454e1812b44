/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_OPTIONS_H
#define LIBSARATOGA_NODE_OPTIONS_H

#include <saratoga/config.h>

/* Completes the caller's options with defaults, and copies what they point to
 * into *block, to be freed with free(). NULL: the defaults. Returns 0 or
 * SARATOGA_ERR_NOMEM. */
int saratoga__options_keep(saratoga_options *out, void **block,
                           const saratoga_options *in);

#endif /* LIBSARATOGA_NODE_OPTIONS_H */

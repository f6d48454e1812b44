/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_CONFIG_H
#define LIBTLTCP_CONFIG_H

#include <congestion/congestion.h>
#include <tltcp/config.h>
#include <tltcp/stats.h>

#include "internal/secure/keys.h"

/* Completes the caller's config with defaults. */
void tltcp__config_take(tltcp_config *out, const tltcp_config *in);
/* The passphrases and keys in a config. */
sec__key_source tltcp__config_keys(const tltcp_config *c);
/* Whether calls are sealed. */
bool tltcp__config_calls_sealed(const tltcp_config *c);
/* The configured controller, or NULL. */
const struct cong_ops *tltcp__config_congestion(const tltcp_config *c);
/* Gets the configured recovery: -1 for packet, else a cong_recovery_kind of
 * dupack. False: unknown name. */
bool tltcp__config_recovery(const tltcp_config *c, int *kind);

#endif /* LIBTLTCP_CONFIG_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_CONFIG_H
#define LIBTLTCP_CONFIG_H

#include <congestion/congestion.h>
#include <tltcp/config.h>
#include <tltcp/stats.h>

#include "internal/secure/keys.h"

/* A full config: what the caller gave, defaults for the rest. */
void tltcp__config_take(tltcp_config *out, const tltcp_config *in);
/* Passphrases and keys in it. */
sec__key_source tltcp__config_keys(const tltcp_config *c);
/* The controller asked for, or NULL. */
const struct cong_ops *tltcp__config_congestion(const tltcp_config *c);
/* The recovery asked for: -1 packet, else a cong_recovery_kind of the dupack
 * one.  False when there is none of that name. */
bool tltcp__config_recovery(const tltcp_config *c, int *kind);

#endif /* LIBTLTCP_CONFIG_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/roster.h
 * @brief Who may call: stream ids and the passphrase or static key of each,
 * from a file.
 *
 * A line has a stream id, white space and a passphrase, which may contain
 * spaces, or `key:` and a static public key of 64 hexadecimal digits.  Lines
 * with neither, all of them or none, leave that to the endpoint's own secrets.
 * Empty lines and those that begin with # are comments.
 */
#ifndef TOOLS_TRANSMIT_ROSTER_H
#define TOOLS_TRANSMIT_ROSTER_H

#include <stdbool.h>

#include "tltcp/live.h"

/** Room for a sentence on what is wrong with a file. */
#define ROSTER_WHY_MAX 256

/** @brief Who may call; opaque. */
struct roster;

/**
 * @brief Reads a file.
 * @param path      file; must outlive the roster
 * @param[out] why  ROSTER_WHY_MAX bytes: why it cannot be used
 * @return free with roster_free(); NULL: see @p why
 */
struct roster *roster_read(const char *path, char *why);

/** @brief Frees; passphrases are overwritten. @param r  or NULL */
void roster_free(struct roster *r);

/** @brief Whether its lines have passphrases. @param r  roster */
bool roster_has_secrets(const struct roster *r);

/** @brief Whether its lines have static keys. @param r  roster */
bool roster_has_keys(const struct roster *r);

/** @brief Has a listener take its passphrases. @param r  outlives the listener
 * @param c  config without secrets */
void roster_to_config(const struct roster *r, tltcp_config *c);

/**
 * @brief Reads the file again.  Stream ids and static keys come and go;
 * passphrases that the listener does not know yet cannot come.
 * @param r         roster
 * @param[out] why  ROSTER_WHY_MAX bytes: why nothing changed
 * @return whether it could
 */
bool roster_reread(struct roster *r, char *why);

/** @brief What speaks against a caller; any thread may ask. @param r  roster
 * @param caller  the caller
 * @return NULL, or a reason to tell */
const char *roster_objection(struct roster *r, const tltcp_caller *caller);

/** @brief A caller is there from now on. @param r  roster
 * @param stream_id  its stream id
 * @return NULL, or a reason to tell: another one is there, or it may not */
const char *roster_enter(struct roster *r, const char *stream_id);

/** @brief The caller is gone. @param r  roster @param stream_id  its id */
void roster_leave(struct roster *r, const char *stream_id);

/** @brief Whether a caller is still in the file, with its static key.
 * @param r  roster @param stream_id  of a caller that is there */
bool roster_has(struct roster *r, const char *stream_id);

#endif /* TOOLS_TRANSMIT_ROSTER_H */

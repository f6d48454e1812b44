/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/peer_options.h
 * @brief Connection options of all tools, under the same names on the command
 * line and in URLs.
 */
#ifndef TOOLS_PEER_OPTIONS_H
#define TOOLS_PEER_OPTIONS_H

#include "tltcp/live_parts.h"
#include "tools/common/secrets_watch.h"

/** @brief Options of a connection. */
struct peer_options {
    tltcp_live_options *live;      /**< all options */
    tltcp_config *config;          /**< its connection options */
    tltcp_live_settings *settings; /**< its media options */
    char readable[4096]; /**< a secret file that every user can read, or "" */
};

/** @brief Fills in the defaults. @param o  filled in @return false: out of
 * memory */
bool peer_options_init(struct peer_options *o);

/**
 * @brief Sets an option by its name: latency, deadline-mode, drop-policy,
 * reference-grace, congestion or congestion-control, recovery, passphrase,
 * passphrase-file, key-file, identity-file, listener-key, caller-keys,
 * streamid, localaddress, localport, max-rate, initial-window, fec,
 * connect-timeout, idle-timeout, dscp, threads, transport, qlog.
 * @param o          options
 * @param name       of the option
 * @param text       its value
 * @param[out] wrong NULL, or the expected form of the value
 * @return false: there is no such option
 */
bool peer_option(struct peer_options *o, const char *name, const char *text,
                 const char **wrong);

/** Keys of peer_key(), for messages. */
#define PEER_KEYS                                                           \
    "latency, passphrase, passphrase-file, key-file, identity-file, "       \
    "listener-key, streamid, localaddress, localport, "                     \
    "congestion-control, max-rate, initial-window, fec, drop-policy, "      \
    "reference-grace, deadline-mode, connect-timeout, idle-timeout, dscp, " \
    "transport"

/**
 * @brief As peer_option(), for a key of a URL.
 * @param o         options
 * @param key       name
 * @param value     value
 * @param keys      list of keys for the message
 * @param[out] why  TLTCP_LIVE_WHY_MAX bytes: description of the error
 * @return 0 or TLTCP_ERR_INVAL
 */
int peer_key(struct peer_options *o, const char *key, const char *value,
             const char *keys, char *why);

/** @brief Writes an error message about a key of a URL. @param[out] why
 * TLTCP_LIVE_WHY_MAX bytes @param what  beginning of the sentence
 * @param detail  rest of it, or "" @return TLTCP_ERR_INVAL */
int url_refuse(char *why, const char *what, const char *detail);

/** @brief Call this after the last option: looks for a passphrase in the
 * environment if none was given, and checks that the options are compatible.
 * @param tool  for the message @param o  options @return -1, or TOOL_USAGE
 *              after a message */
int peer_options_check(const char *tool, struct peer_options *o);

/** @brief Checks that with a static key the other side's are named.
 * @param tool  for the message @param o  options @param listens  for a listener
 * @return -1, or TOOL_USAGE after a message */
int peer_options_check_identity(const char *tool, const struct peer_options *o,
                                bool listens);

/** @brief Whether the connection may run over TCP. @param o  options */
bool peer_options_use_tcp(const struct peer_options *o);

/** @brief Rejects callers that were accepted and not taken.
 * @param listener  socket @param reason  sent to them */
void peer_turn_away(tltcp_socket *listener, const char *reason);

/** @brief Occasionally reports rejected callers. @param r  state, zeroed
 * initially @param tool  name in the message @param listener  socket, or NULL
 */
void peer_watch(struct secrets_rejections *r, const char *tool,
                const tltcp_socket *listener);

#endif /* TOOLS_PEER_OPTIONS_H */

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

/** @brief A connection as its user wants it. */
struct peer_options {
    tltcp_live_options *live;      /**< all of it */
    tltcp_config *config;          /**< of the connection, in it */
    tltcp_live_settings *settings; /**< how media are sent, in it */
};

/** @brief Fills in the defaults. @param o  what to fill in @return false
 * without memory */
bool peer_options_init(struct peer_options *o);

/**
 * @brief Takes an option by its name: latency, deadline-mode, drop-policy,
 * reference-grace, congestion or congestion-control, recovery, passphrase,
 * passphrase-file, key-file, streamid, max-rate, initial-window, fec,
 * connect-timeout, idle-timeout, dscp, qlog.
 * @param o          options
 * @param name       of the option
 * @param text       its value
 * @param[out] wrong NULL, or what the value must be
 * @return false when there is no such option
 */
bool peer_option(struct peer_options *o, const char *name, const char *text,
                 const char **wrong);

/** What peer_key() takes, for messages. */
#define PEER_KEYS                                                      \
    "latency, passphrase, passphrase-file, key-file, streamid, "       \
    "congestion-control, max-rate, initial-window, fec, drop-policy, " \
    "reference-grace, deadline-mode, connect-timeout, idle-timeout, dscp"

/**
 * @brief As peer_option(), for a key of a URL.
 * @param o         options
 * @param key       name
 * @param value     value
 * @param keys      which there are, for the message
 * @param[out] why  TLTCP_LIVE_WHY_MAX bytes: what is wrong
 * @return 0 or TLTCP_ERR_INVAL
 */
int peer_key(struct peer_options *o, const char *key, const char *value,
             const char *keys, char *why);

/** @brief Says what is wrong with a key of a URL. @param[out] why
 * TLTCP_LIVE_WHY_MAX bytes @param what  beginning of the sentence
 * @param detail  rest of it, or "" @return TLTCP_ERR_INVAL */
int url_refuse(char *why, const char *what, const char *detail);

/** @brief After the last option: looks for a passphrase in the environment when
 * none was given, and whether the options go together. @param tool  for the
 * message @param o  options @return -1, or TOOL_USAGE, said why */
int peer_options_check(const char *tool, struct peer_options *o);

/** @brief Rejects callers that were accepted and not taken.
 * @param listener  socket @param reason  told to them */
void peer_turn_away(tltcp_socket *listener, const char *reason);

/** @brief Reports now and then how many callers were rejected. @param w  what
 * was said before, zeroed at first @param tool  whose message it is
 * @param listener  socket, or NULL */
void peer_watch(struct secrets_watch *w, const char *tool,
                const tltcp_socket *listener);

#endif /* TOOLS_PEER_OPTIONS_H */

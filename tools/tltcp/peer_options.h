/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/peer_options.h
 * @brief What all tools that make a connection let their users choose, on the
 * command line and in URLs, under the same names.
 */
#ifndef TOOLS_PEER_OPTIONS_H
#define TOOLS_PEER_OPTIONS_H

#include "internal/credentials/credentials.h"
#include "libtltcp/live/feed.h"
#include "tltcp/config.h"
#include "tltcp/socket.h"
#include "tools/common/secrets_watch.h"

/** @brief A connection as its user wants it. */
struct peer_options {
    tltcp_config config;       /**< for the connection */
    struct feed_settings feed; /**< senders: deadlines, what to give up */
    bool has_latency;          /**< the latency was given */
    char stream_id[TLTCP_STREAM_ID_MAX + 1]; /**< what config points at */
    char congestion[32];                     /**< likewise */
    struct secrets secrets;                  /**< likewise */
};

/** @brief Fills in the defaults. @param o  not copied or moved afterwards */
void peer_options_init(struct peer_options *o);

/**
 * @brief Takes an option by its name: latency, deadline-mode, drop-policy,
 * reference-grace, congestion or congestion-control, recovery, passphrase,
 * passphrase-file, key-file, streamid, max-rate, initial-window, fec,
 * connect-timeout, idle-timeout, dscp, qlog.
 * @param o          options
 * @param name       of the option
 * @param text       its value; must outlive @p o where it is the name of a
 *                   recovery or a folder
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

/** @brief As peer_option(), for a key of a URL, of which nothing need outlive
 * the call. */
bool peer_key(struct peer_options *o, const char *key, const char *value,
              const char **wrong);

/** @brief After the last option: looks for a passphrase in the environment when
 * none was given, and whether the options go together. @param tool  for the
 * message @param o  options @return -1, or TOOL_USAGE, said why */
int peer_options_check(const char *tool, struct peer_options *o);

/** @brief What a caller hears while another is served. */
#define PEER_BUSY "busy with another caller"

/** @brief Says so to all who were let in before the one that is served was
 * taken. @param listener  socket */
void peer_turn_away(tltcp_socket *listener);

/** @brief Says now and then how many callers were turned away. @param w  what
 * was said before, zeroed at first @param tool  whose message it is
 * @param listener  socket, or NULL */
void peer_watch(struct secrets_watch *w, const char *tool,
                const tltcp_socket *listener);

#endif /* TOOLS_PEER_OPTIONS_H */

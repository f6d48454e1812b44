/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/link.h
 * @brief Connections of one endpoint, and the messages about them on standard
 * error.
 */
#ifndef TOOLS_TRANSMIT_LINK_H
#define TOOLS_TRANSMIT_LINK_H

#include <poll.h>
#include <stdatomic.h>

#include "tltcp/live_parts.h"
#include "tools/live-transmit/options.h"
#include "tools/live-transmit/roster.h"

/** Descriptors that link_poll() may name. */
#define LINK_FDS TLTCP_LIVE_FDS

/** @brief One endpoint's connections. */
struct link {
    const char *tool; /* for messages */
    const struct endpoint *at;
    bool quiet;
    bool retries;  /* after a failure */
    unsigned most; /* connections at once */
    bool reported; /* of this outage */
    int status;    /* of a failure that is final */
    tltcp_live_link *live;
    struct secrets_rejections watch;
    struct roster *roster; /* who may call; NULL: see the endpoint */
    atomic_uint served;    /* connections given out; also read on the listener's
                              own thread */
};

/** @brief Begins; a listener listens at once.
 * @param l  zeroed but for tool, at, quiet, retries, most
 * @param[out] text  ADDRESS_TEXT_MAX bytes: the address listened on, or ""
 * @return TOOL_OK, or an exit status after a message */
int link_open(struct link *l, char *text);

/** @brief Whether there may be one more connection. @param l  link */
bool link_has_room(const struct link *l);

/**
 * @brief Makes a connection; one that calls makes one at a time.
 * @param l           link
 * @param[out] s      the connection, or NULL: not yet
 * @param[out] when   latest time of the next call
 * @return TOOL_OK, or an exit status: it failed permanently
 */
int link_run(struct link *l, tltcp_socket **s, uint64_t *when);

/** @brief Rejects callers while the maximum is served, and reports now and
 * then how many failed authentication. @param l  link
 * @return when to call it again */
uint64_t link_watch(struct link *l);

/** @brief Fills in the descriptors to poll before link_run(). @param l  link
 * @param fds  LINK_FDS entries @return how many */
nfds_t link_poll(const struct link *l, struct pollfd *fds);

/** @brief A connection given out is over; the next may come. @param l  link
 * @param error  why, or 0 @param reason  the peer's words, or ""
 * @param stream_id  what it asked for, or "" */
void link_lost(struct link *l, int error, const char *reason,
               const char *stream_id);

/** @brief Reads the file of callers again, if there is one. @param l  link
 * @return true: some may not stay any more, see link_may_stay() */
bool link_reread(struct link *l);

/** @brief Whether a caller may stay. @param l  link
 * @param stream_id  what it asked for */
bool link_may_stay(const struct link *l, const char *stream_id);

/** @brief Closes the link. @param l link */
void link_close(struct link *l);

/** @brief Prints a message about the endpoint unless it is quiet. */
void link_say(const struct link *l, const char *what, const char *detail);

#endif /* TOOLS_TRANSMIT_LINK_H */

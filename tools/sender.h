/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sender.h
 * @brief Frames into a connection: deadlines, what to hold back, fates.
 */
#ifndef TOOLS_SENDER_H
#define TOOLS_SENDER_H

#include <poll.h>

#include "ledger.h"
#include "send_options.h"
#include "source.h"
#include "tltcp/socket.h"

/** Descriptors that sender_poll() may name. */
#define SENDER_FDS 2

/** @brief The sending side. */
struct sender {
    const struct send_options *options;
    tltcp_socket *socket;
    media_outq *queue;
    media_deadline deadline[256]; /* by stream */
    struct ledger ledger;
    struct pending *held; /* the connection has no room for it yet */
    uint64_t start;       /* media time 0 on tltcp_now()'s clock */
    bool closed;          /* the connection is over */
    int error;            /* why; 0: in order */
    char reason[TLTCP_REASON_MAX + 1];
};

/**
 * @brief Connects and tells the peer what the streams are.
 * @param s    sender
 * @param o    outlives the sender
 * @param src  what will be sent
 * @return TOOL_OK or an exit status, said why
 */
int sender_open(struct sender *s, const struct send_options *o,
                const struct source *src);

/** @brief When a frame is to be given to sender_push(), by its time.
 * @param s  sender @param f  frame @return tltcp_now()'s clock */
uint64_t sender_time(const struct sender *s, const struct source_frame *f);

/** @brief Whether another frame may be pushed. */
bool sender_has_room(const struct sender *s);

/** @brief Takes a frame; copies it. @param s  sender @param f  frame
 * @return false without memory */
bool sender_push(struct sender *s, const struct source_frame *f);

/**
 * @brief Sends what should be sent, takes what the connection has to say.
 * @param s  sender
 * @return when to call again, tltcp_now()'s clock; TLTCP_TIME_NEVER
 */
uint64_t sender_run(struct sender *s);

/** @brief What to poll for before sender_run() is called again.
 * @param s  sender @param fds  SENDER_FDS entries @return how many */
nfds_t sender_poll(const struct sender *s, struct pollfd *fds);

/** @brief Whether every frame's fate is known and nothing waits. */
bool sender_is_idle(const struct sender *s);

/** @brief Tells the peer that no more frames come. */
void sender_finish(struct sender *s);

/** @brief Closes the connection; the ledger stays. @param s  sender
 * @param linger_ms  as for tltcp_close() */
void sender_close(struct sender *s, int linger_ms);

/** @brief Frees the rest. @return false when a file could not be written */
bool sender_free(struct sender *s);

#endif /* TOOLS_SENDER_H */

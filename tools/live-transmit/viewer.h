/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/viewer.h
 * @brief The connections of an output.  Each has its own queue, congestion
 * window and drops, so that none waits for another.
 */
#ifndef TOOLS_TRANSMIT_VIEWER_H
#define TOOLS_TRANSMIT_VIEWER_H

#include "tltcp/live_parts.h"
#include "tools/common/address.h"
#include "tools/tltcp/frame_log.h"

/** @brief One connection. */
struct viewer {
    struct viewers *all;
    tltcp_live_sender *sender;
    char stream_id[TLTCP_STREAM_ID_MAX + 1]; /**< as it asked for, or "" */
    char address[ADDRESS_TEXT_MAX];
    uint64_t since; /**< when it came, tltcp_now()'s clock */
    int error;      /**< why it is over */
    char reason[TLTCP_REASON_MAX + 1];
    bool finished; /**< the end was sent */
    bool ended;    /**< and has arrived, as everything has */
};

/** @brief All of them; zeroed: none. */
struct viewers {
    struct viewer **viewer;
    size_t count;
    bool no_memory; /**< while sending */
    struct frame_log log;
    const struct viewer *logged; /**< whose frames are in the log: the first */
};

/** @brief Adds a connection. @param v  all @param s  taken over, also on
 * failure @param settings  of senders @return it, or NULL without memory */
struct viewer *viewers_add(struct viewers *v, tltcp_socket *s,
                           const tltcp_live_settings *settings);

/** @brief Closes and forgets one; what it counted must have been taken.
 * @param v  all @param at  which; the last one takes its place */
void viewers_remove(struct viewers *v, size_t at);

/** @brief Gives all a section. @param v  all @param section  borrowed */
void viewers_push(struct viewers *v, tltcp_live_section *section);

/** @brief Whether some have less waiting than a limit.  A slow one does not
 * hold the others up. @param v  all @param bytes  limit */
bool viewers_want(const struct viewers *v, uint64_t bytes);

#endif /* TOOLS_TRANSMIT_VIEWER_H */

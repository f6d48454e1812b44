/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/sender.h
 * @brief Sends a source's frames over a connection, at their times.
 */
#ifndef TOOLS_SENDER_H
#define TOOLS_SENDER_H

#include "tltcp/live_parts.h"
#include "tools/tltcp/frame_log.h"
#include "tools/tltcp/send_options.h"
#include "tools/tltcp/source.h"

/** @brief The sending side. */
struct sender {
    const struct send_options *options;
    tltcp_live_sender *out;
    tltcp_live_stream *stream[SOURCE_STREAMS_MAX];
    unsigned streams;
    struct frame_log log;
    uint64_t start; /* media time 0 on tltcp_now()'s clock */
    bool no_memory;
    int error; /* why the connection ended; 0: in order */
    char reason[TLTCP_REASON_MAX + 1];
};

/**
 * @brief Connects and describes the streams to the peer.
 * @param s    sender
 * @param o    outlives the sender
 * @param src  source of the frames
 * @return TOOL_OK, or an exit status after a message
 */
int sender_open(struct sender *s, const struct send_options *o,
                const struct source *src);

/** @brief Reports why the connection ended. @param s  sender, error is negative
 * @return TOOL_FAILED */
int sender_lost(const struct sender *s);

/** @brief The time at which to pass a frame to sender_push().
 * @param s  sender @param f  frame @return tltcp_now()'s clock */
uint64_t sender_time(const struct sender *s, const struct source_frame *f);

/** @brief Sends a frame; copies it. @param s  sender @param f  frame
 * @return false: out of memory */
bool sender_push(struct sender *s, const struct source_frame *f);

/** @brief Announces the end to the peer. @param s  sender */
void sender_finish(struct sender *s);

/** @brief Closes and frees. @param s  sender
 * @return false: the file of frames could not be written */
bool sender_free(struct sender *s);

#endif /* TOOLS_SENDER_H */

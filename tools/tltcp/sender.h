/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/sender.h
 * @brief A source's frames into a connection, at their times.
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
    int error; /* why the connection is over; 0: in order */
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

/** @brief Says why the connection is over. @param s  sender, error is
 * negative @return TOOL_FAILED */
int sender_lost(const struct sender *s);

/** @brief When a frame is to be given to sender_push(), by its time.
 * @param s  sender @param f  frame @return tltcp_now()'s clock */
uint64_t sender_time(const struct sender *s, const struct source_frame *f);

/** @brief Takes a frame; copies it. @param s  sender @param f  frame
 * @return false without memory */
bool sender_push(struct sender *s, const struct source_frame *f);

/** @brief Tells the peer that no more frames come. @param s  sender */
void sender_finish(struct sender *s);

/** @brief Closes and frees. @param s  sender
 * @return false when the file of frames could not be written */
bool sender_free(struct sender *s);

#endif /* TOOLS_SENDER_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/source.h
 * @brief Frames out of any file that libavformat opens, classified.
 */
#ifndef TOOLS_SOURCE_H
#define TOOLS_SOURCE_H

#include <libavcodec/packet.h>

#include "internal/media/codec/frame.h"
#include "internal/media/codec/framing.h"
#include "internal/media/stream/deadline.h"
#include "tltcp/live.h"

/** Room for a complaint. */
#define SOURCE_WHY_MAX 256
/** Streams of a file that are sent. */
#define SOURCE_STREAMS_MAX 16

/** A file that is being read. */
struct source;

/** @brief A frame; the packet belongs to the source until the next call. */
struct source_frame {
    const AVPacket *packet;
    unsigned stream;   /**< from 0 */
    uint32_t flags;    /**< ::tltcp_live_flag, as the container says */
    media_frame what;  /**< its class and type */
    media_times times; /**< ns from the first frame of the file on */
};

/** How a file ended. */
enum source_end {
    SOURCE_FRAME = 1,  /**< it did not: there is a frame */
    SOURCE_OVER = 0,   /**< at its end */
    SOURCE_BROKEN = -1 /**< in the middle */
};

/**
 * @brief Opens a file.
 * @param path      file, URL of libavformat, or "-": standard input
 * @param[out] why  SOURCE_WHY_MAX bytes: what is wrong
 * @return the source, or NULL
 */
struct source *source_open(const char *path, char *why);

/** @brief Closes. @param s  source, or NULL */
void source_close(struct source *s);

/** @brief How many streams are sent. @param s  source */
unsigned source_streams(const struct source *s);

/** @brief What a stream is. @param s  source @param stream  from 0
 * @param[out] f  filled in; its pointers are the source's */
void source_format(const struct source *s, unsigned stream,
                   tltcp_live_format *f);

/** @brief Playing time in ns as the container says; 0: not known. */
int64_t source_duration(const struct source *s);

/**
 * @brief The next frame in the order of the file.
 * @param s         source
 * @param[out] f    the frame
 * @param[out] why  SOURCE_WHY_MAX bytes, when ::SOURCE_BROKEN
 * @return ::source_end
 */
int source_next(struct source *s, struct source_frame *f, char *why);

/**
 * @brief Goes back to the beginning; timestamps continue.
 * @param s         source
 * @param[out] why  SOURCE_WHY_MAX bytes: what is wrong
 * @return false when the file cannot be read again
 */
bool source_rewind(struct source *s, char *why);

#endif /* TOOLS_SOURCE_H */

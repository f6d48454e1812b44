/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/source.h
 * @brief Reads classified frames from any file that libavformat opens.
 */
#ifndef TOOLS_SOURCE_H
#define TOOLS_SOURCE_H

#include <libavcodec/packet.h>

#include "internal/media/codec/frame.h"
#include "internal/media/codec/framing.h"
#include "internal/media/stream/deadline.h"
#include "tltcp/live.h"

/** Room for an error message. */
#define SOURCE_WHY_MAX 256
/** Maximum number of streams of a file. */
#define SOURCE_STREAMS_MAX 16

/** An open file. */
struct source;

/** @brief A frame; the packet belongs to the source until the next call. */
struct source_frame {
    const AVPacket *packet;
    unsigned stream;   /**< from 0 */
    uint32_t flags;    /**< ::tltcp_live_flag, from the container */
    media_frame what;  /**< its class and type */
    media_times times; /**< ns since the first frame of the file */
};

/** How a file ended. */
enum source_end {
    SOURCE_FRAME = 1,  /**< not at the end: there is a frame */
    SOURCE_OVER = 0,   /**< at its end */
    SOURCE_BROKEN = -1 /**< in the middle */
};

/**
 * @brief Opens a file.
 * @param path      file, URL of libavformat, or "-": standard input
 * @param[out] why  SOURCE_WHY_MAX bytes: description of the error
 * @return the source, or NULL
 */
struct source *source_open(const char *path, char *why);

/** @brief Closes. @param s  source, or NULL */
void source_close(struct source *s);

/**
 * @brief Names the streams that are not sent: subtitles, data, covers.
 * @param s          source
 * @param[out] what  SOURCE_WHY_MAX bytes: codecs and kinds; "": there are none
 */
void source_left_out(const struct source *s, char *what);

/** @brief Number of streams. @param s  source */
unsigned source_streams(const struct source *s);

/** @brief Fills in the format of a stream. @param s  source @param stream  from
 * 0
 * @param[out] f  filled in; the source owns its pointers */
void source_format(const struct source *s, unsigned stream,
                   tltcp_live_format *f);

/** @brief Duration in ns according to the container; 0: not known. */
int64_t source_duration(const struct source *s);

/**
 * @brief Reads the next frame in file order.
 * @param s         source
 * @param[out] f    the frame
 * @param[out] why  SOURCE_WHY_MAX bytes, when ::SOURCE_BROKEN
 * @return ::source_end
 */
int source_next(struct source *s, struct source_frame *f, char *why);

/**
 * @brief Restarts at the beginning; timestamps continue.
 * @param s         source
 * @param[out] why  SOURCE_WHY_MAX bytes: description of the error
 * @return false: the file cannot be read again
 */
bool source_rewind(struct source *s, char *why);

#endif /* TOOLS_SOURCE_H */

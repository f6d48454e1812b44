/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/mux_stream.h
 * @brief One stream of a file that is being written.
 */
#ifndef TOOLS_MUX_STREAM_H
#define TOOLS_MUX_STREAM_H

#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>

#include "internal/media/codec/config.h"

/** @brief A stream. */
struct mux_stream {
    AVStream *out;     /**< NULL: not described */
    AVBSFContext *bsf; /**< finds extradata in the bytes, or NULL */
    bool ready;        /**< the container knows all it needs */
    int64_t last_dts;  /**< of the packet before */
    bool has_dts;      /**< last_dts holds */
};

/** @brief Adds the stream to a container. @return false with a complaint of
 * at most MUX_WHY_MAX bytes */
bool mux_stream_describe(struct mux_stream *s, AVFormatContext *format,
                         const media_config *c, char *why);

/** @brief Looks for extradata in a packet and may rewrite it.
 * @return false without memory */
bool mux_stream_filter(struct mux_stream *s, AVPacket *p);

/** @brief Gives a packet times that containers take: both, the decoding times
 * rising. @return false when the packet must be left out */
bool mux_stream_fix_times(struct mux_stream *s, AVPacket *p);

/** @brief Frees what belongs to the stream. */
void mux_stream_free(struct mux_stream *s);

#endif /* TOOLS_MUX_STREAM_H */

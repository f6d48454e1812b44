/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/mux_stream.h
 * @brief One stream of an output file.
 */
#ifndef TOOLS_MUX_STREAM_H
#define TOOLS_MUX_STREAM_H

#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>

#include "internal/media/codec/config.h"

/** @brief A stream. */
struct mux_stream {
    AVCodecParameters *par; /**< NULL: not described */
    AVRational rate;        /**< pictures a second; 0/1: not known */
    AVStream *out;          /**< NULL: not in the file */
    AVBSFContext *bsf;      /**< finds extradata in the bytes, or NULL */
    bool ready;             /**< the container has all it needs */
    bool late;              /**< described when the file had begun */
    bool ended;             /**< nothing more comes */
    int64_t last_dts;       /**< of the previous packet */
    bool has_dts;           /**< last_dts is set */
};

/** @brief Describes the stream for a container, which need not get it.
 * @return false with an error message of at most MUX_WHY_MAX bytes */
bool mux_stream_describe(struct mux_stream *s, const AVFormatContext *format,
                         const media_config *c, char *why);

/** @brief Adds the stream to its container. @return false: out of memory */
bool mux_stream_begin(struct mux_stream *s, AVFormatContext *format);

/** @brief Looks for extradata in a packet and may rewrite it. It empties one
 * that it does not understand. @return false: out of memory */
bool mux_stream_filter(struct mux_stream *s, AVPacket *p);

/** @brief Gives a packet times that containers accept: both, with increasing
 * decoding times. @return false: leave the packet out */
bool mux_stream_fix_times(struct mux_stream *s, AVPacket *p);

/** @brief Frees the resources of the stream. */
void mux_stream_free(struct mux_stream *s);

#endif /* TOOLS_MUX_STREAM_H */

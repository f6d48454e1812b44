/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/caps.h
 * @brief GStreamer caps as text, made without GStreamer, so that a sender on
 * libavformat can be received by a GStreamer pipeline.
 */
#ifndef MEDIA_CAPS_H
#define MEDIA_CAPS_H

#include <stdbool.h>
#include <stddef.h>

#include "internal/media/codec/config.h"

/**
 * @brief Writes the caps that fit a description (codec, sizes, extradata).
 * @param c    description; its `caps` is not looked at
 * @param buf  room for text with its zero; may be NULL when @p cap is 0
 * @param cap  bytes at @p buf
 * @return length of the text without its zero, as snprintf(); 0: the codec has
 * no caps that are known here
 */
size_t media__caps_write(const media_config *c, char *buf, size_t cap);

/**
 * @brief Codec by libavcodec's name that goes with a media type of GStreamer.
 * @param media_type  such as "video/x-h264"
 * @param version     `mpegversion` of the caps, 0 when absent
 * @return static text such as "h264", or NULL
 */
const char *media__caps_codec(const char *media_type, int version);

#endif /* MEDIA_CAPS_H */

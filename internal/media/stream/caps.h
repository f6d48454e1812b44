/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/caps.h
 * @brief Writes GStreamer caps as text without GStreamer, so that a GStreamer
 * pipeline can receive from a sender based on libavformat.
 */
#ifndef MEDIA_CAPS_H
#define MEDIA_CAPS_H

#include <stdbool.h>
#include <stddef.h>

#include "internal/media/codec/config.h"

/**
 * @brief Writes the caps for a description (codec, sizes, extradata).
 * @param c    description; its `caps` is ignored
 * @param buf  buffer for zero-terminated text; may be NULL if @p cap is 0
 * @param cap  bytes at @p buf
 * @return length of the text without its terminating zero, as snprintf(); 0: no
 * caps known for the codec
 */
size_t media__caps_write(const media_config *c, char *buf, size_t cap);

/**
 * @brief The libavcodec name for a GStreamer media type.
 * @param media_type  such as "video/x-h264"
 * @param version     `mpegversion` of the caps, 0 when absent
 * @return static text such as "h264", or NULL
 */
const char *media__caps_codec(const char *media_type, int version);

#endif /* MEDIA_CAPS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/config.h
 * @brief The payload of a CONFIG section: the description of a stream.
 *
 * The format is described in docs/protocols/media-framing.md.
 */
#ifndef MEDIA_CONFIG_H
#define MEDIA_CONFIG_H

#include "internal/media/codec/framing.h"

/** Borrowed bytes; text is not zero-terminated. */
typedef struct media_span {
    const void *data; /**< first byte; NULL when absent */
    size_t len;       /**< bytes at data */
} media_span;

/** Description of a stream; zero or an empty span: not stated. */
typedef struct media_config {
    uint8_t type;         /**< ::media_type */
    uint8_t streams;      /**< total number of streams */
    uint8_t nal_length;   /**< bytes of a NAL unit's length field, 1 to 4; 0:
                               start codes, or no NAL units */
    uint8_t reserved;     /**< 0 */
    uint32_t width;       /**< pixels */
    uint32_t height;      /**< pixels */
    uint32_t rate_num;    /**< frames per second, numerator */
    uint32_t rate_den;    /**< frames per second, denominator */
    uint32_t sample_rate; /**< Hz */
    uint32_t channels;    /**< audio channels */
    uint32_t latency_ms;  /**< the sender's latency */
    uint32_t bit_rate;    /**< bit/s on average */
    uint32_t block_bytes; /**< bytes per decoder block; 0: any */
    uint32_t sample_bits; /**< bits of a coded sample; 0: defined by the
                               codec */
    media_span codec;     /**< libavcodec's codec name, such as "h264" */
    media_span caps;      /**< GStreamer caps as text */
    media_span extradata; /**< codec_data of GStreamer, extradata of libav */
    media_span title;     /**< free text */
    media_span format;    /**< format of raw pixels or samples, libavutil's
                               name */
} media_config;

/**
 * @brief Writes the payload of a CONFIG.
 * @param c    what to write
 * @param buf  buffer; may be NULL if @p cap is 0
 * @param cap  bytes at @p buf
 * @return bytes of the payload; if more than @p cap, nothing useful was
 * written; 0: larger than ::MEDIA_CONFIG_MAX
 */
size_t media__config_write(const media_config *c, uint8_t *buf, size_t cap);

/**
 * @brief Reads the payload of a CONFIG.
 * @param[out] c  filled in if MEDIA_OK; spans point into @p data
 * @param data    payload
 * @param len     bytes at @p data
 * @return ::MEDIA_OK or an error
 */
int media__config_parse(media_config *c, const void *data, size_t len);

#endif /* MEDIA_CONFIG_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/framing.h
 * @brief The header of a section that carries media.
 *
 * A section has one header and one payload: a frame, the description of a
 * stream (config.h) or the payload of an event.  The format is described in
 * docs/protocols/media-framing.md.  Parsers accept any input from a peer: they
 * read nothing outside the given bytes and allocate nothing.
 */
#ifndef MEDIA_FRAMING_H
#define MEDIA_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/media/codec/class.h"

/** Bytes of the header that this version writes. */
#define MEDIA_HEADER_LEN 52
/** Largest accepted payload of a CONFIG section. */
#define MEDIA_CONFIG_MAX (1u << 20)
/** As a time: none. */
#define MEDIA_TIME_NONE INT64_MIN
/** Times beyond this are refused, so that small sums never overflow. */
#define MEDIA_TIME_LIMIT (INT64_C(1) << 60)

/** Errors of the parsers. */
enum media_error {
    MEDIA_OK = 0,           /**< no error */
    MEDIA_ERR_SHORT = -1,   /**< truncated in the header or a field */
    MEDIA_ERR_MAGIC = -2,   /**< not a media section */
    MEDIA_ERR_VERSION = -3, /**< unknown version */
    MEDIA_ERR_VALUE = -4,   /**< a field has an invalid value */
    MEDIA_ERR_TOO_BIG = -5  /**< larger than the limit or the buffer */
};

/** Kinds of payloads. */
enum media_kind {
    MEDIA_KIND_CONFIG = 1, /**< description of a stream */
    MEDIA_KIND_FRAME = 2,  /**< one frame of a stream */
    MEDIA_KIND_EVENT = 3   /**< an event of a stream, see ::media_event */
};

/** Events: the `code` field of a ::MEDIA_KIND_EVENT header. */
enum media_event {
    MEDIA_EVENT_EOS = 1, /**< the stream is at its orderly end */
    MEDIA_EVENT_GAP = 2, /**< no media from pts for duration; nothing was
                              lost */
    MEDIA_EVENT_TAGS = 3 /**< payload: a GStreamer tag list as text */
};

/** Flags of a frame. */
enum media_flag {
    MEDIA_FLAG_KEY = 1 << 0,         /**< decoding can begin here */
    MEDIA_FLAG_DELTA = 1 << 1,       /**< GStreamer's DELTA_UNIT */
    MEDIA_FLAG_HEADER = 1 << 2,      /**< carries stream headers */
    MEDIA_FLAG_DROPPABLE = 1 << 3,   /**< no frame depends on it */
    MEDIA_FLAG_DISCONT = 1 << 4,     /**< discontinuity before this frame */
    MEDIA_FLAG_CORRUPTED = 1 << 5,   /**< damaged before it was sent */
    MEDIA_FLAG_MARKER = 1 << 6,      /**< GStreamer's MARKER: ends an access
                                          unit */
    MEDIA_FLAG_GAP = 1 << 7,         /**< silence or repetition */
    MEDIA_FLAG_RESYNC = 1 << 8,      /**< GStreamer's RESYNC */
    MEDIA_FLAG_DECODE_ONLY = 1 << 9, /**< decode, do not display */
    MEDIA_FLAG_RECOVERY = 1 << 10,   /**< decoding can begin here and is correct
                                          after some references, see
                                          ::MEDIA_RECOVERY_SHIFT */
    MEDIA_FLAG_CLOSED =
        1 << 11, /**< with KEY: no later frame depends on an earlier one */
    MEDIA_FLAG_BRANCH = 1 << 12 /**< a reference for few frames, see
                                     media_frame::branch */
};

/** Bits 16 to 31 of the flags: with RECOVERY, the number of references. */
#define MEDIA_RECOVERY_SHIFT 16

/** The header of a media section, in host byte order. */
typedef struct media_header {
    uint8_t kind;        /**< ::media_kind */
    uint8_t stream;      /**< number of the stream, from 0 */
    uint8_t frame_class; /**< ::media_class; not FRAME: 0 */
    uint8_t picture;     /**< FRAME: ::media_picture; EVENT: ::media_event */
    uint32_t flags;      /**< ::media_flag; unknown ones are kept */
    uint32_t generation; /**< number of the valid CONFIG, from 1, counted per
                              stream; CONFIG: its own */
    uint32_t number;     /**< index of the frame in its stream in coding order,
                              from 0; frames never sent count; frames of class
                              HEADER do not and have the number of the next
                              frame */
    uint32_t refs;       /**< number of earlier frames that were neither
                              disposable nor a branch */
    uint32_t length;     /**< bytes of payload */
    int64_t pts;         /**< display time, ns; or ::MEDIA_TIME_NONE */
    int64_t dts;         /**< decoding time, ns; or ::MEDIA_TIME_NONE */
    int64_t duration;    /**< ns; ::MEDIA_TIME_NONE */
} media_header;

/**
 * @brief Whether a time is within limits.
 * @param t  ns
 * @return true also for ::MEDIA_TIME_NONE
 */
bool media__time_valid(int64_t t);

/**
 * @brief Writes a header.
 * @param h    what to write
 * @param buf  ::MEDIA_HEADER_LEN bytes
 */
void media__header_write(const media_header *h, uint8_t *buf);

/**
 * @brief Reads a header, the first bytes of a section.
 * @param[out] h        filled in if MEDIA_OK
 * @param data          the section, or at least its beginning
 * @param len           bytes at @p data
 * @param[out] payload  offset of the payload in the section
 * @return ::MEDIA_OK or an error
 */
int media__header_parse(media_header *h, const void *data, size_t len,
                        size_t *payload);

/**
 * @brief Reads the header of a complete section and checks the length of its
 * payload.
 * @param[out] h        filled in if MEDIA_OK
 * @param data          the section
 * @param len           bytes at @p data
 * @param[out] payload  offset of the payload in the section
 * @return ::MEDIA_OK or an error
 */
int media__section_parse(media_header *h, const void *data, size_t len,
                         size_t *payload);

#endif /* MEDIA_FRAMING_H */

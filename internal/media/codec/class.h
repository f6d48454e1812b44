/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/class.h
 * @brief Type of a stream, role of a frame, and coding type of a picture.
 */
#ifndef MEDIA_CLASS_H
#define MEDIA_CLASS_H

#include <stdbool.h>

/** Media types of a stream. */
enum media_type {
    MEDIA_TYPE_UNKNOWN = 0, /**< not stated */
    MEDIA_TYPE_VIDEO = 1,   /**< pictures */
    MEDIA_TYPE_AUDIO = 2,   /**< sound */
    MEDIA_TYPE_DATA = 3     /**< anything else, including muxed streams */
};

/** Role of a frame; decides what to give up first. */
enum media_class {
    MEDIA_CLASS_OTHER = 0,      /**< not known: treat as reference */
    MEDIA_CLASS_HEADER = 1,     /**< parameter sets, stream headers */
    MEDIA_CLASS_KEY = 2,        /**< decoding can begin here */
    MEDIA_CLASS_REFERENCE = 3,  /**< later frames depend on it */
    MEDIA_CLASS_DISPOSABLE = 4, /**< no frame depends on it */
    MEDIA_CLASS_AUDIO = 5,      /**< audio packet, decodable alone */
    MEDIA_CLASS_COUNT = 6       /**< number of values */
};

/** How a picture is coded, for reports. */
enum media_picture {
    MEDIA_PICTURE_OTHER = 0, /**< not a picture, or not known */
    MEDIA_PICTURE_I = 1,     /**< intra */
    MEDIA_PICTURE_P = 2,     /**< predicted from one side */
    MEDIA_PICTURE_B = 3,     /**< predicted from both sides */
    MEDIA_PICTURE_COUNT = 4  /**< number of values */
};

/**
 * @brief Whether a frame is a video frame of any role.
 * @param frame_class  ::media_class
 * @return true for key, reference and disposable
 */
static inline bool media__is_picture(unsigned frame_class) {
    return frame_class == MEDIA_CLASS_KEY ||
           frame_class == MEDIA_CLASS_REFERENCE ||
           frame_class == MEDIA_CLASS_DISPOSABLE;
}

/**
 * @brief The name of a frame class.
 * @param frame_class  ::media_class
 * @return static text such as "reference"
 */
const char *media__class_name(unsigned frame_class);

/**
 * @brief The name of a picture type.
 * @param picture  ::media_picture
 * @return static text: "I", "P", "B" or "other"
 */
const char *media__picture_name(unsigned picture);

#endif /* MEDIA_CLASS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* Names of frame classes and picture types. */
#include "internal/media/codec/class.h"

const char *media__class_name(unsigned frame_class) {
    static const char *const names[MEDIA_CLASS_COUNT] = {
        "other", "header", "key", "reference", "disposable", "audio"};

    return names[frame_class < MEDIA_CLASS_COUNT ? frame_class : 0];
}

const char *media__picture_name(unsigned picture) {
    static const char *const names[MEDIA_PICTURE_COUNT] = {"other", "I", "P",
                                                           "B"};

    return names[picture < MEDIA_PICTURE_COUNT ? picture : 0];
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/live/tally.h"

enum tally_kind tally_kind(const media_header *h) {
    if (h->frame_class == MEDIA_CLASS_AUDIO) {
        return TALLY_AUDIO;
    }
    switch (h->picture) {
    case MEDIA_PICTURE_I:
        return TALLY_I;
    case MEDIA_PICTURE_P:
        return TALLY_P;
    case MEDIA_PICTURE_B:
        return TALLY_B;
    default:
        return TALLY_OTHER;
    }
}

const char *tally_name(enum tally_kind kind) {
    static const char *const names[TALLY_KINDS] = {"I", "P", "B", "audio",
                                                   "other"};
    return names[kind];
}

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/tally.h
 * @brief Kinds of frames as reports count them.
 */
#ifndef LIVE_TALLY_H
#define LIVE_TALLY_H

#include "internal/media/codec/framing.h"

/** Kinds of frames. */
enum tally_kind {
    TALLY_I,
    TALLY_P,
    TALLY_B,
    TALLY_AUDIO,
    TALLY_OTHER,
    TALLY_KINDS /**< how many there are */
};

/** @brief The kind of a frame. @param h  header of a FRAME */
enum tally_kind tally_kind(const media_header *h);

/** @brief Its name in reports: I, P, B, audio, other. */
const char *tally_name(enum tally_kind kind);

#endif /* LIVE_TALLY_H */

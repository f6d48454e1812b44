/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/h265.h
 * @brief Parameter sets and slice headers of H.265, for codec/h26x.h.
 */
#ifndef MEDIA_H265_H
#define MEDIA_H265_H

#include "internal/media/codec/nal.h"
#include "internal/media/codec/refs.h"

/** nal_unit_type, H.265 table 7-1. */
enum media_h265_nal {
    MEDIA_H265_RADL_N = 6,
    MEDIA_H265_RASL_N = 8,
    MEDIA_H265_RASL_R = 9,
    MEDIA_H265_LAST_SUBLAYER = 15, /**< even types up to here: not referenced */
    MEDIA_H265_BLA_W_LP = 16,
    MEDIA_H265_BLA_N_LP = 18,
    MEDIA_H265_IDR_W_RADL = 19,
    MEDIA_H265_IDR_N_LP = 20,
    MEDIA_H265_CRA = 21,
    MEDIA_H265_IRAP_LAST = 23,
    MEDIA_H265_VPS = 32,
    MEDIA_H265_SPS = 33,
    MEDIA_H265_PPS = 34,
    MEDIA_H265_EOS = 36,
    MEDIA_H265_EOB = 37,
    MEDIA_H265_SEI_PREFIX = 39
};

/** The header of the first slice of a picture. */
typedef struct media_h265_slice {
    media_bits bits;           /**< reader after the fields below */
    const media_h265_pps *pps; /**< its parameter set; NULL: not a first slice,
                                    or unreadable */
    unsigned nal;              /**< ::media_h265_nal */
    unsigned type;             /**< 0 B, 1 P, 2 I; otherwise not known */
} media_h265_slice;

/** @brief The type of a NAL unit. @param nal  unit @return ::media_h265_nal */
static inline unsigned media__h265_type(const media_nal *nal) {
    return nal->data[0] >> 1 & 0x3fu;
}

/**
 * @brief Reads a sequence parameter set.
 * @param h    state; the set becomes unknown if the bytes are unreadable
 * @param nal  the unit
 */
void media__h265_read_sps(media_h265 *h, const media_nal *nal);

/**
 * @brief Reads a picture parameter set.
 * @param h    state
 * @param nal  the unit
 */
void media__h265_read_pps(media_h265 *h, const media_nal *nal);

/**
 * @brief Reads a set of reference pictures, st_ref_pic_set() of 7.3.7.
 * @param b         reader
 * @param sps       the sets before it
 * @param index     number of sets before it
 * @param in_slice  it is in a slice header
 * @param[out] out  the set; invalid if the reader is bad
 */
void media__h265_read_set(media_bits *b, const media_h265_sps *sps,
                          unsigned index, bool in_slice, media_h265_set *out);

/**
 * @brief Reads the beginning of a slice header.
 * @param h        state
 * @param nal      the slice
 * @param[out] out the result
 */
void media__h265_read_slice(const media_h265 *h, const media_nal *nal,
                            media_h265_slice *out);

/**
 * @brief Finds the references of a picture.
 * @param s       scanner
 * @param slice   its first slice
 * @param single  the picture has no other slice
 * @param f       frame with its class and layer; `ordinal`, `parent` and
 *                `branch` are set
 */
void media__h265_refer(media_scanner *s, const media_h265_slice *slice,
                       bool single, media_frame *f);

#endif /* MEDIA_H265_H */

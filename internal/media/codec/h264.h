/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/h264.h
 * @brief Parameter sets and slice headers of H.264, for codec/h26x.h.
 */
#ifndef MEDIA_H264_H
#define MEDIA_H264_H

#include "internal/media/codec/nal.h"
#include "internal/media/codec/refs.h"

/** nal_unit_type, H.264 table 7-1. */
enum media_h264_nal {
    MEDIA_H264_SLICE = 1,
    MEDIA_H264_PARTITION_A = 2,
    MEDIA_H264_IDR = 5,
    MEDIA_H264_SEI = 6,
    MEDIA_H264_SPS = 7,
    MEDIA_H264_PPS = 8
};

/** Maximum commands of one kind in a slice header. */
#define MEDIA_H264_COMMANDS 40

/** A command about references: 7.4.3.1, 7.4.3.3. */
typedef struct media_h264_command {
    uint32_t kind;   /**< modification_of_pic_nums_idc, or
                          memory_management_control_operation */
    uint32_t number; /**< its first operand */
    uint32_t index;  /**< its second operand */
} media_h264_command;

/** Commands in order. */
typedef struct media_h264_commands {
    unsigned count;                               /**< how many */
    media_h264_command list[MEDIA_H264_COMMANDS]; /**< commands */
} media_h264_commands;

/** Contents of a slice header. */
typedef struct media_h264_slice {
    bool first;         /**< first slice of its picture */
    bool idr;           /**< slice of an IDR picture */
    bool reference;     /**< nal_ref_idc is not 0 */
    bool long_term;     /**< IDR: long_term_reference_flag */
    bool adaptive;      /**< adaptive_ref_pic_marking_mode_flag */
    unsigned type;      /**< slice_type modulo 5: 0 P, 1 B, 2 I, 3 SP, 4 SI */
    int32_t frame;      /**< frame_num */
    int32_t order_low;  /**< pic_order_cnt_lsb */
    int32_t order_more; /**< delta_pic_order_cnt_bottom, if negative */
    unsigned active[2]; /**< active pictures of each list */
    media_h264_commands lists[2]; /**< ref_pic_list_modification() */
    media_h264_commands marking;  /**< dec_ref_pic_marking() */
} media_h264_slice;

/**
 * @brief Reads a parameter set.
 * @param h    state
 * @param nal  the unit
 * @return false: not a parameter set
 */
bool media__h264_read_params(media_h264 *h, const media_nal *nal);

/**
 * @brief Reads a slice header.
 * @param h         state
 * @param nal       the slice
 * @param[out] out  its contents; idr, reference and first are always valid
 * @return false: unreadable, or a field
 */
bool media__h264_read_slice(const media_h264 *h, const media_nal *nal,
                            media_h264_slice *out);

/**
 * @brief Adds the possible references of a slice.
 * @param s      scanner
 * @param slice  the slice
 * @param p      picture: its order, and the references of its other slices
 */
void media__h264_choose(const media_scanner *s, const media_h264_slice *slice,
                        media_refs_picture *p);

/**
 * @brief Begins a picture with its first slice.
 * @param s      scanner
 * @param slice  the slice
 * @param p      its order is set
 * @return false: its references cannot be known
 */
bool media__h264_begin(media_scanner *s, const media_h264_slice *slice,
                       media_refs_picture *p);

/**
 * @brief Ends a picture, and stores it if it is a reference.
 * @param s      scanner
 * @param slice  a slice of it
 * @param p      its references
 * @param f      frame with its class; `ordinal`, `parent` and `branch` are set
 */
void media__h264_end(media_scanner *s, const media_h264_slice *slice,
                     media_refs_picture *p, media_frame *f);

#endif /* MEDIA_H264_H */

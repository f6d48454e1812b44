/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file media/scan.h
 * @brief What media/frame.h and the codecs behind it know about a frame and a
 * stream.
 */
#ifndef MEDIA_SCAN_H
#define MEDIA_SCAN_H

#include <stdbool.h>
#include <stdint.h>

/** Codecs that the scanner knows. */
enum media_codec {
    MEDIA_CODEC_UNKNOWN = 0, /**< class by type and flags alone */
    MEDIA_CODEC_MPEG12 = 1,  /**< MPEG-1 and MPEG-2 video */
    MEDIA_CODEC_MPEG4 = 2,   /**< MPEG-4 part 2 */
    MEDIA_CODEC_H264 = 3,    /**< H.264 */
    MEDIA_CODEC_H265 = 4,    /**< H.265 */
    MEDIA_CODEC_VP8 = 5,     /**< VP8 */
    MEDIA_CODEC_VP9 = 6,     /**< VP9 */
    MEDIA_CODEC_AV1 = 7      /**< AV1, OBUs with sizes */
};

/** What is known about a frame. */
typedef struct media_frame {
    uint8_t frame_class;   /**< ::media_class */
    uint8_t picture;       /**< ::media_picture */
    uint8_t temporal_id;   /**< H.265, AV1: temporal layer */
    bool key;              /**< decoding can begin here */
    bool recovery;         /**< recovery point: right some frames later */
    bool leading;          /**< H.265: shown before the key frame it follows */
    bool broken_link;      /**< MPEG, H.264: frames shown before it are bad */
    bool closed_gop;       /**< IDR, or MPEG closed GOP */
    bool continues;        /**< goes on with the frame that the part before it
                                began, see ::media_form */
    uint32_t recovery_cnt; /**< frames until right after a recovery point */
    int32_t tsn;           /**< MPEG-1/2: temporal_reference; -1: none */
} media_frame;

/** What of an AV1 sequence header the frame headers behind it need. */
typedef struct media_av1_seq {
    bool known;             /**< there was one */
    bool reduced;           /**< reduced_still_picture_header */
    bool screen_content;    /**< seq_choose_screen_content_tools, or forced */
    bool screen_choice;     /**< each frame says */
    bool integer_mv_choice; /**< each frame says */
    uint8_t frame_id_bits;  /**< 0: frames have no numbers */
    uint8_t order_bits;     /**< OrderHintBits */
    uint8_t time_bits;      /**< of temporal_point_info; 0: none */
    bool decoder_model;     /**< decoder_model_info_present_flag */
} media_av1_seq;

/** How frames come. */
enum media_form {
    MEDIA_FORM_WHOLE = 0, /**< one by one */
    MEDIA_FORM_RTP = 1,   /**< H.264, H.265: in RTP packets */
    MEDIA_FORM_UNITS = 2  /**< H.264, H.265: in NAL units, each alone */
};

/** The frame whose parts are coming. */
typedef struct media_parts {
    uint32_t frames;       /**< how many have begun; 0: none */
    bool open;             /**< its first slice was seen */
    bool recovery;         /**< so was a recovery point before it */
    uint32_t recovery_cnt; /**< of that */
    uint32_t time;         /**< RTP timestamp */
    media_frame frame;     /**< what its first slice said */
} media_parts;

/** A stream as the scanner sees it.  Plain memory: copy it as you like. */
typedef struct media_scanner {
    uint8_t codec;          /**< ::media_codec */
    uint8_t type;           /**< ::media_type */
    uint8_t nal_length;     /**< bytes before each NAL unit; 0: start codes */
    uint8_t max_tid;        /**< highest H.265 temporal layer so far */
    uint8_t extra_bits[64]; /**< H.265: num_extra_slice_header_bits by PPS */
    media_av1_seq av1;      /**< AV1 */
    uint8_t form;           /**< ::media_form */
    media_parts parts;      /**< unless WHOLE: the frame at hand */
} media_scanner;

#endif /* MEDIA_SCAN_H */

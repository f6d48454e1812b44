/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/scan.h
 * @brief State of frames and streams shared by codec/frame.h and the codecs.
 */
#ifndef MEDIA_SCAN_H
#define MEDIA_SCAN_H

#include <stdbool.h>
#include <stdint.h>

/** Codecs that the scanner supports. */
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

/** A classified frame. */
typedef struct media_frame {
    uint8_t frame_class; /**< ::media_class */
    uint8_t picture;     /**< ::media_picture */
    uint8_t temporal_id; /**< H.265, AV1: temporal layer */
    bool key;            /**< decoding can begin here */
    bool recovery;       /**< recovery point: correct after some frames */
    bool leading;        /**< H.265: displayed before the key frame it
                              follows */
    bool broken_link;    /**< MPEG, H.264: frames displayed before it are
                              damaged */
    bool closed_gop;     /**< IDR, or MPEG closed GOP */
    bool continues;      /**< continues the frame of the previous part, see
                              ::media_form */
    bool branch; /**< a reference off the main chain: only frames displayed near
                      it, or in higher layers, need it */
    uint32_t recovery_cnt; /**< frames until correct after a recovery point */
    int32_t tsn;           /**< MPEG-1/2: temporal_reference; -1: none */
    uint32_t ordinal;      /**< H.264, H.265: counts pictures from 1; 0: not
                                known */
    uint32_t parent;       /**< distance to the picture it refers to; it refers
                                to others only through that; 0: not known */
} media_frame;

/** Number of pictures stored, see codec/refs.h. */
#define MEDIA_REFS_RECENT 64

/** A stored picture. */
typedef struct media_ref {
    int32_t order;   /**< picture order count */
    uint32_t parent; /**< ordinal of its actual or assumed reference; 0: none */
    bool trunk;      /**< part of the trunk */
} media_ref;

/** Pictures of a stream, by their ordinals. */
typedef struct media_refs {
    uint32_t count;  /**< pictures so far: ordinal of the newest */
    uint32_t first;  /**< oldest that can be referenced */
    uint32_t newest; /**< newest reference */
    uint32_t trunk;  /**< newest picture of the trunk */
    int32_t highest; /**< its order count */
    unsigned passed; /**< how often the trunk bypassed a reference */
    media_ref recent[MEDIA_REFS_RECENT]; /**< by ordinal */
} media_refs;

/** H.264: fields of a picture parameter set needed for slice headers. */
typedef struct media_h264_pps {
    bool known;        /**< it was read */
    bool two_orders;   /**< bottom_field_pic_order_in_frame_present_flag */
    bool weighted;     /**< weighted_pred_flag */
    bool redundant;    /**< redundant_pic_cnt_present_flag */
    uint8_t sps;       /**< its sequence parameter set */
    uint8_t bipred;    /**< weighted_bipred_idc */
    uint8_t active[2]; /**< default active pictures of each list */
} media_h264_pps;

/** H.264: fields of a sequence parameter set needed for slice headers. */
typedef struct media_h264_sps {
    bool known;           /**< it was read */
    bool separate_planes; /**< separate_colour_plane_flag */
    bool chroma;          /**< ChromaArrayType is not 0 */
    bool frames_only;     /**< frame_mbs_only_flag */
    uint8_t id;           /**< its number */
    uint8_t frame_bits;   /**< of frame_num */
    uint8_t order_type;   /**< pic_order_cnt_type, 0 or 2 */
    uint8_t order_bits;   /**< of pic_order_cnt_lsb */
    uint8_t refs_max;     /**< max_num_ref_frames */
} media_h264_sps;

/** H.264: a reference picture. */
typedef struct media_h264_ref {
    uint32_t ordinal; /**< its ordinal */
    int32_t frame;    /**< frame_num, or LongTermFrameIdx */
    int32_t order;    /**< picture order count */
    bool long_term;   /**< used for long-term reference */
} media_h264_ref;

/** H.264 state of the scanner. */
typedef struct media_h264 {
    bool following;          /**< everything since an IDR picture is known */
    uint8_t count;           /**< pictures in refs */
    int32_t frame;           /**< frame_num of the previous picture */
    int32_t ref_frame;       /**< frame_num of the previous reference */
    int32_t base_order;      /**< base of the next order count */
    media_h264_sps sps;      /**< the newest */
    media_h264_pps pps[64];  /**< by number */
    media_h264_ref refs[17]; /**< in coding order */
} media_h264;

/** H.265: a set of reference pictures, by distance. */
typedef struct media_h265_set {
    uint8_t before;    /**< number of earlier pictures, nearest first */
    uint8_t after;     /**< then number of later pictures */
    uint16_t used;     /**< bit mask: used by this picture, not only by later
                            ones */
    int16_t delta[16]; /**< picture order count relative to this picture's */
} media_h265_set;

/** H.265: fields of a picture parameter set needed for slice headers. */
typedef struct media_h265_pps {
    bool known;         /**< it was read */
    bool output_flag;   /**< output_flag_present_flag */
    bool reorders;      /**< lists_modification_present_flag */
    uint8_t sps;        /**< its sequence parameter set */
    uint8_t extra_bits; /**< num_extra_slice_header_bits */
    uint8_t active[2];  /**< default active pictures of each list */
} media_h265_pps;

/** H.265: fields of a sequence parameter set needed for slice headers. */
typedef struct media_h265_sps {
    bool known;             /**< it was read */
    bool separate_planes;   /**< separate_colour_plane_flag */
    bool chroma;            /**< ChromaArrayType is not 0 */
    bool offset;            /**< sample_adaptive_offset_enabled_flag */
    bool temporal_mvp;      /**< sps_temporal_mvp_enabled_flag */
    bool long_term;         /**< long_term_ref_pics_present_flag */
    uint8_t id;             /**< its number */
    uint8_t order_bits;     /**< of slice_pic_order_cnt_lsb */
    uint8_t long_terms;     /**< num_long_term_ref_pics_sps */
    uint8_t set_count;      /**< sets in it */
    media_h265_set set[64]; /**< the sets */
} media_h265_sps;

/** H.265 state of the scanner. */
typedef struct media_h265 {
    uint8_t max_tid;        /**< highest temporal layer so far */
    bool counting;          /**< a picture was read; order counts continue */
    int32_t base_order;     /**< base of the next order count */
    media_h265_sps sps;     /**< the newest */
    media_h265_pps pps[64]; /**< by number */
} media_h265;

/** AV1: fields of a sequence header needed for frame headers. */
typedef struct media_av1_seq {
    bool known;             /**< it was read */
    bool reduced;           /**< reduced_still_picture_header */
    bool screen_content;    /**< seq_choose_screen_content_tools, or forced */
    bool screen_choice;     /**< chosen per frame */
    bool integer_mv_choice; /**< chosen per frame */
    uint8_t frame_id_bits;  /**< 0: frames have no ids */
    uint8_t order_bits;     /**< OrderHintBits */
    uint8_t time_bits;      /**< bits of temporal_point_info; 0: none */
    bool decoder_model;     /**< decoder_model_info_present_flag */
} media_av1_seq;

/** Forms of input. */
enum media_form {
    MEDIA_FORM_WHOLE = 0, /**< whole frames */
    MEDIA_FORM_RTP = 1,   /**< H.264, H.265: RTP packets */
    MEDIA_FORM_UNITS = 2  /**< H.264, H.265: single NAL units */
};

/** The current frame of several parts. */
typedef struct media_parts {
    uint32_t frames;       /**< frames begun; 0: none */
    bool open;             /**< its first slice was seen */
    bool recovery;         /**< a recovery point before it was seen */
    uint32_t recovery_cnt; /**< frames until it is correct */
    uint32_t time;         /**< RTP timestamp */
    media_frame frame;     /**< result of its first slice */
} media_parts;

/** Scanner of a stream. Plain memory: may be copied. */
typedef struct media_scanner {
    uint8_t codec;      /**< ::media_codec */
    uint8_t type;       /**< ::media_type */
    uint8_t nal_length; /**< bytes before each NAL unit; 0: start codes */
    media_av1_seq av1;  /**< AV1 */
    media_h264 h264;    /**< H.264 */
    media_h265 h265;    /**< H.265 */
    media_refs refs;    /**< H.264, H.265 */
    uint8_t form;       /**< ::media_form */
    media_parts parts;  /**< unless WHOLE: the current frame */
} media_scanner;

#endif /* MEDIA_SCAN_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/picture_order.h
 * @brief Display times for raw H.264 and H.265, which carry none: from the
 * picture order count in the slice headers.
 */
#ifndef TOOLS_PICTURE_ORDER_H
#define TOOLS_PICTURE_ORDER_H

#include <libavcodec/avcodec.h>
#include <stdbool.h>
#include <stdint.h>

/** @brief What is remembered from frame to frame. */
struct picture_order {
    AVCodecParserContext *parser; /**< NULL: not for this codec */
    AVCodecContext *context;
    int64_t frame_ns;
    int64_t base; /**< display time of count 0 */
    int delay;    /**< frames by which display runs behind */
    int step;     /**< of the count from picture to picture */
};

/** @brief Begins. @param o  state @param par  the stream @param frame_ns
 * distance of frames @return false when the codec has no such count */
bool picture_order_init(struct picture_order *o, const AVCodecParameters *par,
                        int64_t frame_ns);

/** @brief Frees what picture_order_init() made. @param o  state */
void picture_order_free(struct picture_order *o);

/**
 * @brief Display time of the next frame in coding order.
 * @param o       state
 * @param packet  the frame
 * @param dts     its decoding time, ns
 * @param closed  nothing behind it is shown before it, and counts start anew
 * @return ns
 */
int64_t picture_order_pts(struct picture_order *o, const AVPacket *packet,
                          int64_t dts, bool closed);

#endif /* TOOLS_PICTURE_ORDER_H */

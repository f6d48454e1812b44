/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/picture_order.h
 * @brief Display times for raw H.264 and H.265, which carry none, from the
 * picture order count in the slice headers.
 */
#ifndef TOOLS_PICTURE_ORDER_H
#define TOOLS_PICTURE_ORDER_H

#include <libavcodec/avcodec.h>
#include <stdbool.h>
#include <stdint.h>

/** @brief State from frame to frame. */
struct picture_order {
    AVCodecParserContext *parser; /**< NULL: not for this codec */
    AVCodecContext *context;
    int64_t frame_ns;
    int64_t base; /**< display time of count 0 */
    int delay;    /**< delay of display in frames */
    int step;     /**< increment of the count per picture */
};

/** @brief Initialises. @param o  state @param par  the stream @param frame_ns
 * frame interval @return false: the codec has no such count */
bool picture_order_init(struct picture_order *o, const AVCodecParameters *par,
                        int64_t frame_ns);

/** @brief Frees the state. @param o  state */
void picture_order_free(struct picture_order *o);

/**
 * @brief Display time of the next frame in coding order.
 * @param o       state
 * @param packet  the frame
 * @param dts     its decoding time, ns
 * @param closed  no later frame is shown before it, and counts restart
 * @return ns
 */
int64_t picture_order_pts(struct picture_order *o, const AVPacket *packet,
                          int64_t dts, bool closed);

#endif /* TOOLS_PICTURE_ORDER_H */

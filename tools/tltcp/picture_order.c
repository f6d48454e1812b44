/* SPDX-License-Identifier: MPL-2.0 */
/* Display times for raw H.264 and H.265. */
#include "tools/tltcp/picture_order.h"

bool picture_order_init(struct picture_order *o, const AVCodecParameters *par,
                        int64_t frame_ns) {
    bool known =
        par->codec_id == AV_CODEC_ID_H264 || par->codec_id == AV_CODEC_ID_HEVC;
    *o =
        (struct picture_order){.frame_ns = frame_ns, .delay = par->video_delay};
    if (!known) {
        return false;
    }
    /* H.264 usually counts fields */
    o->step = par->codec_id == AV_CODEC_ID_H264 ? 2 : 1;
    o->parser = av_parser_init((int)par->codec_id);
    o->context = avcodec_alloc_context3(NULL);
    if (!o->parser || !o->context ||
        avcodec_parameters_to_context(o->context, par) < 0) {
        picture_order_free(o);
        return false;
    }
    o->parser->flags |= PARSER_FLAG_COMPLETE_FRAMES;
    return true;
}

void picture_order_free(struct picture_order *o) {
    av_parser_close(o->parser);
    o->parser = NULL;
    avcodec_free_context(&o->context);
}

int64_t picture_order_pts(struct picture_order *o, const AVPacket *packet,
                          int64_t dts, bool closed) {
    uint8_t *out;
    int size;
    int count;
    (void)av_parser_parse2(o->parser, o->context, &out, &size, packet->data,
                           packet->size, AV_NOPTS_VALUE, AV_NOPTS_VALUE, 0);
    count = o->parser->output_picture_number;
    if (closed) {
        o->base = dts + o->delay * o->frame_ns - count * o->frame_ns / o->step;
    }
    if (count % o->step != 0) {
        o->step = 1;
    }
    return o->base + count * o->frame_ns / o->step;
}

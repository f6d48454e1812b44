/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file integrations/obs/decoder.h
 * @brief A transport stream into pictures and sound of a source of OBS.
 */
#ifndef OBS_TLTCP_DECODER_H
#define OBS_TLTCP_DECODER_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <obs-module.h>

/** @brief A decoder; zeroed but for the first three. */
struct decoder {
    obs_source_t *source; /**< where pictures and sound go */
    /** @brief Reads bytes. @return how many, or AVERROR_EOF */
    int (*read)(void *user, uint8_t *data, int len);
    void *user; /**< for read */
    AVFormatContext *format;
    AVCodecContext *codec[2]; /**< of the picture, of the sound; or NULL */
    int stream[2];
    AVPacket *packet;
    AVFrame *frame;
    enum AVPixelFormat refused; /**< what the log has been told of */
    bool shown;                 /**< a picture was */
};

/** @brief Decodes until reading ends. @param d  decoder, used up afterwards */
void decoder_run(struct decoder *d);

#endif /* OBS_TLTCP_DECODER_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/rtp.h
 * @brief Classifies RTP packets of H.264 (RFC 6184) or H.265 (RFC 7798): as
 * codec/frame.h, but a frame spans several packets.
 *
 * The first slice of a frame determines its class; later packets with the same
 * timestamp continue it. Single NAL unit packets, aggregation packets (STAP-A,
 * AP) and fragments (FU-A, FU) are supported; any other packet is treated
 * alone.
 */
#ifndef MEDIA_RTP_H
#define MEDIA_RTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/media/codec/scan.h"

/**
 * @brief Classifies a packet.
 * @param s      scanner of the codec, with ::MEDIA_FORM_RTP
 * @param data   the packet including its RTP header; any bytes are allowed
 * @param len    bytes at @p data
 * @param[out] f result; zeroed by the caller
 * @return false: nothing was found
 */
bool media__rtp_classify(media_scanner *s, const uint8_t *data, size_t len,
                         media_frame *f);

#endif /* MEDIA_RTP_H */

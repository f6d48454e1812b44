/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/codec/rtp.h
 * @brief What is in an RTP packet of H.264 (RFC 6184) or H.265 (RFC 7798): as
 * codec/frame.h, but a frame comes in several packets.
 *
 * The first slice of a frame tells what the frame is; later packets with the
 * same timestamp continue it.  Single NAL unit packets, aggregation packets
 * (STAP-A, AP) and fragments (FU-A, FU) are read; any other packet stands
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
 * @param s      scanner of the codec, of ::MEDIA_FORM_RTP
 * @param data   the packet, RTP header included; anything at all is allowed
 * @param len    bytes at @p data
 * @param[out] f what was found, zeroed before
 * @return false: nothing was
 */
bool media__rtp_classify(media_scanner *s, const uint8_t *data, size_t len,
                         media_frame *f);

#endif /* MEDIA_RTP_H */

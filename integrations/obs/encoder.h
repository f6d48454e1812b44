/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file integrations/obs/encoder.h
 * @brief The video encoder of OBS, set up for a stream with a deadline and
 * steered by what the path carries.
 */
#ifndef OBS_ENCODER_TLTCP_H
#define OBS_ENCODER_TLTCP_H

#include <obs-module.h>

/** A steered encoder; zeroed before its first use. */
struct steered {
    obs_encoder_t *encoder; /**< a reference */
    uint64_t latency_ns;    /**< of the stream */
    long long kbps;         /**< that the user set; 0: it cannot change */
    long long now_kbps;     /**< that it makes now */
    unsigned set;           /**< settings that steered_prepare() added */
};

/**
 * @brief Records the rate and, for low delay, sets what the user left open: a
 * key frame every two seconds, and for x264 no lookahead (tune=zerolatency) and
 * a buffer that lets no picture take longer than half the latency.
 * @param s           encoder
 * @param encoder     if it is running, only its rate is recorded
 * @param latency_ns  of the stream; 0: none
 * @param low_delay   false: only records the rate
 */
void steered_prepare(struct steered *s, obs_encoder_t *encoder,
                     uint64_t latency_ns, bool low_delay);

/** @brief Follows the path. @param s  encoder @param target_bps  what all
 * streams together may make; 0: not known */
void steered_follow(struct steered *s, uint64_t target_bps);

/** @brief Gives the encoder its rate and settings back. @param s  encoder */
void steered_release(struct steered *s);

#endif /* OBS_ENCODER_TLTCP_H */

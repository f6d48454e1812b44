/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file integrations/obs/ts_mux.h
 * @brief H.264 and AAC of an encoder as an MPEG transport stream (ISO/IEC
 * 13818-1) of one program.
 */
#ifndef OBS_TS_MUX_H
#define OBS_TS_MUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A multiplexer; zeroed before its first use. */
struct ts_mux {
    uint8_t *data;      /**< the packets made last */
    size_t len;         /**< bytes at data */
    size_t room;        /**< bytes that data has room for */
    uint8_t *unit;      /**< a PES packet being cut */
    size_t unit_len;    /**< bytes at unit */
    size_t unit_room;   /**< bytes that unit has room for */
    uint8_t counter[4]; /**< continuity counters: PAT, PMT, picture, sound */
    uint8_t *headers;   /**< SPS and PPS with start codes */
    size_t headers_len; /**< bytes at headers */
    uint8_t sound_config[2]; /**< AudioSpecificConfig (ISO/IEC 14496-3) */
    bool sound;              /**< there is sound */
};

/**
 * @brief Sets what the encoders said before their first packets.
 * @param m            multiplexer
 * @param headers      SPS and PPS with start codes; copied
 * @param headers_len  bytes of them
 * @param config       AudioSpecificConfig of AAC; NULL: no sound
 * @param config_len   bytes of it, 2 at least
 * @return false: out of memory
 */
bool ts_mux_begin(struct ts_mux *m, const uint8_t *headers, size_t headers_len,
                  const uint8_t *config, size_t config_len);

/**
 * @brief Makes packets of a picture in ts_mux::data, key frames with tables and
 * parameter sets.
 * @param m     multiplexer
 * @param data  NAL units with start codes
 * @param len   bytes of them
 * @param pts   when to show it, 90 kHz
 * @param dts   when to decode it, 90 kHz
 * @param key   decoding can begin here
 * @return false: out of memory
 */
bool ts_mux_picture(struct ts_mux *m, const uint8_t *data, size_t len,
                    int64_t pts, int64_t dts, bool key);

/**
 * @brief Makes packets of a frame of sound in ts_mux::data.
 * @param m     multiplexer
 * @param data  AAC without a header
 * @param len   bytes of it, less than 8184
 * @param pts   when to play it, 90 kHz
 * @return false: out of memory
 */
bool ts_mux_sound(struct ts_mux *m, const uint8_t *data, size_t len,
                  int64_t pts);

/** @brief Frees what it holds and zeroes it. @param m  multiplexer */
void ts_mux_end(struct ts_mux *m);

#endif /* OBS_TS_MUX_H */

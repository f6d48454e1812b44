/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/psi.h
 * @brief Program association and program map tables (ISO/IEC 13818-1, 2.4.4).
 */
#ifndef MEDIA_PSI_H
#define MEDIA_PSI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Longest section of these tables. */
#define MEDIA_PSI_MAX 1024

/** Section assembly of one PID; initially zeroed. */
typedef struct media_psi {
    uint16_t len;                /**< bytes at data */
    bool synced;                 /**< data begins with a section */
    uint8_t data[MEDIA_PSI_MAX]; /**< the part received */
} media_psi;

/** Kinds of PIDs in the tables. */
enum media_psi_kind {
    MEDIA_PSI_MAP = 1,   /**< it carries a program map table */
    MEDIA_PSI_STREAM = 2 /**< it carries an elementary stream */
};

/** @brief Called for every PID of a table.
 * @param user  as given @param kind  ::media_psi_kind @param pid  PID
 * @param type  STREAM: stream_type */
typedef void (*media_psi_found)(void *user, int kind, unsigned pid,
                                unsigned type);

/**
 * @brief Processes the payload of a packet with sections.
 * @param s      sections
 * @param start  payload_unit_start_indicator
 * @param data   payload
 * @param len    bytes at @p data
 * @param found  called for every complete table with a correct checksum
 * @param user   for @p found
 */
void media__psi_push(media_psi *s, bool start, const uint8_t *data, size_t len,
                     media_psi_found found, void *user);

#endif /* MEDIA_PSI_H */

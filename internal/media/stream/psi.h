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

/** Sections of one PID being put together; zeroed at first. */
typedef struct media_psi {
    uint16_t len;                /**< bytes at data */
    bool synced;                 /**< data begins with a section */
    uint8_t data[MEDIA_PSI_MAX]; /**< what is there of it */
} media_psi;

/** What the tables say about a PID. */
enum media_psi_kind {
    MEDIA_PSI_MAP = 1,   /**< a program map table is there */
    MEDIA_PSI_STREAM = 2 /**< an elementary stream is there */
};

/** @brief Told about every PID of a table.
 * @param user  as given @param kind  ::media_psi_kind @param pid  PID
 * @param type  STREAM: stream_type */
typedef void (*media_psi_found)(void *user, int kind, unsigned pid,
                                unsigned type);

/**
 * @brief Takes the payload of a packet that carries sections.
 * @param s      sections
 * @param start  payload_unit_start_indicator
 * @param data   payload
 * @param len    bytes at @p data
 * @param found  told what every whole table with a right checksum says
 * @param user   for @p found
 */
void media__psi_push(media_psi *s, bool start, const uint8_t *data, size_t len,
                     media_psi_found found, void *user);

#endif /* MEDIA_PSI_H */

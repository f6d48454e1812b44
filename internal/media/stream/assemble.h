/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/assemble.h
 * @brief Assembles sections from the pieces that a connection delivers.
 */
#ifndef MEDIA_ASSEMBLE_H
#define MEDIA_ASSEMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tltcp/types.h>

/** A section that has ended. */
typedef struct media_section {
    uint64_t number; /**< of the section on its connection */
    uint64_t seq;    /**< place of its first byte that is there */
    uint8_t *data;   /**< its bytes, zeros where some are missing; free() */
    size_t len;      /**< bytes at data */
    size_t missing;  /**< how many of them are missing */
    bool complete;   /**< none is missing, neither at an end */
    bool begins;     /**< its first bytes are there */
    struct tltcp_meta meta; /**< what its sender said of it */
} media_section;

/** The section being put together. */
typedef struct media_assembly {
    bool open;        /**< there is one */
    bool oversized;   /**< more than max_bytes came; the rest is left out */
    size_t max_bytes; /**< largest section that is kept */
    size_t gap;       /**< bytes missing behind what is there */
    size_t cap;       /**< bytes at section.data */
    media_section section; /**< what is there of it */
} media_assembly;

/**
 * @brief Initialises.
 * @param a          assembly
 * @param max_bytes  sections larger than this are cut
 */
void media__assembly_init(media_assembly *a, size_t max_bytes);

/** @brief Frees what is held. @param a  assembly */
void media__assembly_clear(media_assembly *a);

/**
 * @brief Takes the next piece of an ordered connection.
 *
 * Two sections can end at once: one that a gap has cut, and a small one that is
 * whole.
 * @param a       assembly
 * @param piece   as tltcp_recv() gives it
 * @param[out] out  two sections, those that have ended, in order; the caller
 *                frees their data
 * @return how many of @p out were filled in; -1: out of memory
 */
int media__assembly_add(media_assembly *a, const tltcp_piece *piece,
                        media_section *out);

/**
 * @brief Takes out what is there at the end of the stream.
 * @param a         assembly
 * @param[out] out  the section
 * @return 1 when there was one, else 0
 */
int media__assembly_end(media_assembly *a, media_section *out);

#endif /* MEDIA_ASSEMBLE_H */

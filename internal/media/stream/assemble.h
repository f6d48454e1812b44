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
    uint64_t seq;    /**< offset of its first received byte */
    uint8_t *data;   /**< its bytes, with zeros for missing ones; to be freed
                          with free() */
    size_t len;      /**< bytes at data */
    size_t missing;  /**< number of missing bytes */
    bool complete;   /**< no byte is missing */
    bool begins;     /**< its first bytes arrived */
    struct tltcp_meta meta; /**< metadata from the sender */
} media_section;

/** The section being assembled. */
typedef struct media_assembly {
    bool open;             /**< a section is open */
    bool hollow;           /**< most of it is missing; the rest is dropped */
    size_t max_bytes;      /**< largest section accepted */
    size_t gap;            /**< bytes missing after the received ones */
    size_t cap;            /**< bytes at section.data */
    media_section section; /**< the part received */
} media_assembly;

/**
 * @brief Initialises.
 * @param a          assembly
 * @param max_bytes  sections larger than this are cut
 */
void media__assembly_init(media_assembly *a, size_t max_bytes);

/** @brief Frees its memory. @param a  assembly */
void media__assembly_clear(media_assembly *a);

/**
 * @brief Adds the next piece of an ordered connection.
 *
 * One piece can end two sections: one cut by a gap, and a small complete one.
 * @param a       assembly
 * @param piece   as returned by tltcp_recv()
 * @param[out] out  room for two ended sections, in order; the caller frees
 *                  their data
 * @return how many of @p out were filled in; -1: out of memory
 */
int media__assembly_add(media_assembly *a, const tltcp_piece *piece,
                        media_section *out);

/**
 * @brief Takes the remaining section at the end of the stream.
 * @param a         assembly
 * @param[out] out  the section
 * @return 1 if there was one, else 0
 */
int media__assembly_end(media_assembly *a, media_section *out);

#endif /* MEDIA_ASSEMBLE_H */

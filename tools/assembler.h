/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file assembler.h
 * @brief Pieces of a stream put together to sections.
 */
#ifndef TOOLS_ASSEMBLER_H
#define TOOLS_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tltcp/types.h"

/** @brief What a piece brought about. */
enum assembler_result {
    ASSEMBLER_MORE,  /**< nothing yet */
    ASSEMBLER_WHOLE, /**< a section is there from end to end */
    ASSEMBLER_CUT,   /**< a section ended that has holes; its first bytes up to
                          the first hole are in the buffer */
    ASSEMBLER_TOO_BIG, /**< the section is larger than allowed; it is skipped */
    ASSEMBLER_NOMEM    /**< memory is short; the section is skipped */
};

/** @brief The section that is being put together. */
struct assembler {
    uint8_t *data;
    size_t len;      /**< bytes at data, from the beginning without a hole */
    size_t capacity; /**< of data */
    size_t max;      /**< of a section */
    uint64_t section;
    bool open;  /**< some of the section has come, or is known to be lost */
    bool holed; /**< something is missing */
};

/** @brief Begins. @param a  assembler @param max  largest section */
void assembler_init(struct assembler *a, size_t max);

/** @brief Frees the buffer. @param a  assembler */
void assembler_free(struct assembler *a);

/**
 * @brief Takes the next piece in stream order.
 *
 * When a piece of the next section comes while the last one is open, that one
 * is reported as cut and the piece is not taken: call again with it.
 * @param a           assembler
 * @param segment     describes the piece
 * @param data        its bytes; not looked at for a gap
 * @param len         bytes at @p data, or the size of the gap
 * @param[out] taken  whether the piece is dealt with
 * @return ::assembler_result
 */
enum assembler_result assembler_piece(struct assembler *a,
                                      const struct tltcp_segment *segment,
                                      const void *data, size_t len,
                                      bool *taken);

/** @brief The stream is over. @param a  assembler
 * @return ASSEMBLER_CUT when a section was open, else ASSEMBLER_MORE */
enum assembler_result assembler_end(struct assembler *a);

#endif /* TOOLS_ASSEMBLER_H */

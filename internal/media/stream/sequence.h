/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/sequence.h
 * @brief Orders the sections of each stream without head-of-line blocking
 * between streams.
 *
 * An unordered connection delivers whole sections in order of completion. A
 * frame is delivered as soon as no earlier frame of its stream can follow:
 * either its number is the next one, or everything sent before it has arrived
 * or never will.
 *
 * Sections that are not media, and descriptions of streams, wait for everything
 * sent before them.
 */
#ifndef MEDIA_SEQUENCE_H
#define MEDIA_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/media/stream/assemble.h"

/** Waiting sections. */
typedef struct media_sequence media_sequence;

/**
 * @brief Creates a sequence.
 * @return to be freed with media__sequence_free(); NULL: out of memory
 */
media_sequence *media__sequence_new(void);

/** @brief Frees it with its sections. @param q sequence, or NULL */
void media__sequence_free(media_sequence *q);

/** @brief Resets, for a new connection. @param q  sequence */
void media__sequence_clear(media_sequence *q);

/**
 * @brief Records that a part of the byte stream has arrived or never will.
 * @param q    sequence
 * @param seq  its offset
 * @param len  its length
 * @return false: out of memory
 */
bool media__sequence_cover(media_sequence *q, uint64_t seq, uint64_t len);

/**
 * @brief Adds a section, complete or cut.
 * @param q        sequence
 * @param section  section; the sequence takes ownership of its data if true is
 *                 returned
 * @return false: out of memory
 */
bool media__sequence_push(media_sequence *q, const media_section *section);

/**
 * @brief Returns the next section that need not wait.
 * @param q             sequence
 * @param all           at the end of the stream: none must wait
 * @param[out] section  the section; the caller owns its data
 * @return false: there is none
 */
bool media__sequence_next(media_sequence *q, bool all, media_section *section);

#endif /* MEDIA_SEQUENCE_H */

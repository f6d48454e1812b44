/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/sequence.h
 * @brief Puts the sections of each stream in order without making streams wait
 * for each other.
 *
 * A connection that hands over whole sections as they complete does so in any
 * order.  A frame is given out as soon as its stream has no other before it:
 * either its number is the next one, or everything that was sent before it has
 * come or will never come.
 *
 * Sections that are not media, and descriptions of streams, wait for all that
 * was sent before them.
 */
#ifndef MEDIA_SEQUENCE_H
#define MEDIA_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/media/stream/assemble.h"

/** What waits. */
typedef struct media_sequence media_sequence;

/**
 * @brief Makes one.
 * @return free with media__sequence_free(); NULL: out of memory
 */
media_sequence *media__sequence_new(void);

/** @brief Frees it and the sections in it. @param q  or NULL */
void media__sequence_free(media_sequence *q);

/** @brief Resets, for a new connection. @param q  sequence */
void media__sequence_clear(media_sequence *q);

/**
 * @brief Notes that a part of the byte stream has come or will never come.
 * @param q    sequence
 * @param seq  where it begins
 * @param len  how long it is
 * @return false: out of memory
 */
bool media__sequence_cover(media_sequence *q, uint64_t seq, uint64_t len);

/**
 * @brief Takes a section, whole or cut.
 * @param q        sequence
 * @param section  its data is taken over when true is returned
 * @return false: out of memory
 */
bool media__sequence_push(media_sequence *q, const media_section *section);

/**
 * @brief Gives out the next section that need not wait.
 * @param q             sequence
 * @param all           at the end: none need wait
 * @param[out] section  its data is the caller's
 * @return false: there is none
 */
bool media__sequence_next(media_sequence *q, bool all, media_section *section);

#endif /* MEDIA_SEQUENCE_H */

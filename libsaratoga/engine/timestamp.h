/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_TIMESTAMP_H
#define LIBSARATOGA_TIMESTAMP_H

#include "libsaratoga/engine/packet.h"

/* Timestamps (draft, appendix A). Internally, a timestamp is a number that
 * grows with every transmission: POSIX time in units of 2^-32 s, or, for local
 * ones, the number of the transmission. */

/* The POSIX time in units of 2^-32 s; posix_offset as in saratoga_config. */
uint64_t saratoga__timestamp_clock(saratoga_time now, int64_t posix_offset);
/* Writes x as a timestamp of that kind. */
void saratoga__timestamp_write(uint32_t kind, uint64_t x, uint8_t *out);
/* Reads an echo: all numbers from *low to *high have this form on the wire.
 * False: not of that kind. */
bool saratoga__timestamp_read(uint32_t kind, const uint8_t *in, uint64_t *low,
                              uint64_t *high);

#endif /* LIBSARATOGA_TIMESTAMP_H */

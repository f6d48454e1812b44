/* SPDX-License-Identifier: MPL-2.0 */
/* What could be shown at best of a clip over a link of known rate. */
#ifndef TESTS_SIMNET_ORACLE_H
#define TESTS_SIMNET_ORACLE_H

#include "tests/simnet/clip.h"

/* The most that can be shown in time, in pictures or in their bytes, by a
 * sender that knows all sizes and the rate (bytes/s) in advance, loses nothing
 * and sends in coding order.  A picture can be shown when it and all that it
 * refers to have arrived.
 *
 * Dynamic programming over the time that the link is behind, in steps of a
 * millisecond, and over which of the newest pictures were sent.
 * Steps are rounded in favour of the bound. */
double oracle_most(const struct clip *c, double rate, bool bytes);
/* The shortest that the longest time without a new picture can be, for the same
 * sender. */
uint64_t oracle_freeze(const struct clip *c, double rate);

#endif /* TESTS_SIMNET_ORACLE_H */

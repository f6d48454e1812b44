/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_CC_PACKED_H
#define LIBTLTCP_CC_PACKED_H

#include <congestion/congestion.h>

#include "internal/common/mem.h"

/* The state of a controller without what is as in a new one, which is most of
 * it until data has flowed for a while. struct cong comes first and remains
 * valid, but no function of the controller may be called. */

/* Whether the controller may be packed: its state may move, as that of the
 * built-in ones. */
bool tltcp__packed_suits(const struct cong *cong);
/* A packed copy; NULL without memory. */
struct cong *tltcp__packed_new(const cmn__mem *mem, const struct cong *cong);
/* The controller as it was; NULL without memory. */
struct cong *tltcp__packed_open(const cmn__mem *mem, const struct cong *packed);

#endif /* LIBTLTCP_CC_PACKED_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_LOOPBACK_COSTS_CHANGES_H
#define TESTS_LOOPBACK_COSTS_CHANGES_H

#include "tests/loopback/costs/flood.h"

/* What strangers make of a recorded datagram. */

enum change { AS_IS, ONE_BIT, NEW_CALLER, CUT_SHORT, JUNK };

void change_datagram(struct flood *f, struct datagram *d, enum change change);

#endif /* TESTS_LOOPBACK_COSTS_CHANGES_H */

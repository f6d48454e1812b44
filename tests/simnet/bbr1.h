/* SPDX-License-Identifier: MPL-2.0 */
/*
 * BBR, version 1, as Linux has it: a rival for the library's own controllers.
 *
 * Source: draft-cardwell-iccrg-bbr-congestion-control-00, and the behaviour of
 * the kernel's tcp_bbr where that goes further: windows grow by what ACKs
 * aggregate, three trains of two segments come on top of two products, a loss
 * is answered by packet conservation for one round trip.  The detection of
 * policers ("long-term" rates) is left out.
 */
#ifndef TESTS_SIMNET_BBR1_H
#define TESTS_SIMNET_BBR1_H

#include <congestion/congestion.h>

/* Its name is "bbr1"; cong_register() makes it known. */
extern const struct cong_ops bbr1;

#endif /* TESTS_SIMNET_BBR1_H */

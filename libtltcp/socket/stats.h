/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_STATS_H
#define TLTCP_SOCKET_STATS_H

#include "libtltcp/socket/state.h"

/* Adds the counters of one connection to a sum; leaves gauges unchanged. */
void tltcp__stats_add(tltcp_stats *sum, const tltcp_stats *one);

#endif /* TLTCP_SOCKET_STATS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/recv_stats.h
 * @brief What tltcp-recv counts, for JSON and for Prometheus.
 */
#ifndef TOOLS_RECV_STATS_H
#define TOOLS_RECV_STATS_H

#include "tools/common/figures.h"
#include "tools/tltcp/reception.h"

/** @brief All figures. @param f  empty list @param t  totals */
void recv_stats(struct figures *f, const struct reception_totals *t);

#endif /* TOOLS_RECV_STATS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/send_stats.h
 * @brief What tltcp-send counts, for JSON and for Prometheus.
 */
#ifndef TOOLS_SEND_STATS_H
#define TOOLS_SEND_STATS_H

#include "tltcp/live.h"
#include "tools/common/figures.h"

/** @brief What did not arrive, or was never sent. @param c  counts */
uint64_t send_stats_expired(const tltcp_live_count *c);

/** @brief All figures. @param f  empty list @param sent  of the media
 * @param st  of the connection @param seconds  since the start */
void send_stats(struct figures *f, const tltcp_live_stats *sent,
                const tltcp_stats *st, double seconds);

#endif /* TOOLS_SEND_STATS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/stats.h
 * @brief What tltcp-live-transmit counts, as text, JSON, CSV and for
 * Prometheus.
 */
#ifndef TOOLS_TRANSMIT_STATS_H
#define TOOLS_TRANSMIT_STATS_H

#include "tltcp/live.h"
#include "tools/common/figures.h"

/** @brief Totals over all connections. */
struct transmit_totals {
    uint64_t bytes_in;
    uint64_t input_dropped; /**< datagrams dropped for lack of room */
    uint64_t bytes_out;
    uint64_t connections;
    uint64_t connected;     /**< that are open now */
    tltcp_live_stats media; /**< sent and received */
};

/**
 * @brief All figures of the program.
 * @param f        empty list
 * @param t        totals, open connections included
 * @param st       of the newest connection
 * @param seconds  since the start
 */
void stats_of_all(struct figures *f, const struct transmit_totals *t,
                  const tltcp_stats *st, double seconds);

/**
 * @brief The figures of one caller.
 * @param f        empty list
 * @param media    what became of what it was sent
 * @param st       of its connection
 * @param seconds  since it came
 */
void stats_of_caller(struct figures *f, const tltcp_live_stats *media,
                     const tltcp_stats *st, double seconds);

/** @brief Prints a line. @param f  file @param format  ::stats_format
 * @param json  all figures; taken over @param first  CSV: the names before it
 */
void stats_print(FILE *f, int format, json_t *json, bool first);

#endif /* TOOLS_TRANSMIT_STATS_H */

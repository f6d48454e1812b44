/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/stats.h
 * @brief What tltcp-live-transmit counts, as text, JSON and CSV.
 */
#ifndef TOOLS_TRANSMIT_STATS_H
#define TOOLS_TRANSMIT_STATS_H

#include <jansson.h>
#include <stdio.h>

#include "tltcp/live.h"

/** @brief Totals over all connections. */
struct transmit_totals {
    uint64_t bytes_in;
    uint64_t input_dropped; /**< datagrams for which there was no room */
    uint64_t bytes_out;
    uint64_t connections;
    tltcp_live_stats media; /**< sent and received */
};

/**
 * @brief One object with all numbers.
 * @param t        totals, the open connection included
 * @param st       of the newest connection
 * @param open     whether it still is
 * @param seconds  since the start
 */
json_t *totals_json(const struct transmit_totals *t, const tltcp_stats *st,
                    bool open, double seconds);

/** @brief Prints a line. @param f  file @param format  ::stats_format
 * @param json  of totals_json() @param first  CSV: the names before it */
void totals_print(FILE *f, int format, json_t *json, bool first);

#endif /* TOOLS_TRANSMIT_STATS_H */

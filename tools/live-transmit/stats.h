/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/stats.h
 * @brief What tltcp-live-transmit counts, as text, JSON and CSV.
 */
#ifndef TOOLS_TRANSMIT_STATS_H
#define TOOLS_TRANSMIT_STATS_H

#include <jansson.h>
#include <stdio.h>

#include "libtltcp/live/ledger.h"
#include "libtltcp/live/tsdrain.h"
#include "tltcp/stats.h"

/** @brief Totals over all connections. */
struct transmit_totals {
    uint64_t bytes_in;
    uint64_t input_dropped; /**< datagrams for which there was no room */
    uint64_t bytes_out;
    uint64_t connections;
    struct ledger_count sections;           /**< sent */
    struct ledger_count kind[TALLY_KINDS];  /**< likewise */
    uint64_t held_back[MEDIA_DROP_REASONS]; /**< likewise */
    uint64_t complete;                      /**< received sections */
    uint64_t cut;
    uint64_t gap_bytes;
};

/** @brief Adds what a connection sent. @param t  totals @param l  its book */
void totals_add_sent(struct transmit_totals *t, const struct ledger *l);

/** @brief Adds what a connection brought. @param t  totals @param d  of it */
void totals_add_received(struct transmit_totals *t, const struct tsdrain *d);

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

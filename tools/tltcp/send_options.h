/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/send_options.h
 * @brief tltcp-send's command line.
 */
#ifndef TOOLS_SEND_OPTIONS_H
#define TOOLS_SEND_OPTIONS_H

#include "tools/tltcp/peer_options.h"

/** @brief The command line. */
struct send_options {
    const char *input;       /**< file, or "-" */
    const char *url;         /**< as typed */
    tltcp_live_url peer;     /**< from the URL */
    struct peer_options to;  /**< options of the connection and of sending */
    double speed;            /**< 1: as timed; 0: without pacing */
    uint64_t loops;          /**< number of times to send the input */
    uint64_t stats_interval; /**< ns; 0: no lines */
    const char *json;        /**< file, "-", or NULL */
    const char *metrics;     /**< HOST:PORT of the page, or NULL */
    const char *frames;      /**< CSV file with a line per frame, or NULL */
    bool quiet;
};

/**
 * @brief Reads the command line; handles --help, --version and errors.
 * @param argc, argv  from main()
 * @param[out] o      filled in
 * @return -1 to continue, else an exit status
 */
int send_options_parse(int argc, char **argv, struct send_options *o);

#endif /* TOOLS_SEND_OPTIONS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/recv_options.h
 * @brief tltcp-recv's command line.
 */
#ifndef TOOLS_RECV_OPTIONS_H
#define TOOLS_RECV_OPTIONS_H

#include "tools/tltcp/peer_options.h"

/** @brief The command line. */
struct recv_options {
    const char *url;          /**< as typed */
    const char *output;       /**< file, or "-" */
    const char *format;       /**< container, or NULL: by the name of output */
    tltcp_live_url local;     /**< from the URL */
    struct peer_options from; /**< the connection; its latency replaces the
                                 sender's when given */
    bool once;                /**< one caller, then the end */
    bool keep_broken;      /**< frames that cannot be decoded go in as well */
    const char *json;      /**< file, "-", or NULL */
    const char *frames;    /**< CSV file, or NULL */
    const char *metrics;   /**< HOST:PORT of the page, or NULL */
    const char *port_file; /**< takes the addresses listened on, or NULL */
    bool quiet;
};

/**
 * @brief Reads the command line; handles --help, --version and errors.
 * @param argc, argv  from main()
 * @param[out] o      filled in
 * @return -1 to continue, else an exit status
 */
int recv_options_parse(int argc, char **argv, struct recv_options *o);

#endif /* TOOLS_RECV_OPTIONS_H */

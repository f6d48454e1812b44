/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file send_options.h
 * @brief tltcp-send's command line.
 */
#ifndef TOOLS_SEND_OPTIONS_H
#define TOOLS_SEND_OPTIONS_H

#include "address.h"
#include "tltcp/config.h"

/** @brief All that the command line says. */
struct send_options {
    const char *input;       /**< file, or "-" */
    const char *url;         /**< as typed */
    struct hostport peer;    /**< from the URL */
    tltcp_config config;     /**< for the connection */
    uint32_t latency_ms;     /**< budget from display time on */
    uint32_t grace_ms;       /**< how much longer references are sent */
    int deadline_mode;       /**< ::media_deadline_mode */
    int drop_policy;         /**< ::media_drop_policy */
    double speed;            /**< 1: as timed; 0: without pacing */
    uint64_t loops;          /**< times that the input is sent */
    uint64_t stats_interval; /**< ns; 0: no lines */
    const char *json;        /**< file, "-", or NULL */
    const char *frames;      /**< CSV file, or NULL */
    bool quiet;
    char stream_id[TLTCP_STREAM_ID_MAX + 1]; /**< what config points at */
    char congestion[32];                     /**< likewise, from the URL */
    char passphrase[128];                    /**< likewise */
};

/**
 * @brief Reads the command line; on --help, --version or an error it prints and
 * says how to exit.
 * @param argc, argv  from main()
 * @param[out] o      filled in
 * @return -1 to go on, else an exit status
 */
int send_options_parse(int argc, char **argv, struct send_options *o);

#endif /* TOOLS_SEND_OPTIONS_H */

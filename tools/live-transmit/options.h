/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/options.h
 * @brief tltcp-live-transmit's command line: two endpoints and options.
 */
#ifndef TOOLS_TRANSMIT_OPTIONS_H
#define TOOLS_TRANSMIT_OPTIONS_H

#include "tools/common/address.h"
#include "tools/tltcp/peer_options.h"

/** At most, at once. */
#define CALLERS_MAX 1000

/** What an endpoint is. */
enum endpoint_kind {
    ENDPOINT_PIPE = 0, /**< standard input or output */
    ENDPOINT_FILE = 1, /**< a file, or anything with a name */
    ENDPOINT_UDP = 2,  /**< datagrams */
    ENDPOINT_TLTCP = 3 /**< a connection */
};

/** How statistics are printed. */
enum stats_format { STATS_TEXT = 0, STATS_JSON = 1, STATS_CSV = 2 };

/** @brief One end. */
struct endpoint {
    const char *text;       /**< as typed */
    int kind;               /**< ::endpoint_kind */
    const char *path;       /**< FILE */
    tltcp_live_url at;      /**< UDP, TLTCP */
    struct peer_options to; /**< TLTCP */
    char callers[1024];     /**< TLTCP: file of who may call, or "" */
    uint64_t max_callers;   /**< TLTCP output: at once; 0: not said */
    char adapter[80];       /**< UDP: interface or address for multicast */
    uint64_t ttl;           /**< UDP output: hops; 0: the system's */
    uint64_t tos;           /**< UDP output: type of service */
    uint64_t buffer;        /**< UDP: socket buffer, bytes; 0: the system's */
};

/** @brief The command line. */
struct transmit_options {
    struct endpoint in;
    struct endpoint out;
    bool reconnect;          /**< continues when a connection ends */
    bool immediate;          /**< passes on received data at once */
    uint64_t timeout;        /**< ns; 0: none */
    bool timeout_connecting; /**< it applies only until the first connection */
    uint64_t chunk;          /**< bytes of a datagram out */
    uint64_t stats_interval; /**< ns; 0: none */
    int stats_format;        /**< ::stats_format */
    const char *stats_out;   /**< file, or NULL: standard error */
    const char *json;        /**< file, "-", or NULL */
    const char *frames;      /**< CSV file, or NULL */
    const char *qlog;        /**< folder, or NULL */
    const char *metrics;     /**< HOST:PORT of the page, or NULL */
    const char *port_file;   /**< takes the addresses listened on, or NULL */
    bool quiet;
};

/**
 * @brief Reads the command line; handles --help, --version and errors.
 * @param argc, argv  from main()
 * @param[out] o      filled in
 * @return -1 to continue, else an exit status
 */
int transmit_options_parse(int argc, char **argv, struct transmit_options *o);

#endif /* TOOLS_TRANSMIT_OPTIONS_H */

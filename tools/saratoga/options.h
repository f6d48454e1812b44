/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/options.h
 * @brief The command line of saratoga.
 */
#ifndef TOOLS_SARATOGA_OPTIONS_H
#define TOOLS_SARATOGA_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <saratoga/config.h>

#include "internal/credentials/credentials.h"

/** What is to be done. */
enum saratoga_command {
    SARATOGA_CMD_SERVE,
    SARATOGA_CMD_GET,
    SARATOGA_CMD_PUT,
    SARATOGA_CMD_TAKE,
    SARATOGA_CMD_GIVE,
    SARATOGA_CMD_LS,
    SARATOGA_CMD_RM,
    SARATOGA_CMD_PEERS,
    SARATOGA_CMD_MIRROR
};

/** The command line; not to be moved once it is parsed. */
struct saratoga_args {
    enum saratoga_command command;
    const char *name; /**< of the command */
    int words;
    char **word; /**< what is left of the command line */

    uint64_t given; /**< bit n: the n-th option, of those without a letter */
    saratoga_options transfer;
    bool resume;
    bool update;
    bool overwrite;
    bool recursive;
    bool quiet;
    unsigned parallel;             /**< transfers at once */
    const char *json;              /**< or NULL */
    const char *bind;              /**< ADDR[:PORT], or NULL */
    const char *port_file;         /**< or NULL */
    uint8_t key[SARATOGA_KEY_MAX]; /**< of --auth-key */
    size_t key_len;                /**< 0: none */
    bool auth_files;
    struct secrets secrets; /**< all is sealed */
    uint32_t mtu;
    uint64_t uplink_bps; /**< 0: not known */

    const char *group; /**< ADDR[:PORT] that gets are answered to; or NULL */
    bool live_output;  /**< get: a stream goes to standard output */

    const char *root;      /**< serve: folder */
    const char *rate_file; /**< serve: where the rate stands; or NULL */
    bool streams;          /**< serve: named pipes can be got */
    bool no_read;
    bool write;
    bool remove;
    uint64_t beacon;       /**< serve: ns between beacons; 0: none */
    const char *eid;       /**< or NULL */
    const char *beacon_to; /**< HOST[:PORT], or NULL: the group */
    uint64_t max_sessions;
    uint64_t max_per_peer;
    uint64_t max_peers;
    uint64_t quota; /**< octets taken in at most; 0: no limit */

    uint64_t interval; /**< mirror: ns between looks */
    uint64_t wait;     /**< peers, mirror: ns to run; 0: for ever */
    uint64_t min_age;  /**< mirror: ns since a file changed last */
    bool once;         /**< mirror: ends when all is there */
};

/**
 * @brief Reads the command line.
 * @param argc    from main() @param argv  from main()
 * @param[out] a  what it says
 * @return -1 to go on, else an exit code
 */
int saratoga_args_parse(int argc, char **argv, struct saratoga_args *a);

#endif /* TOOLS_SARATOGA_OPTIONS_H */

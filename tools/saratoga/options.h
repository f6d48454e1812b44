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

/** The command. */
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

/** The command line; must not move after parsing. */
struct saratoga_args {
    enum saratoga_command command;
    const char *name; /**< of the command */
    int words;
    char **word; /**< the remaining arguments */

    uint64_t given; /**< bit n: option n of the table */
    saratoga_options transfer;
    bool resume;
    bool update;
    bool overwrite;
    bool recursive;
    bool quiet;
    unsigned parallel;             /**< simultaneous transfers */
    const char *json;              /**< or NULL */
    const char *bind;              /**< ADDR[:PORT], or NULL */
    const char *port_file;         /**< or NULL */
    uint8_t key[SARATOGA_KEY_MAX]; /**< of --auth-key */
    size_t key_len;                /**< 0: none */
    bool auth_files;
    struct secrets secrets; /**< seal all traffic */
    uint32_t mtu;
    uint64_t uplink_bps; /**< 0: not known */

    const char *group; /**< ADDR[:PORT], destination of answers to gets; or
                            NULL */
    bool live_output;  /**< get: a stream goes to standard output */

    const char *root;      /**< serve: folder */
    const char *rate_file; /**< serve: file with the rate; or NULL */
    bool streams;          /**< serve: named pipes are served */
    bool no_read;
    bool write;
    bool remove;
    uint64_t beacon;       /**< serve: ns between beacons; 0: none */
    const char *eid;       /**< or NULL */
    const char *beacon_to; /**< HOST[:PORT], or NULL: the group */
    uint64_t max_sessions;
    uint64_t max_per_peer;
    uint64_t max_peers;
    uint64_t quota; /**< maximum octets accepted; 0: no limit */

    uint64_t interval; /**< mirror: ns between checks */
    uint64_t wait;     /**< peers, mirror: ns to run; 0: no limit */
    uint64_t min_age;  /**< mirror: ns since the last change of a file */
    bool once;         /**< mirror: ends when every file is here */
};

/**
 * @brief Reads the command line.
 * @param argc    from main() @param argv  from main()
 * @param[out] a  filled in
 * @return -1 to continue, else an exit code
 */
int saratoga_args_parse(int argc, char **argv, struct saratoga_args *a);

#endif /* TOOLS_SARATOGA_OPTIONS_H */

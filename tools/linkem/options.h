/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/linkem/options.h
 * @brief linkem's command line.
 */
#ifndef TOOLS_LINKEM_OPTIONS_H
#define TOOLS_LINKEM_OPTIONS_H

#include "sim/link.h"
#include "tools/common/address.h"

/** Directions of the link. */
enum { LINKEM_UP, LINKEM_DOWN, LINKEM_DIRECTIONS };

/** Most LISTEN TARGET pairs that can share a link. */
#define LINKEM_PAIRS_MAX 32
/** Most changes over time. */
#define LINKEM_CHANGES_MAX 256

/** @brief Where a relay listens and what it relays to. */
struct linkem_pair {
    struct address listen;
    struct address target;
};

/** @brief Settings that come into force later. */
struct linkem_change {
    uint64_t at;          /**< ns after the start */
    unsigned directions;  /**< bit per direction */
    const char *settings; /**< checked */
};

/** @brief All that the command line says. */
struct linkem_options {
    struct sim_link_config link[LINKEM_DIRECTIONS]; /**< at the start */
    struct linkem_pair pair[LINKEM_PAIRS_MAX];
    size_t pairs;
    struct linkem_change change[LINKEM_CHANGES_MAX]; /**< by time */
    size_t changes;
    uint64_t repeat;         /**< the changes start anew after; 0: never */
    uint64_t seed;           /**< of the links' luck */
    uint64_t duration;       /**< ns; 0: until a signal */
    uint64_t log_interval;   /**< ns between lines of the log */
    uint64_t clients_max;    /**< at once */
    const char *json;        /**< file, "-", or NULL */
    const char *log;         /**< CSV file, or NULL */
    const char *port_file;   /**< takes the addresses listened on, or NULL */
    const char *netns[2];    /**< --tun: names of the namespaces, or NULL */
    const char *tun_addr[2]; /**< their addresses */
    bool quiet;
};

/**
 * @brief Reads the command line; on --help, --version or an error it prints and
 * says how to exit.
 * @param argc, argv  from main()
 * @param[out] o      filled in
 * @return -1 to go on, else an exit status
 */
int linkem_options_parse(int argc, char **argv, struct linkem_options *o);

#endif /* TOOLS_LINKEM_OPTIONS_H */

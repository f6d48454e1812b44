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

/** Maximum number of LISTEN TARGET pairs that share a link. */
#define LINKEM_PAIRS_MAX 32
/** Maximum number of changes over time. */
#define LINKEM_CHANGES_MAX 256

/** @brief Listening address and target of a relay. */
struct linkem_pair {
    struct address listen;
    struct address target;
};

/** @brief A later change of settings. */
struct linkem_change {
    uint64_t at;          /**< ns after the start */
    unsigned directions;  /**< bit per direction */
    const char *settings; /**< checked */
};

/** @brief The command line. */
struct linkem_options {
    struct sim_link_config link[LINKEM_DIRECTIONS]; /**< at the start */
    struct linkem_pair pair[LINKEM_PAIRS_MAX];
    size_t pairs;
    struct linkem_change change[LINKEM_CHANGES_MAX]; /**< by time */
    size_t changes;
    uint64_t repeat;         /**< the changes restart after this; 0: never */
    uint64_t seed;           /**< seed of random choices */
    uint64_t duration;       /**< ns; 0: until a signal */
    uint64_t log_interval;   /**< ns between lines of the log */
    uint64_t clients_max;    /**< limit on simultaneous clients */
    const char *json;        /**< file, "-", or NULL */
    const char *log;         /**< CSV file, or NULL */
    const char *port_file;   /**< for the addresses listened on, or NULL */
    const char *netns[2];    /**< --tun: names of the namespaces, or NULL */
    const char *tun_addr[2]; /**< their addresses */
    bool quiet;
};

/**
 * @brief Reads the command line; handles --help, --version and errors.
 * @param argc, argv  from main()
 * @param[out] o      filled in
 * @return -1 to continue, else an exit status
 */
int linkem_options_parse(int argc, char **argv, struct linkem_options *o);

#endif /* TOOLS_LINKEM_OPTIONS_H */

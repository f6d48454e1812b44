/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/show.h
 * @brief Runs a scenario over any network and prints the results.
 */
#ifndef SIM_SHOW_H
#define SIM_SHOW_H

#include "sim/stage.h"

/** @brief A network that replaces the virtual one. */
struct show_network {
    /** Called before anything is built: adapts the scenario. */
    bool (*adapt)(void *user, struct scenario *s, char *why);
    /** Called when the stage is built: takes over its links. */
    bool (*open)(void *user, struct stage *t, char *why);
    /** Runs until the end of the scenario. */
    void (*run)(void *user);
    /** Counters of a link of the scenario. */
    const struct sim_link_stats *(*link)(void *user, uint32_t link);
    void *user; /**< first argument of all functions */
};

/**
 * @brief Runs a scenario; lines of JSON go to standard output.
 * @param s         scenario, read
 * @param net       network; NULL: the virtual one
 * @param[out] why  error message, SCENARIO_WHY_MAX bytes
 * @return true: success
 */
bool show_run(struct scenario *s, const struct show_network *net, char *why);

/** @brief Keeps freed memory instead of returning it to the system: packets are
 * allocated at a high rate. Before anything is run. */
void show_keep_memory(void);

/**
 * @brief The command line of a program that runs scenarios.
 * @param argc  of main()
 * @param argv  of main()
 * @param net   network; NULL: the virtual one
 * @param more  help text for further arguments, or ""
 * @return the exit code
 */
int show_command(int argc, char **argv, const struct show_network *net,
                 const char *more);

#endif /* SIM_SHOW_H */

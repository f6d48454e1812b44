/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/show.h
 * @brief Runs a scenario and prints what happened, whatever carries its
 * packets.
 */
#ifndef SIM_SHOW_H
#define SIM_SHOW_H

#include "sim/stage.h"

/** @brief Something that carries packets in place of the virtual network. */
struct show_network {
    /** Before anything is built: what it has to change. */
    bool (*adapt)(void *user, struct scenario *s, char *why);
    /** The stage stands: takes over its links. */
    bool (*open)(void *user, struct stage *t, char *why);
    /** Lets time pass until the end of the scenario. */
    void (*run)(void *user);
    /** What happened on a link of the scenario. */
    const struct sim_link_stats *(*link)(void *user, uint32_t link);
    void *user; /**< first argument of all of them */
};

/**
 * @brief Runs a scenario; lines of JSON go to standard output.
 * @param s         scenario, read
 * @param net       network; NULL: the virtual one
 * @param[out] why  SCENARIO_WHY_MAX bytes: why it cannot be run
 * @return true when it was run
 */
bool show_run(struct scenario *s, const struct show_network *net, char *why);

/**
 * @brief The command line of a program that runs scenarios.
 * @param argc  of main()
 * @param argv  of main()
 * @param net   network; NULL: the virtual one
 * @param more  what it takes beside a scenario's parameters, or ""
 * @return the exit code
 */
int show_command(int argc, char **argv, const struct show_network *net,
                 const char *more);

#endif /* SIM_SHOW_H */

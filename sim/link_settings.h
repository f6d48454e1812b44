/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/link_settings.h
 * @brief What a link is like, as text: "rate=2mbit,delay=20ms".
 */
#ifndef SIM_LINK_SETTINGS_H
#define SIM_LINK_SETTINGS_H

#include "sim/link.h"

/** Room for a complaint. */
#define SETTINGS_WHY_MAX 320

/**
 * @brief Applies settings to a link's configuration.
 * @param list      NAME=VALUE, separated by commas or blanks
 * @param config    changed; as before when something is wrong
 * @param[out] why  SETTINGS_WHY_MAX bytes: what is wrong
 * @return true when all were understood
 */
bool settings_apply(const char *list, struct sim_link_config *config,
                    char *why);

/**
 * @brief Gives a link with a rate but no queue limit the queue that it would
 * have in life: 100 ms, or ten full packets when that is more.
 * @param config  changed
 */
void settings_default_queue(struct sim_link_config *config);

/** @brief The help text for the settings. */
extern const char settings_help[];

#endif /* SIM_LINK_SETTINGS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/link_settings.h
 * @brief Link settings as text: "rate=2mbit,delay=20ms".
 */
#ifndef SIM_LINK_SETTINGS_H
#define SIM_LINK_SETTINGS_H

#include "sim/link.h"

/** Size of the buffer for an error message. */
#define SETTINGS_WHY_MAX 320

/**
 * @brief Applies settings to a link's configuration.
 * @param list      NAME=VALUE, separated by commas or blanks
 * @param config    changed; unchanged on error
 * @param[out] why  error message, SETTINGS_WHY_MAX bytes
 * @return true: success
 */
bool settings_apply(const char *list, struct sim_link_config *config,
                    char *why);

/**
 * @brief Gives a link with a rate but no queue limit a realistic queue: 100 ms,
 * or ten full packets if that is more.
 * @param config  changed
 */
void settings_default_queue(struct sim_link_config *config);

/** @brief The help text for the settings. */
extern const char settings_help[];

#endif /* SIM_LINK_SETTINGS_H */

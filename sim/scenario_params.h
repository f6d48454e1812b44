/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/scenario_params.h
 * @brief The parameters of an experiment: declared by "set", used as ${...}.
 */
#ifndef SIM_SCENARIO_PARAMS_H
#define SIM_SCENARIO_PARAMS_H

#include "sim/scenario.h"

/** Maximum parameters of a scenario. */
#define PARAMS_MAX 64
/** Longest line after parameter expansion. */
#define PARAMS_LINE_MAX 1024

/** @brief One parameter. */
struct param {
    char name[SCENARIO_WORD_MAX];
    char value[SCENARIO_WORD_MAX];
};

/** @brief All parameters. */
struct params {
    struct param declared[PARAMS_MAX];
    uint32_t count;
    char *const *settings; /**< NAME=VALUE from the command line */
    int n_settings;
    uint64_t used; /**< bit i: settings[i] has a parameter */
};

/**
 * @brief Declares a parameter; a setting overrides its value.
 * @param p         parameters
 * @param name      its name
 * @param value     its value
 * @param range     MIN..MAX, words separated by |, or NULL: anything
 * @param[out] why  SCENARIO_WHY_MAX bytes
 * @return false: error
 */
bool params_declare(struct params *p, const char *name, const char *value,
                    const char *range, char *why);
/**
 * @brief Expands ${name} to a word or number and ${expression} to a number.
 * @param p         parameters
 * @param line      text
 * @param[out] out  PARAMS_LINE_MAX bytes
 * @param[out] why  SCENARIO_WHY_MAX bytes
 * @return false: unknown name
 */
bool params_expand(struct params *p, const char *line, char *out, char *why);
/**
 * @brief Whether every setting has a parameter.
 * @param p         parameters
 * @param[out] why  error message with the list of parameters, SCENARIO_WHY_MAX
 *                  bytes
 * @return true: all have
 */
bool params_all_used(const struct params *p, char *why);

#endif /* SIM_SCENARIO_PARAMS_H */

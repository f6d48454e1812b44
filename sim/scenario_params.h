/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/scenario_params.h
 * @brief The parameters of an experiment: declared by "set", used as ${...}.
 */
#ifndef SIM_SCENARIO_PARAMS_H
#define SIM_SCENARIO_PARAMS_H

#include "sim/scenario.h"

/** Parameters that a scenario may declare. */
#define PARAMS_MAX 64
/** Longest line after its parameters were put in. */
#define PARAMS_LINE_MAX 1024

/** @brief One parameter. */
struct param {
    char name[SCENARIO_WORD_MAX];
    char value[SCENARIO_WORD_MAX];
};

/** @brief All of them. */
struct params {
    struct param declared[PARAMS_MAX];
    uint32_t count;
    char *const *settings; /**< NAME=VALUE from outside */
    int n_settings;
    uint64_t used; /**< bit i: settings[i] has found its parameter */
};

/**
 * @brief Declares a parameter, unless a setting gives it another value.
 * @param p         parameters
 * @param name      its name
 * @param value     its value
 * @param range     MIN..MAX, words separated by |, or NULL: anything
 * @param[out] why  SCENARIO_WHY_MAX bytes
 * @return false when there is something wrong with it
 */
bool params_declare(struct params *p, const char *name, const char *value,
                    const char *range, char *why);
/**
 * @brief Puts in the values: ${name} a word or number, ${expression} a number.
 * @param p         parameters
 * @param line      text
 * @param[out] out  PARAMS_LINE_MAX bytes
 * @param[out] why  SCENARIO_WHY_MAX bytes
 * @return false when a name is unknown
 */
bool params_expand(struct params *p, const char *line, char *out, char *why);
/**
 * @brief Whether every setting has found its parameter.
 * @param p         parameters
 * @param[out] why  SCENARIO_WHY_MAX bytes: which one has not, and the list
 * @return true when so
 */
bool params_all_used(const struct params *p, char *why);

#endif /* SIM_SCENARIO_PARAMS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/scenario_flow.h
 * @brief The keys of a flow.
 */
#ifndef SIM_SCENARIO_FLOW_H
#define SIM_SCENARIO_FLOW_H

#include "sim/scenario.h"

/** @brief Sets every key to its default. @param f  flow @param name  of the
 * flow */
void scenario_flow_init(struct scenario_flow *f, const char *name);
/**
 * @brief Sets one key.
 * @param f         flow
 * @param text      KEY=VALUE
 * @param[out] why  error message, SCENARIO_WHY_MAX bytes
 * @return true: success
 */
bool scenario_flow_set(struct scenario_flow *f, const char *text, char *why);
/**
 * @brief Checks a flow as a whole.
 * @param f         flow
 * @param[out] why  SCENARIO_WHY_MAX bytes
 * @return true: it can be run
 */
bool scenario_flow_check(const struct scenario_flow *f, char *why);

#endif /* SIM_SCENARIO_FLOW_H */

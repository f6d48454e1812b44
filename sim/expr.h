/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/expr.h
 * @brief Arithmetic in scenarios: "25 * bw", "min(3, n / 2)".
 */
#ifndef SIM_EXPR_H
#define SIM_EXPR_H

#include <stdbool.h>
#include <stddef.h>

/**
 * @brief Looks up a name.
 * @param user  from sim_expr()
 * @param name  not terminated
 * @param len   its length
 * @param[out] value  its value
 * @return false: unknown name
 */
typedef bool (*sim_expr_lookup)(void *user, const char *name, size_t len,
                                double *value);

/**
 * @brief Evaluates an expression of numbers, names, + - * / ( ), min(a, b) and
 * max(a, b).
 * @param text    zero-terminated
 * @param lookup  finds names
 * @param user    for lookup
 * @param[out] value  finite
 * @return NULL on success, else the position of the error in @p text
 */
const char *sim_expr(const char *text, sim_expr_lookup lookup, void *user,
                     double *value);

#endif /* SIM_EXPR_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/common/metrics.h
 * @brief A page of statistics for Prometheus, by HTTP.
 */
#ifndef TOOLS_COMMON_METRICS_H
#define TOOLS_COMMON_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** @brief A server of one page; opaque. */
struct metrics;

/** @brief Whether an address can be one. @param text  HOST:PORT
 * @return NULL, or what it must be */
const char *metrics_check(const char *text);

/**
 * @brief Serves from now on, in a thread of its own.
 * @param[out] out  end with metrics_close(); NULL where @p at is NULL
 * @param tool    for messages
 * @param at      HOST:PORT; no other address is listened on; NULL: nothing
 * @param[out] text  ADDRESS_TEXT_MAX bytes: the address, or ""
 * @return TOOL_OK, or TOOL_FAILED, said why
 */
int metrics_open(struct metrics **out, const char *tool, const char *at,
                 char *text);

/** @brief Begins a new page when the last is old enough: half a second.
 * @param m  server, or NULL @param now  ns of any clock
 * @return where to write it, for metrics_end(); NULL: not now */
FILE *metrics_begin(struct metrics *m, uint64_t now);

/** @brief What was written is the page from now on. @param m  server
 * @param out  of metrics_begin() */
void metrics_end(struct metrics *m, FILE *out);

/** @brief Ends. @param m  server, or NULL */
void metrics_close(struct metrics *m);

#endif /* TOOLS_COMMON_METRICS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/trace.h
 * @brief Recorded capacity of a link, in mahimahi's format (Netravali et al.,
 * USENIX ATC 2015).
 *
 * Each line is a time in milliseconds at which SIM_TRACE_BYTES bytes may leave;
 * several lines may have the same time. The last time is the length of the
 * recording, which then repeats.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes that one delivery opportunity carries. */
#define SIM_TRACE_BYTES 1500
/** Size of the buffer for the message of sim_trace_parse(). */
#define SIM_TRACE_WHY_MAX 120

/** A recording. */
struct sim_trace;

/**
 * @brief Reads a recording.
 * @param text      lines, each a whole number of ms, non-decreasing
 * @param len       bytes of it
 * @param[out] why  error message with its line, SIM_TRACE_WHY_MAX bytes
 * @return the recording, or NULL
 */
struct sim_trace *sim_trace_parse(const char *text, size_t len, char *why);
/** @brief Frees a recording. @param t  recording, or NULL */
void sim_trace_free(struct sim_trace *t);
/** @brief Its length. @param t  recording @return ns, above 0 */
uint64_t sim_trace_length(const struct sim_trace *t);
/** @brief Its mean rate. @param t  recording @return bit/s */
double sim_trace_rate(const struct sim_trace *t);
/**
 * @brief Time of an opportunity, including repetitions.
 * @param t  recording
 * @param n  its number, from 0
 * @return ns since the recording began
 */
uint64_t sim_trace_time(const struct sim_trace *t, uint64_t n);
/**
 * @brief The first opportunity at or after a time.
 * @param t   recording
 * @param at  ns since the recording began
 * @return its number
 */
uint64_t sim_trace_find(const struct sim_trace *t, uint64_t at);

#endif /* SIM_TRACE_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/trace_file.h
 * @brief Recordings in files.
 */
#ifndef SIM_TRACE_FILE_H
#define SIM_TRACE_FILE_H

#include "sim/trace.h"

/**
 * @brief Reads a recording, once per path. It stays until the program ends,
 * because configurations that refer to it are copied. Not thread-safe.
 * @param path      file in mahimahi's format
 * @param[out] why  error message, SIM_TRACE_WHY_MAX bytes
 * @return the recording, or NULL
 */
const struct sim_trace *trace_file(const char *path, char *why);

#endif /* SIM_TRACE_FILE_H */

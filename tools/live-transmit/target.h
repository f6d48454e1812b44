/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/target.h
 * @brief Connections as output: one that calls, or all who call.
 */
#ifndef TOOLS_TRANSMIT_TARGET_H
#define TOOLS_TRANSMIT_TARGET_H

#include "tools/live-transmit/job.h"

/** @brief Makes the stream. @param j  job @return false: out of memory */
bool target_open(struct job *j);

/** @brief Connects, and sends queued data. @param j  job
 * @param[in,out] when  lowered to the time of the next call */
void target_run(struct job *j, uint64_t *when);

/** @brief Cuts off callers who may not stay. @param j  job */
void target_cut_off(struct job *j);

/** @brief Ends the connections. @param j  job @param linger_ms  milliseconds
 * for all of them together */
void target_end(struct job *j, int linger_ms);

#endif /* TOOLS_TRANSMIT_TARGET_H */

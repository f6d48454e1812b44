/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/source.h
 * @brief A connection as input.
 */
#ifndef TOOLS_TRANSMIT_SOURCE_H
#define TOOLS_TRANSMIT_SOURCE_H

#include "tools/live-transmit/job.h"

/** @brief Connects, and reads received data. @param j  job
 * @param[in,out] when  lowered to the time of the next call */
void source_run(struct job *j, uint64_t *when);

/** @brief Passes on held-back data that is due. @param j  job
 * @param now  current time
 * @param[in,out] when  lowered to the time of the next call */
void source_release(struct job *j, uint64_t now, uint64_t *when);

/** @brief Adds the counters of the connection to the totals. @param j  job */
void source_add_stats(struct job *j);

/** @brief Ends the connection. @param j  job @param linger_ms  milliseconds */
void source_close(struct job *j, int linger_ms);

/** @brief Ends the connection, and tells the sender that the output failed.
 * @param j  job, with its out_error */
void source_abort(struct job *j);

/** @brief Ends the connection of a caller who may not stay. @param j  job */
void source_cut_off(struct job *j);

#endif /* TOOLS_TRANSMIT_SOURCE_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/input.h
 * @brief Files, pipes and UDP as input.
 */
#ifndef TOOLS_TRANSMIT_INPUT_H
#define TOOLS_TRANSMIT_INPUT_H

#include "tools/live-transmit/job.h"

/** @brief Whether to continue reading. @param j  job @param now  current time
 * @param[in,out] when  lowered to the time when there is more to read */
bool input_may_read(struct job *j, uint64_t now, uint64_t *when);

/** @brief Reads available data and passes it on. @param j  job
 * @param now  current time */
void input_read(struct job *j, uint64_t now);

/** @brief Ends the input: what the system has received of it is read first.
 * @param j  job @param now  current time */
void input_stop(struct job *j, uint64_t now);

/** @brief Warns once if datagrams are lost before they are read: to others this
 * looks like a bad link. @param j  job */
void input_watch(struct job *j);

#endif /* TOOLS_TRANSMIT_INPUT_H */

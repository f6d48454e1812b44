/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/report.h
 * @brief Statistics while it runs and at the end.
 */
#ifndef TOOLS_TRANSMIT_REPORT_H
#define TOOLS_TRANSMIT_REPORT_H

#include "tools/live-transmit/job.h"

/** @brief Opens the file for statistics. @param j  job
 * @return TOOL_OK, or an exit status after a message */
int report_open(struct job *j);

/** @brief Closes it. @param j  job @return false after a message: it is not
 * whole */
bool report_close(struct job *j);

/** @brief All numbers so far. @param j  job @param now  current time */
json_t *report_json(struct job *j, uint64_t now);

/** @brief Prints them when due. @param j  job @param now  current time
 */
void report_print(struct job *j, uint64_t now);

/** @brief Gives them to Prometheus when it is time. @param j  job
 * @param now  current time */
void report_publish(struct job *j, uint64_t now);

#endif /* TOOLS_TRANSMIT_REPORT_H */

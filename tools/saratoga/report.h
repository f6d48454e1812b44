/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/report.h
 * @brief Reports of transfers: JSON, text and logs.
 */
#ifndef TOOLS_SARATOGA_REPORT_H
#define TOOLS_SARATOGA_REPORT_H

#include <jansson.h>

#include <saratoga/node.h>

#include "tools/common/tool.h"
#include "tools/saratoga/task.h"

/** Room for a name on a terminal. */
#define SARATOGA_SHOWN 1700
/** @brief A printable name: control characters become question marks. @param
 * out  SARATOGA_SHOWN bytes @param text  any string @return @p out */
const char *saratoga_shown(char *out, const char *text);
/** @brief A name below a folder. @param to, room  where to @param a  folder, ""
 * @param b  name @return false: too long */
bool saratoga_join(char *to, size_t room, const char *a, const char *b);
/** @brief The printable URL of a task. @param out  SARATOGA_SHOWN bytes @param
 * t  task @return @p out */
const char *saratoga_remote(char *out, const struct saratoga_task *t);
/** @brief A string for a report: if it is not UTF-8, as from some peers and
 * file systems, bytes beyond ASCII become question marks.
 * @param text  any string */
json_t *saratoga_json_text(const char *text);
/** @brief Whether the request transfers a file. @param type
 * saratoga_request_type */
bool saratoga_is_transfer(uint32_t type);
/** @brief The report of a transfer. @param t  task @param ev  its end */
json_t *saratoga_report(const struct saratoga_task *t,
                        const saratoga_node_event *ev);
/** @brief The report of several transfers, or of one. @param reports  array */
json_t *saratoga_report_all(json_t *reports);
/** Room for saratoga_outcome(). */
#define SARATOGA_OUTCOME (SARATOGA_NODE_TEXT + 160)
/** @brief Amount, time and verification of a transfer, or the cause of its
 * failure. @param out  SARATOGA_OUTCOME bytes @param ev  the end of a transfer
 * @return @p out */
const char *saratoga_outcome(char *out, const saratoga_node_event *ev);
/** @brief Writes a line with the time of day to standard error.
 * @param format  as for printf() */
void saratoga_log(const char *format, ...) TOOL_PRINTF(1, 2);

#endif /* TOOLS_SARATOGA_REPORT_H */

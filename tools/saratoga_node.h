/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga_node.h
 * @brief A node as the command line describes it, and reports of transfers.
 */
#ifndef TOOLS_SARATOGA_NODE_H
#define TOOLS_SARATOGA_NODE_H

#include <jansson.h>

#include <saratoga/uv.h>

#include "address.h"
#include "saratoga_batch.h"

/**
 * @brief Fills in the config of a node.
 * @param a            command line
 * @param[out] c       config; refers to the three others
 * @param[out] engine  part of it
 * @param[out] bind    part of it
 * @return false: the command line is wrong, and it was said
 */
bool tool_node_config(const struct saratoga_args *a, saratoga_uv_config *c,
                      saratoga_config *engine, struct hostport *bind);
/** @brief Whether there is a passphrase or key. @param a  command line
 * @return it */
bool saratoga_is_secured(const struct saratoga_args *a);
/** @brief Opens a node. @param[out] node  it @param c  config
 * @return TOOL_OK, or TOOL_FAILED after saying why */
int tool_node_open(saratoga_uv **node, const saratoga_uv_config *c);

/**
 * @brief Takes ADDR[:PORT] apart; the port is 7542 when there is none.
 * @param option    that it was given to
 * @param place     as typed
 * @param[out] out  both parts
 * @return false: it is wrong, and that was said
 */
bool saratoga_place(const char *option, const char *place,
                    struct hostport *out);

/** Room for a name on a terminal. */
#define SARATOGA_SHOWN 1100
/** @brief A name as it may be printed: what a terminal would take for a command
 * becomes a question mark. @param out  SARATOGA_SHOWN bytes @param text  any
 * string @return @p out */
const char *saratoga_shown(char *out, const char *text);
/** @brief A string for a report: of one that is no UTF-8, as peers and file
 * systems may have them, the bytes beyond ASCII become question marks.
 * @param text  any string */
json_t *saratoga_json_text(const char *text);
/** @brief What is told of a transfer. @param t  task @param ev  its end */
json_t *saratoga_report(const struct saratoga_task *t,
                        const saratoga_uv_event *ev);
/** @brief What is told of several; of one: that. @param reports  array */
json_t *saratoga_report_all(json_t *reports);
/** @brief A line about a transfer that went well. @param t  task @param ev
 * its end */
void saratoga_report_line(const struct saratoga_task *t,
                          const saratoga_uv_event *ev);

#endif /* TOOLS_SARATOGA_NODE_H */

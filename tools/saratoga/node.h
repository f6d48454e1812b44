/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/node.h
 * @brief Opens a node as the command line specifies.
 */
#ifndef TOOLS_SARATOGA_NODE_H
#define TOOLS_SARATOGA_NODE_H

#include <saratoga/node.h>

#include "tools/common/address.h"
#include "tools/saratoga/bar.h"
#include "tools/saratoga/options.h"

/**
 * @brief Fills in the config of a node.
 * @param a            command line
 * @param[out] c       config; refers to the three others
 * @param[out] engine  part of it
 * @param[out] bind    part of it
 * @return false after a message: the command line is wrong
 */
bool tool_node_config(const struct saratoga_args *a, saratoga_node_config *c,
                      saratoga_config *engine, struct hostport *bind);
/** @brief Whether there is a passphrase or key. @param a command line */
bool saratoga_is_secured(const struct saratoga_args *a);
/** @brief Opens a node. @param[out] node  it @param c  config
 * @return TOOL_OK, or TOOL_FAILED after saying why */
int tool_node_open(saratoga_node **node, const saratoga_node_config *c);

/** @brief Reports once that packets were larger than the local link accepts.
 * @param a  command line @param node  node @param told  whether it was reported
 * @param bar  cleared first; or NULL */
void saratoga_tell_mtu(const struct saratoga_args *a, saratoga_node *node,
                       bool *told, struct saratoga_bar *bar);

/**
 * @brief Splits ADDR[:PORT]; the default port is 7542.
 * @param option    name of the option
 * @param place     as typed
 * @param[out] out  both parts
 * @return false after a message: it is wrong
 */
bool saratoga_place(const char *option, const char *place,
                    struct hostport *out);

#endif /* TOOLS_SARATOGA_NODE_H */

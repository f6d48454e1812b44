/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/node.h
 * @brief A node as the command line describes it.
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
 * @return false: the command line is wrong, and it was said
 */
bool tool_node_config(const struct saratoga_args *a, saratoga_node_config *c,
                      saratoga_config *engine, struct hostport *bind);
/** @brief Whether there is a passphrase or key. @param a  command line
 * @return it */
bool saratoga_is_secured(const struct saratoga_args *a);
/** @brief Opens a node. @param[out] node  it @param c  config
 * @return TOOL_OK, or TOOL_FAILED after saying why */
int tool_node_open(saratoga_node **node, const saratoga_node_config *c);

/** @brief Says, once, that packets were larger than the link here takes.
 * @param a  command line @param node  node @param told  whether it was said
 * @param bar  to be cleared before; or NULL */
void saratoga_tell_mtu(const struct saratoga_args *a, saratoga_node *node,
                       bool *told, struct saratoga_bar *bar);

/**
 * @brief Takes ADDR[:PORT] apart; the port is 7542 when there is none.
 * @param option    that it was given to
 * @param place     as typed
 * @param[out] out  both parts
 * @return false: it is wrong, and that was said
 */
bool saratoga_place(const char *option, const char *place,
                    struct hostport *out);

#endif /* TOOLS_SARATOGA_NODE_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/commands.h
 * @brief The commands of saratoga; each returns an exit code.
 */
#ifndef TOOLS_SARATOGA_COMMANDS_H
#define TOOLS_SARATOGA_COMMANDS_H

#include "tools/saratoga/batch.h"
#include "tools/saratoga/options.h"
#include "tools/saratoga/url.h"

/** @brief get and take. @param a  command line */
int saratoga_fetch(const struct saratoga_args *a);
/** @brief put and give. @param a  command line */
int saratoga_store(const struct saratoga_args *a);
/** @brief rm. @param a  command line */
int saratoga_remove(const struct saratoga_args *a);
/** @brief ls. @param a  command line */
int saratoga_list(const struct saratoga_args *a);
/** @brief peers. @param a  command line */
int saratoga_peers(const struct saratoga_args *a);
/** @brief mirror. @param a  command line */
int saratoga_mirror(const struct saratoga_args *a);
/** @brief serve. @param a  command line */
int saratoga_serve(const struct saratoga_args *a);

/**
 * @brief A task for a URL.
 * @param text  URL @param type  saratoga_request_type
 * @return NULL after a message: the URL is wrong
 */
struct saratoga_task *saratoga_task_for(const char *text, uint32_t type);
/** @brief Adds the tasks for a directory record: files are fetched into the
 * same place below the folder of @p t, directories are listed.
 * @param b  batch @param t  the listing @param ev  its end @param fresh only
 *           files that are not here yet */
void saratoga_fetch_record(struct saratoga_batch *b,
                           const struct saratoga_task *t,
                           const saratoga_node_event *ev, bool fresh);

#endif /* TOOLS_SARATOGA_COMMANDS_H */

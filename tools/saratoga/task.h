/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/task.h
 * @brief One transfer of a batch.
 */
#ifndef TOOLS_SARATOGA_TASK_H
#define TOOLS_SARATOGA_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include <saratoga/node.h>

/** @brief One transfer, listing or deletion. */
struct saratoga_task {
    struct saratoga_task *next;
    uint32_t type; /**< saratoga_request_type */
    char host[256];
    char port[32];
    char path[SARATOGA_PATH_MAX]; /**< at the peer */
    char folder[4096];            /**< here */
    char file[SARATOGA_PATH_MAX]; /**< name in it; "": chosen by the peer */
    bool resume;
    bool overwrite;
    bool stream;        /**< of standard input, or to standard output */
    uint64_t id;        /**< of the transfer, once it runs */
    uint64_t size;      /**< mirror: as listed */
    int64_t mtime;      /**< mirror: likewise, POSIX seconds */
    uint64_t start_at;  /**< not before, ns of CLOCK_MONOTONIC */
    unsigned questions; /**< number of questions about the peer's copy */
    saratoga_node_event *taken; /**< end of the take that is being confirmed;
                                     from malloc() */
};

/** @brief A new task, zeroed; the caller fills it in and adds it.
 * @return NULL: out of memory */
struct saratoga_task *saratoga_task_new(void);
/** @brief Frees a task. @param t  task or NULL */
void saratoga_task_free(struct saratoga_task *t);

#endif /* TOOLS_SARATOGA_TASK_H */

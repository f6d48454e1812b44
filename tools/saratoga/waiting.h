/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/waiting.h
 * @brief Tasks that wait for their turn. A peer may list any number of files,
 * so each takes little memory, and all of them a limited amount.
 */
#ifndef TOOLS_SARATOGA_WAITING_H
#define TOOLS_SARATOGA_WAITING_H

#include <stdbool.h>
#include <stddef.h>

struct saratoga_task;

/** @brief The queue; zeroed at first. */
struct saratoga_waiting {
    struct saratoga_waiting_task *first;
    struct saratoga_waiting_task *last;
    size_t bytes; /**< memory of all */
};

/** @brief What the first task is about. */
struct saratoga_waiting_names {
    const char *host;
    const char *port;
    const char *path;
    const char *folder;
    const char *file;
};

/** @brief Adds a copy of a task that has not begun. @param w  queue @param t
 * task @return false: the limit is reached, or there is no memory */
bool saratoga_waiting_add(struct saratoga_waiting *w,
                          const struct saratoga_task *t);
/** @brief Looks at the first task. @param w  queue @param[out] n  valid until
 * the task is taken @return false: there is none */
bool saratoga_waiting_look(const struct saratoga_waiting *w,
                           struct saratoga_waiting_names *n);
/** @brief Takes the first task, which the caller frees. @param w  queue, not
 * empty @return NULL: out of memory, it still waits */
struct saratoga_task *saratoga_waiting_take(struct saratoga_waiting *w);
/** @brief Drops tasks. @param w  queue @param host  of whom; NULL: all @param
 * port  likewise @return their number */
unsigned saratoga_waiting_drop(struct saratoga_waiting *w, const char *host,
                               const char *port);

#endif /* TOOLS_SARATOGA_WAITING_H */

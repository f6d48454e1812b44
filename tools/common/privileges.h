/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/common/privileges.h
 * @brief Giving up what a server does not need, so that a fault in it is worth
 * less to whoever finds it.
 */
#ifndef TOOLS_COMMON_PRIVILEGES_H
#define TOOLS_COMMON_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>

/** @brief A folder or file that stays accessible, with all below it. */
struct privileges_path {
    const char *path;
    bool write; /**< files and folders may be made, changed and removed */
};

/**
 * @brief Forbids every other file to this process, for ever, and TCP; also
 * gains of privileges by programs that it might start.  Uses Landlock
 * (Linux 5.13).
 *
 * Threads that run already would keep their rights, so that it is refused
 * beside any.
 * @param paths  what stays
 * @param count  of them
 * @return the version of Landlock, or 0 where nothing is forbidden: the kernel
 *         has none, a path cannot be opened, or there are threads
 */
int privileges_drop(const struct privileges_path *paths, size_t count);

#endif /* TOOLS_COMMON_PRIVILEGES_H */

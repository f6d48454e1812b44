/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/common/privileges.h
 * @brief Giving up what a program does not need, so that an attacker gains less
 * by a fault in it.
 */
#ifndef TOOLS_COMMON_PRIVILEGES_H
#define TOOLS_COMMON_PRIVILEGES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/** @brief A folder or file that stays accessible, with its contents. */
struct privileges_path {
    const char *path;
    bool write; /**< files and folders may be created, changed and removed */
};

/** @brief What a program keeps. */
struct privileges {
    const struct privileges_path *paths; /**< files it still opens */
    size_t count;                        /**< of them */
    bool names; /**< it looks up names: the system's files may be read, and name
                     servers asked by TCP */
    bool tcp;   /**< it uses TCP otherwise */
};

/** @brief What was taken from it. */
struct privileges_dropped {
    int landlock; /**< version of Landlock that keeps it from all other files
                       and, unless it needs it, from TCP; 0: none */
    bool calls;   /**< it starts no programs, looks into no other processes and
                       makes no sockets but those of IP, name servers and the
                       log */
};

/**
 * @brief Gives up everything else, for ever: files and TCP by Landlock (Linux
 * 5.13), system calls by seccomp where built with libseccomp, and in any case
 * gains of privileges by programs that it might start.
 *
 * Threads that run already would keep their rights to files; beside any, and
 * when a path cannot be opened, files are not restricted.
 * @param p  what stays
 * @return what was given up
 */
struct privileges_dropped privileges_drop(const struct privileges *p);

/** Bytes that a description needs at most. */
#define PRIVILEGES_TEXT 128

/** @brief Describes what was given up. @param d  from privileges_drop()
 * @param text  ::PRIVILEGES_TEXT bytes @return @p text */
const char *privileges_describe(const struct privileges_dropped *d, char *text);

/** @brief The folder that holds a file, which may be replaced there.
 * @param file  its path @param folder, room  where to @return @p folder, or "."
 */
const char *privileges_folder_of(const char *file, char *folder, size_t room);

/** Most paths that a program names. */
#define PRIVILEGES_PATHS 10

/** @brief Files of a command line. */
struct privileges_list {
    struct privileges_path path[PRIVILEGES_PATHS];
    char text[PRIVILEGES_PATHS][PATH_MAX];
    size_t count;
};

/** @brief Adds a file or folder: itself if it exists, else the folder in which
 * it will be created. @param l  zeroed at first @param file  its path; NULL and
 * "-" are ignored @param write  as in privileges_path */
void privileges_add(struct privileges_list *l, const char *file, bool write);

/** @brief Adds the folder that holds a file, for files that are replaced or
 * have others beside them. @param l, file, write  as of privileges_add() */
void privileges_add_folder(struct privileges_list *l, const char *file,
                           bool write);

/** @brief Whether a host must be looked up. @param host  name or address;
 * empty: no */
bool privileges_is_name(const char *host);

/** @brief Forbids system calls; of privileges_drop(). @return whether it did */
bool privileges_forbid_calls(void);

#endif /* TOOLS_COMMON_PRIVILEGES_H */

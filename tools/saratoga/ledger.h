/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/ledger.h
 * @brief Record of the files that a mirror has fetched into a folder, even if
 * they have been moved since.
 *
 * An append-only text file in that folder: a line per file with its size, its
 * time in POSIX seconds and its path, in which control characters, spaces and %
 * are %XX. The newest line for a path applies; others, and unreadable lines,
 * are ignored.
 */
#ifndef TOOLS_SARATOGA_LEDGER_H
#define TOOLS_SARATOGA_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

/** Its name; peers cannot use names with this prefix. */
#define SARATOGA_LEDGER ".saratoga-ledger"

/** @brief One file. */
struct saratoga_ledger_entry {
    char *path; /**< below the folder */
    uint64_t size;
    int64_t mtime;
};

struct saratoga_ledger;

/** @brief Reads the ledger, or creates one. @param folder  the mirror's
 * @return NULL with errno: it cannot be opened, or out of memory */
struct saratoga_ledger *saratoga_ledger_open(const char *folder);
/** @brief Frees. @param l  ledger or NULL */
void saratoga_ledger_close(struct saratoga_ledger *l);
/** @brief Looks a file up. @param l  ledger @param path  below the folder
 * @return NULL: it was never fetched; valid until the next add */
struct saratoga_ledger_entry *saratoga_ledger_find(struct saratoga_ledger *l,
                                                   const char *path);
/** @brief Whether to report a file: once for each.
 * @param l  ledger @param path  below the folder @return true the first time */
bool saratoga_ledger_report(struct saratoga_ledger *l, const char *path);
/** @brief Records a file and syncs the ledger to disk.
 * @param l  ledger @param path  below the folder @param size  its length
 * @param mtime  its time
 * @return false with errno: it could not be written */
bool saratoga_ledger_add(struct saratoga_ledger *l, const char *path,
                         uint64_t size, int64_t mtime);

#endif /* TOOLS_SARATOGA_LEDGER_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/ledger.h
 * @brief What a mirror has fetched into a folder, wherever it is by now.
 *
 * A text file in that folder, which only grows: a line per file with its size,
 * its time in POSIX seconds and its path, in which control characters, spaces
 * and % are %XX.  The newest line for a path counts; others, and what cannot be
 * read, do not.
 */
#ifndef TOOLS_SARATOGA_LEDGER_H
#define TOOLS_SARATOGA_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

/** Its name; peers cannot name files that begin so. */
#define SARATOGA_LEDGER ".saratoga-ledger"

/** @brief One file. */
struct saratoga_ledger_entry {
    char *path; /**< below the folder */
    uint64_t size;
    int64_t mtime;
};

struct saratoga_ledger;

/** @brief Reads it, or begins one. @param folder  the mirror's
 * @return NULL when it cannot be opened: errno; or memory is short */
struct saratoga_ledger *saratoga_ledger_open(const char *folder);
/** @brief Frees. @param l  ledger or NULL */
void saratoga_ledger_close(struct saratoga_ledger *l);
/** @brief Looks a file up. @param l  ledger @param path  below the folder
 * @return NULL when it was never fetched; valid until the next add */
struct saratoga_ledger_entry *saratoga_ledger_find(struct saratoga_ledger *l,
                                                   const char *path);
/** @brief Whether to report something of a file: once for each.
 * @param l  ledger @param path  below the folder @return true the first time */
bool saratoga_ledger_report(struct saratoga_ledger *l, const char *path);
/** @brief Notes a file, and puts that on the disk.
 * @param l  ledger @param path  below the folder @param size  its length
 * @param mtime  its time
 * @return false when it could not be written: errno */
bool saratoga_ledger_add(struct saratoga_ledger *l, const char *path,
                         uint64_t size, int64_t mtime);

#endif /* TOOLS_SARATOGA_LEDGER_H */

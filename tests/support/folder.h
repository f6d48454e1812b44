/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

#include <ftw.h>
#include <stdio.h>

static inline int remove_one(const char *path, const struct stat *st, int kind,
                             struct FTW *ftw) {
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

/* Removes a folder with its contents. Returns 0 on success. */
static inline int remove_folder(const char *path) {
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif /* TESTS_SUPPORT_FOLDER_H */

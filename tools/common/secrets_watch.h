/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/common/secrets_watch.h
 * @brief Whom a listener turned away, on standard error.
 */
#ifndef TOOLS_SECRETS_WATCH_H
#define TOOLS_SECRETS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/** @brief Callers that a listener turned away; zeroed at first. */
struct secrets_watch {
    uint64_t rejected;
    uint64_t due; /**< when to look again, ns of the monotonic clock */
};

/** @brief Whether it is time to look: once a second. @param w  watch
 * @return true: secrets_tell() should be called */
bool secrets_look(struct secrets_watch *w);
/** @brief Says so on standard error when there are more of them.
 * @param w  what was said before @param tool  whose message it is
 * @param rejected  so far, for a wrong passphrase or key or none */
void secrets_tell(struct secrets_watch *w, const char *tool, uint64_t rejected);

/** @brief Warns on standard error of a file with a secret that every user of
 * this machine can read. @param tool  whose message it is @param path  the file
 */
void secrets_check_file(const char *tool, const char *path);

#endif /* TOOLS_SECRETS_WATCH_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/common/secrets_watch.h
 * @brief Reports rejected callers of a listener on standard error.
 */
#ifndef TOOLS_SECRETS_WATCH_H
#define TOOLS_SECRETS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/** @brief Rejected callers of a listener; zeroed initially. */
struct secrets_watch {
    uint64_t rejected;
    uint64_t due; /**< time of the next check, ns of the monotonic clock */
};

/** @brief Whether a check is due: once a second. @param w  watch
 * @return true: secrets_tell() should be called */
bool secrets_look(struct secrets_watch *w);
/** @brief Reports on standard error when there are more of them.
 * @param w  state of the last report @param tool  name in the message
 * @param rejected  number so far: wrong passphrase or key, or none */
void secrets_tell(struct secrets_watch *w, const char *tool, uint64_t rejected);

/** @brief Warns on standard error about a secret file that every user of this
 * machine can read. @param tool  name in the message @param path  the file
 */
void secrets_check_file(const char *tool, const char *path);

#endif /* TOOLS_SECRETS_WATCH_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/common/secrets_watch.h
 * @brief Reports rejected callers of a listener on standard error.
 */
#ifndef TOOLS_SECRETS_WATCH_H
#define TOOLS_SECRETS_WATCH_H

#include "internal/credentials/rejections.h"

/** @brief Whether a check is due: once a second. @param r  state, zeroed
 * initially
 * @return true: secrets_tell() should be called */
bool secrets_look(struct secrets_rejections *r);
/** @brief Reports on standard error when there are more of them, unless there
 * were too many reports. @param r  state @param tool  name in the message
 * @param rejected  number so far: wrong passphrase or key, or none
 * @param from      address of the newest */
void secrets_tell(struct secrets_rejections *r, const char *tool,
                  uint64_t rejected, const char *from);

/** @brief Warns on standard error about a secret file that every user of this
 * machine can read. @param tool  name in the message @param path  the file
 */
void secrets_check_file(const char *tool, const char *path);

#endif /* TOOLS_SECRETS_WATCH_H */

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECRETS_WIPE_H
#define SECRETS_WIPE_H

#include <stddef.h>

/**
 * @brief Overwrites a secret; compilers do not optimise this away.
 * @param p    memory
 * @param len  bytes
 */
void secrets_wipe(void *p, size_t len);

#endif /* SECRETS_WIPE_H */

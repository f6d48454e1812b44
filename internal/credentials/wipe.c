/* SPDX-License-Identifier: MPL-2.0 */
/* Overwrites secrets. */
#include "internal/credentials/wipe.h"

#include <stdint.h>

void secrets_wipe(void *p, size_t len) {
    volatile uint8_t *byte = p;
    while (len-- > 0) {
        *byte++ = 0;
    }
}

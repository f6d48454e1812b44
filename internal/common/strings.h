/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_STRINGS_H
#define COMMON_STRINGS_H

#include "internal/common/mem.h"

/* The strings to which a struct of options points. */
typedef struct cmn__strings {
    const char **text[8]; /* single strings, as far as not NULL */
    const char *const *
        *names;            /* NULL-terminated names of parameters; or NULL */
    const double **values; /* with names: one per name */
} cmn__strings;

/* Copies them into one block, and points the struct there. Each of them may be
 * NULL, and stays so. Returns the block, to be freed with cmn__free(); or NULL:
 * out of memory, nothing changed. */
void *cmn__strings_copy(const cmn__mem *mem, const cmn__strings *s);

#endif /* COMMON_STRINGS_H */

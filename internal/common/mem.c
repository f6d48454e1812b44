/* SPDX-License-Identifier: MPL-2.0 */
/* Memory from the application's realloc-like function. */
#include "internal/common/mem.h"

#include <stdlib.h>
#include <string.h>

static void *default_realloc(void *user, void *ptr, size_t size) {
    (void)user;
    if (size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, size);
}

cmn__mem cmn__mem_default(void) {
    return (cmn__mem){default_realloc, NULL};
}

void *cmn__alloc(const cmn__mem *m, size_t size) {
    void *p = m->realloc(m->user, NULL, size);
    if (p != NULL) {
        memset(p, 0, size);
    }
    return p;
}

void *cmn__resize(const cmn__mem *m, void *ptr, size_t size) {
    return m->realloc(m->user, ptr, size);
}

void cmn__free(const cmn__mem *m, void *ptr) {
    if (ptr != NULL) {
        (void)m->realloc(m->user, ptr, 0);
    }
}

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_MEM_H
#define COMMON_MEM_H

#include <stddef.h>

/* A library's allocator: one realloc-like function, so that an application or a
 * test can count, limit or refuse allocations. */
typedef struct cmn__mem {
    void *(*realloc)(void *user, void *ptr, size_t size);
    void *user;
} cmn__mem;

/* The C library's allocator. */
cmn__mem cmn__mem_default(void);

/* Zeroed memory, or NULL. */
void *cmn__alloc(const cmn__mem *m, size_t size);
/* As realloc(); the old block stays valid if NULL is returned. */
void *cmn__resize(const cmn__mem *m, void *ptr, size_t size);
void cmn__free(const cmn__mem *m, void *ptr);

#endif /* COMMON_MEM_H */

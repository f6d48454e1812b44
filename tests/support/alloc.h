/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_SUPPORT_ALLOC_H
#define TESTS_SUPPORT_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* An allocator that counts, and fails on request. Ready when zeroed. */
struct test_alloc {
    uint64_t calls;   /* requests for memory so far, failed ones included */
    uint64_t fail_at; /* the request with this number (from 1) fails; 0: none */
    uint64_t fail_from; /* and all from this number on; 0: none */
    uint64_t limit;     /* refuse to hold more bytes than this; 0: no limit */
    size_t live;        /* bytes held now */
    size_t blocks;      /* blocks held now */
    size_t peak;        /* most bytes ever held */
};

/* Fits tltcp_allocator and cmn__mem; user is the struct test_alloc. */
void *test_alloc_realloc(void *user, void *ptr, size_t size);

#endif /* TESTS_SUPPORT_ALLOC_H */

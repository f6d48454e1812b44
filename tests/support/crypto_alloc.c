/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/support/crypto_alloc.h"

#include <stdlib.h>

#include <openssl/crypto.h>

int test_crypto_left = -1;

static bool refused(void) {
    return test_crypto_left >= 0 && test_crypto_left-- == 0;
}

/* Zeroed: the memory sanitizer does not see what libcrypto writes. */
static void *take(size_t len, const char *file, int line) {
    (void)file;
    (void)line;
    return refused() ? NULL : calloc(1, len);
}

static void *take_again(void *p, size_t len, const char *file, int line) {
    (void)file;
    (void)line;
    return refused() ? NULL : realloc(p, len);
}

static void give(void *p, const char *file, int line) {
    (void)file;
    (void)line;
    free(p);
}

bool test_crypto_alloc_init(void) {
    return CRYPTO_set_mem_functions(take, take_again, give) == 1;
}

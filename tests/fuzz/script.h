/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_FUZZ_SCRIPT_H
#define TESTS_FUZZ_SCRIPT_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The input of a fuzz target, read as decisions.  Past its end every decision
 * is 0. */
struct script {
    const uint8_t *p;
    const uint8_t *end;
};

static inline bool script_left(const struct script *s) {
    return s->p < s->end;
}

static inline uint64_t script_number(struct script *s, int bytes) {
    uint64_t v = 0;
    while (bytes-- > 0) {
        v = v << 8 | (s->p < s->end ? *s->p++ : 0);
    }
    return v;
}

/* 0 .. n - 1. */
static inline uint64_t script_below(struct script *s, uint64_t n) {
    return n == 0 ? 0 : script_number(s, n <= 256 ? 1 : n <= 65536 ? 2 : 4) % n;
}

/* A fuzzer wants a crash, not a return value. */
#define FUZZ_CHECK(condition)                                        \
    do {                                                             \
        if (!(condition)) {                                          \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
                          #condition);                               \
            abort();                                                 \
        }                                                            \
    } while (0)

static inline void script_expect(int line, int64_t rv, const int *errors) {
    while (*errors != 0 && rv != *errors) {
        errors++;
    }
    if (rv < 0 && *errors == 0) {
        (void)fprintf(stderr, "line %d: result %" PRId64 "\n", line, rv);
        abort();
    }
}

/* The result of a call must be at least 0, or one of these errors. */
#define FUZZ_EXPECT(rv, ...) \
    script_expect(__LINE__, (rv), (const int[]){__VA_ARGS__, 0})

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size);

#endif /* TESTS_FUZZ_SCRIPT_H */

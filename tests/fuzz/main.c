/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A fuzz target without a fuzzer: replays files, or feeds inputs of its own
 * making.
 *
 *   fuzz_x FILE...          replays
 *   fuzz_x --random FIRST N  inputs numbered FIRST to FIRST + N - 1
 *   fuzz_x --write FOLDER FIRST N  writes these inputs, for a fuzzer to start
 *                            from
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/random.h"
#include "tests/fuzz/script.h"

#define INPUT_MAX 65536

static uint8_t input[INPUT_MAX];

static int replay(const char *name) {
    FILE *f = fopen(name, "rb");
    size_t n;
    if (f == NULL) {
        (void)fprintf(stderr, "%s: cannot be opened\n", name);
        return 1;
    }
    n = fread(input, 1, sizeof(input), f);
    (void)fclose(f);
    (void)LLVMFuzzerTestOneInput(input, n);
    return 0;
}

/* Runs of small numbers and of noise: scripts made of noise alone would rarely
 * do the same thing twice. */
static size_t make_input(uint64_t number) {
    struct sim_random r;
    size_t len;
    size_t i = 0;
    sim_random_init(&r, number);
    len = (size_t)1 << (4 + sim_random_below(&r, 9));
    len += (size_t)sim_random_below(&r, len);
    while (i < len) {
        size_t run = 1 + (size_t)sim_random_below(&r, 64);
        uint64_t top = UINT64_C(1) << (1 + sim_random_below(&r, 8));
        for (; run > 0 && i < len; run--) {
            input[i++] = (uint8_t)sim_random_below(&r, top);
        }
    }
    return len;
}

static int self_made(uint64_t first, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) {
        char name[32];
        size_t len = make_input(first + i);
        /* The number identifies the input of a crash. */
        (void)snprintf(name, sizeof(name), "input %" PRIu64, first + i);
        if (getenv("FUZZ_VERBOSE") != NULL) {
            (void)fprintf(stderr, "%s\n", name);
        }
        (void)LLVMFuzzerTestOneInput(input, len);
    }
    return 0;
}

static int write_inputs(const char *folder, uint64_t first, uint64_t n) {
    for (uint64_t i = first; i < first + n; i++) {
        char name[4096];
        size_t len = make_input(i);
        FILE *f;
        (void)snprintf(name, sizeof(name), "%s/input-%" PRIu64, folder, i);
        f = fopen(name, "wb");
        if (f == NULL || fwrite(input, 1, len, f) != len || fclose(f) != 0) {
            (void)fprintf(stderr, "%s: cannot be written\n", name);
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    int rv = 0;
    if (argc == 5 && strcmp(argv[1], "--write") == 0) {
        return write_inputs(argv[2], strtoull(argv[3], NULL, 10),
                            strtoull(argv[4], NULL, 10));
    }
    if (argc == 4 && strcmp(argv[1], "--random") == 0) {
        return self_made(strtoull(argv[2], NULL, 10),
                         strtoull(argv[3], NULL, 10));
    }
    for (int i = 1; i < argc; i++) {
        rv |= replay(argv[i]);
    }
    return rv;
}

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_UNIT_SARATOGA_HEX_H
#define TESTS_UNIT_SARATOGA_HEX_H

#include "tests/support/cmocka.h"

struct hex {
    uint8_t b[2048];
    size_t len;
};

static inline int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* Blanks and bars are for the eye. */
static inline struct hex unhex(const char *text) {
    struct hex h = {.len = 0};
    int high = -1;
    for (; *text != '\0'; text++) {
        int d = hex_digit(*text);
        if (d >= 0 && high < 0) {
            high = d;
        } else if (d >= 0) {
            h.b[h.len++] = (uint8_t)(high << 4 | d);
            high = -1;
        }
    }
    return h;
}

#define assert_octets(data, n, text)                     \
    do {                                                 \
        struct hex want_ = unhex(text);                  \
        assert_int_equal((n), want_.len);                \
        assert_memory_equal((data), want_.b, want_.len); \
    } while (0)

#endif /* TESTS_UNIT_SARATOGA_HEX_H */

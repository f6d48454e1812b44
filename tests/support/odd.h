/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_SUPPORT_ODD_H
#define TESTS_SUPPORT_ODD_H

#include <stdint.h>
#include <tltcp/types.h>

/* Number of ways in which a part can be wrong. */
#define ODD_PARTS 4u

/* A part of a write; `way` from 0 to ODD_PARTS - 1: a wrong one. */
static inline struct iovec odd_part(void *base, size_t len, unsigned way) {
    struct iovec v = {base, len};

    switch (way) {
    case 0:
        v.iov_base = NULL;
        break;
    case 1:
        v.iov_len = 0;
        break;
    case 2:
        v.iov_len = SIZE_MAX; /* more than any buffer: never read */
        break;
    case 3:
        v.iov_len = SIZE_MAX / 2 + 2;
        break;
    default:
        break;
    }
    return v;
}

#endif /* TESTS_SUPPORT_ODD_H */

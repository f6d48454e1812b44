/* SPDX-License-Identifier: MPL-2.0 */
/* CMocka with the headers that it needs. */
#ifndef TESTS_SUPPORT_CMOCKA_H
#define TESTS_SUPPORT_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A test; its name is the sentence that it verifies. `state` is the result of
 * the set-up, if there is one. */
#if defined(__GNUC__)
#define TEST(name) static void name(__attribute__((unused)) void **state)
#else
#define TEST(name) static void name(void **state)
#endif

#endif /* TESTS_SUPPORT_CMOCKA_H */

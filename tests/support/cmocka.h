/* SPDX-License-Identifier: MPL-2.0 */
/* CMocka with the headers that it wants to see first. */
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

#endif /* TESTS_SUPPORT_CMOCKA_H */

/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Tables of numbers that controllers must reproduce, read from
 * tests/data/congestion: a title line "# NAME  setting", a line of column
 * names, rows.  Columns are two or more spaces apart.  "-" is not applicable.
 */
#ifndef TESTS_VECTORS_H
#define TESTS_VECTORS_H

#include <stdbool.h>
#include <stddef.h>

#define VECTOR_COLUMNS 12
#define VECTOR_ROWS 64

struct vectors {
    char name[32];
    size_t columns;
    size_t rows;
    const char *head[VECTOR_COLUMNS];
    const char *cell[VECTOR_ROWS][VECTOR_COLUMNS];
    char text[8192];
};

/* Reads NAME.txt of the working directory; fails the test when it cannot. */
void vectors_read(struct vectors *v, const char *name);
/* The text of a cell; fails the test when there is no such column. */
const char *vectors_text(const struct vectors *v, size_t row,
                         const char *column);
/* The first cell of a row: what happens. */
const char *vectors_event(const struct vectors *v, size_t row);
/* Compares a number with a cell, relative error 1e-5; "-" is skipped. */
void vectors_check(const struct vectors *v, size_t row, const char *column,
                   double value);
/* CMocka's own comparison is in single precision. */
#define check_near(a, b, tolerance) \
    vectors__near((a), (b), (tolerance), __FILE__, __LINE__)
void vectors__near(double a, double b, double tolerance, const char *file,
                   int line);
/* The number behind a key in a text: number_after("R=0.1 p=3", "p=") is 3. */
double number_after(const char *text, const char *key);
bool contains(const char *text, const char *part);

#endif /* TESTS_VECTORS_H */

/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/unit/congestion/vectors.h"
#include "tests/support/cmocka.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cuts a line at runs of two or more spaces. */
static size_t split(char *line, const char **cells) {
    size_t n = 0;
    while (*line != '\0') {
        assert_true(n < VECTOR_COLUMNS);
        cells[n++] = line;
        char *gap = strstr(line, "  ");
        if (gap == NULL) {
            break;
        }
        *gap++ = '\0';
        line = gap + strspn(gap, " ");
    }
    return n;
}

static void read_text(struct vectors *v, const char *name) {
    char path[64];
    snprintf(path, sizeof(path), "%s.txt", name);
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        fail_msg("%s: not in the working directory", path);
    }
    size_t n = fread(v->text, 1, sizeof(v->text) - 1, f);
    fclose(f);
    assert_true(n < sizeof(v->text) - 1);
    v->text[n] = '\0';
}

static void take_row(struct vectors *v, char *line) {
    assert_true(v->rows < VECTOR_ROWS);
    size_t n = split(line, v->cell[v->rows]);
    if (n != v->columns) {
        fail_msg("%s row %zu: %zu cells, %zu columns", v->name, v->rows + 1, n,
                 v->columns);
    }
    v->rows++;
}

void vectors_read(struct vectors *v, const char *name) {
    memset(v, 0, sizeof(*v));
    snprintf(v->name, sizeof(v->name), "%s", name);
    read_text(v, name);
    char *next = v->text;
    for (size_t i = 0; *next != '\0'; i++) {
        char *line = next;
        next += strcspn(next, "\n");
        if (*next == '\n') {
            *next++ = '\0';
        }
        if (i == 1) {
            v->columns = split(line, v->head);
        } else if (i > 1 && *line != '\0') {
            take_row(v, line);
        }
    }
    assert_true(v->rows > 0);
}

const char *vectors_text(const struct vectors *v, size_t row,
                         const char *column) {
    for (size_t i = 0; i < v->columns; i++) {
        if (strcmp(v->head[i], column) == 0) {
            return v->cell[row][i];
        }
    }
    fail_msg("%s: no column %s", v->name, column);
    return "";
}

const char *vectors_event(const struct vectors *v, size_t row) {
    return v->cell[row][0];
}

static bool close_enough(double a, double b) {
    if (isinf(a) || isinf(b) || a == b) {
        return a == b;
    }
    return fabs(a - b) <= 1e-5 * fmax(fabs(a), fabs(b));
}

void vectors_check(const struct vectors *v, size_t row, const char *column,
                   double value) {
    const char *text = vectors_text(v, row, column);
    if (strcmp(text, "-") == 0) {
        return;
    }
    char *end;
    double expected = strtod(text, &end);
    assert_true(end != text && *end == '\0');
    if (!close_enough(expected, value)) {
        fail_msg("%s row %zu (%s): %s is %.9g, not %s", v->name, row + 1,
                 vectors_event(v, row), column, value, text);
    }
}

void vectors__near(double a, double b, double tolerance, const char *file,
                   int line) {
    if (a == b || fabs(a - b) <= tolerance) {
        return;
    }
    print_error("%.12g is not %.12g\n", a, b);
    _fail(file, line);
}

double number_after(const char *text, const char *key) {
    const char *at = strstr(text, key);
    if (at == NULL) {
        fail_msg("no \"%s\" in \"%s\"", key, text);
        return 0;
    }
    at += strlen(key);
    char *end;
    double value = strtod(at, &end);
    assert_ptr_not_equal(at, end);
    return value;
}

bool contains(const char *text, const char *part) {
    return strstr(text, part) != NULL;
}

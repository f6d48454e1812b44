/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/common/strings.h"

#include <string.h>

#define TEXTS (sizeof(((cmn__strings *)0)->text) / sizeof(const char **))

static size_t strings_size(const char *text) {
    return text != NULL ? strlen(text) + 1 : 0;
}

/* Copies a string to *at, and moves *at behind it. */
static const char *strings_put(char **at, const char *text) {
    size_t size = strings_size(text);
    char *copy = *at;

    if (text == NULL) {
        return NULL;
    }
    memcpy(copy, text, size);
    *at += size;
    return copy;
}

/* Number of parameters. */
static size_t strings_count(const cmn__strings *s) {
    size_t n = 0;

    while (s->names != NULL && *s->names != NULL && (*s->names)[n] != NULL) {
        n++;
    }
    return n;
}

void *cmn__strings_copy(const cmn__mem *mem, const cmn__strings *s) {
    size_t n = strings_count(s);
    size_t size = n * sizeof(double) + (n + 1) * sizeof(char *);
    double *values;
    const char **names;
    char *at;

    for (size_t i = 0; i < n; i++) {
        size += strings_size((*s->names)[i]);
    }
    for (size_t i = 0; i < TEXTS; i++) {
        size += s->text[i] != NULL ? strings_size(*s->text[i]) : 0;
    }
    values = cmn__alloc(mem, size);
    if (values == NULL) {
        return NULL;
    }
    names = (const char **)(void *)(values + n);
    at = (char *)(names + n + 1);
    for (size_t i = 0; i < n; i++) {
        values[i] = (*s->values)[i];
        names[i] = strings_put(&at, (*s->names)[i]);
    }
    for (size_t i = 0; i < TEXTS; i++) {
        if (s->text[i] != NULL) {
            *s->text[i] = strings_put(&at, *s->text[i]);
        }
    }
    if (s->names != NULL) {
        *s->names = n > 0 ? names : NULL;
        *s->values = n > 0 ? values : NULL;
    }
    return values;
}

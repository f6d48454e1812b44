/* SPDX-License-Identifier: MPL-2.0 */
#include "assembler.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 65536

void assembler_init(struct assembler *a, size_t max) {
    *a = (struct assembler){.max = max};
}

void assembler_free(struct assembler *a) {
    free(a->data);
    a->data = NULL;
}

static bool reserve(struct assembler *a, size_t size) {
    size_t capacity = a->capacity ? a->capacity : CAPACITY_MIN;
    uint8_t *data;
    if (size <= a->capacity) {
        return true;
    }
    while (capacity < size) {
        capacity *= 2;
    }
    data = realloc(a->data, capacity);
    if (!data) {
        return false;
    }
    a->data = data;
    a->capacity = capacity;
    return true;
}

static enum assembler_result append(struct assembler *a, const void *data,
                                    size_t len) {
    if (a->holed) {
        return ASSEMBLER_MORE; /* bytes behind a hole have no place */
    }
    if (len > a->max - a->len) {
        a->holed = true;
        return ASSEMBLER_TOO_BIG;
    }
    if (!reserve(a, a->len + len)) {
        a->holed = true;
        return ASSEMBLER_NOMEM;
    }
    memcpy(a->data + a->len, data, len);
    a->len += len;
    return ASSEMBLER_MORE;
}

static enum assembler_result close_section(struct assembler *a) {
    a->open = false;
    return a->holed ? ASSEMBLER_CUT : ASSEMBLER_WHOLE;
}

static bool is_other(const struct assembler *a,
                     const struct tltcp_segment *segment) {
    if (!a->open) {
        return false;
    }
    return (segment->flags & TL_SECTION_START) ||
           (segment->section != TLTCP_SECTION_UNKNOWN &&
            segment->section != a->section);
}

static void open_section(struct assembler *a,
                         const struct tltcp_segment *segment) {
    a->open = true;
    a->section = segment->section;
    a->len = 0;
    /* what begins in the middle has lost its beginning */
    a->holed = !(segment->flags & TL_SECTION_START);
}

/* A gap that reaches over the end of its section leaves nothing open. */
static enum assembler_result take_gap(struct assembler *a,
                                      const struct tltcp_segment *segment) {
    bool was_open = a->open;
    if (was_open) {
        a->holed = true;
    }
    if (segment->flags & TL_SECTION_END) {
        a->open = false;
        return was_open ? ASSEMBLER_CUT : ASSEMBLER_MORE;
    }
    if (!was_open) {
        open_section(a, segment);
        a->holed = true;
    }
    return ASSEMBLER_MORE;
}

enum assembler_result assembler_piece(struct assembler *a,
                                      const struct tltcp_segment *segment,
                                      const void *data, size_t len,
                                      bool *taken) {
    enum assembler_result result;
    *taken = true;
    if (is_other(a, segment)) {
        *taken = false;
        a->holed = true; /* its end never came */
        return close_section(a);
    }
    if (segment->kind == TL_GAP) {
        return take_gap(a, segment);
    }
    if (!a->open) {
        open_section(a, segment);
    }
    result = append(a, data, len);
    if (segment->flags & TL_SECTION_END) {
        enum assembler_result end = close_section(a);
        return result == ASSEMBLER_MORE ? end : result;
    }
    return result;
}

enum assembler_result assembler_end(struct assembler *a) {
    if (!a->open) {
        return ASSEMBLER_MORE;
    }
    a->holed = true;
    return close_section(a);
}

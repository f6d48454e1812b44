/* SPDX-License-Identifier: MPL-2.0 */
/* Recordings in files. */
#include "sim/trace_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)1 << 30)

struct known {
    struct known *next;
    struct sim_trace *trace;
    char path[];
};

static struct known *all_known;

/* Reads a whole file; the caller frees it. */
static char *read_whole(FILE *f, size_t *len) {
    size_t room = 1 << 16;
    char *text = malloc(room);
    *len = 0;
    while (text != NULL) {
        char *wide;
        *len += fread(text + *len, 1, room - *len, f);
        if (*len < room || room >= BYTES_MAX) {
            return text;
        }
        room *= 2;
        wide = realloc(text, room);
        if (wide == NULL) {
            free(text);
        }
        text = wide;
    }
    return NULL;
}

static struct sim_trace *trace_read(FILE *f, char *why) {
    size_t len;
    char *text = read_whole(f, &len);
    struct sim_trace *t = NULL;
    if (text == NULL) {
        (void)snprintf(why, SIM_TRACE_WHY_MAX, "out of memory");
    } else if (ferror(f)) {
        (void)snprintf(why, SIM_TRACE_WHY_MAX, "%s", strerror(errno));
    } else if (len >= BYTES_MAX) {
        (void)snprintf(why, SIM_TRACE_WHY_MAX, "it is larger than 1 GiB");
    } else {
        t = sim_trace_parse(text, len, why);
    }
    free(text);
    return t;
}

static struct sim_trace *trace_open(const char *path, char *why) {
    FILE *f = fopen(path, "re");
    struct sim_trace *t;
    if (f == NULL) {
        (void)snprintf(why, SIM_TRACE_WHY_MAX, "%s", strerror(errno));
        return NULL;
    }
    t = trace_read(f, why);
    (void)fclose(f);
    return t;
}

const struct sim_trace *trace_file(const char *path, char *why) {
    struct known *k = all_known;
    size_t size = strlen(path) + 1;
    while (k != NULL && strcmp(k->path, path) != 0) {
        k = k->next;
    }
    if (k != NULL) {
        return k->trace;
    }
    k = malloc(sizeof(*k) + size);
    if (k == NULL) {
        (void)snprintf(why, SIM_TRACE_WHY_MAX, "out of memory");
        return NULL;
    }
    *k = (struct known){.next = all_known, .trace = trace_open(path, why)};
    if (k->trace == NULL) {
        free(k);
        return NULL;
    }
    memcpy(k->path, path, size);
    all_known = k;
    return k->trace;
}

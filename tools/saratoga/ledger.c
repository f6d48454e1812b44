/* SPDX-License-Identifier: MPL-2.0 */
/* What a mirror has fetched into a folder. */
#include "tools/saratoga/ledger.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_ROOM 4200
#define LINE_ROOM (3 * PATH_ROOM + 64)

struct saratoga_ledger {
    FILE *file;
    void *tree;     /* of entries, by path */
    void *reported; /* of paths */
};

static int by_path(const void *a, const void *b) {
    const struct saratoga_ledger_entry *x = a;
    const struct saratoga_ledger_entry *y = b;
    return strcmp(x->path, y->path);
}

/* --- Lines --------------------------------------------------------------- */

static void ledger_quote(const char *path, char *out, size_t room) {
    size_t n = 0;
    for (const char *c = path; *c != '\0' && n + 4 < room; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte <= ' ' || byte == '%' || byte == 0x7f) {
            n += (size_t)snprintf(out + n, room - n, "%%%02X", byte);
        } else {
            out[n++] = *c;
        }
    }
    out[n] = '\0';
}

static bool ledger_unquote(char *text) {
    char *out = text;
    for (const char *c = text; *c != '\0'; c++) {
        unsigned byte = (unsigned char)*c;
        if (*c == '%') {
            char digits[3] = {0};
            memcpy(digits, c + 1, strnlen(c + 1, 2));
            if (strspn(digits, "0123456789ABCDEF") != 2) {
                return false;
            }
            byte = (unsigned)strtoul(digits, NULL, 16);
            c += 2;
        }
        memcpy(out++, &(uint8_t){(uint8_t)byte}, 1);
    }
    *out = '\0';
    return true;
}

/* --- Entries ------------------------------------------------------------- */

struct saratoga_ledger_entry *saratoga_ledger_find(struct saratoga_ledger *l,
                                                   const char *path) {
    const struct saratoga_ledger_entry key = {(char *)(uintptr_t)path, 0, 0};
    void *node = tfind(&key, &l->tree, by_path);
    return node ? *(struct saratoga_ledger_entry **)node : NULL;
}

/* False: out of memory. */
static bool ledger_note(struct saratoga_ledger *l, const char *path,
                        uint64_t size, int64_t mtime) {
    struct saratoga_ledger_entry *e = saratoga_ledger_find(l, path);
    if (!e) {
        e = calloc(1, sizeof(*e));
        if (!e) {
            return false;
        }
        e->path = strdup(path);
        if (!e->path || !tsearch(e, &l->tree, by_path)) {
            free(e->path);
            free(e);
            return false;
        }
    }
    e->size = size;
    e->mtime = mtime;
    return true;
}

static int ledger_compare(const void *a, const void *b) {
    return strcmp(a, b);
}

bool saratoga_ledger_report(struct saratoga_ledger *l, const char *path) {
    char *own = NULL;
    if (tfind(path, &l->reported, ledger_compare)) {
        return false;
    }
    own = strdup(path);
    if (own && !tsearch(own, &l->reported, ledger_compare)) {
        free(own);
    }
    return true;
}

static void ledger_free_entry(void *entry) {
    struct saratoga_ledger_entry *e = entry;
    free(e->path);
    free(e);
}

/* --- The file ------------------------------------------------------------ */

/* Parses SIZE MTIME PATH; skips other lines. False: out of memory. */
static bool ledger_take_line(struct saratoga_ledger *l, char *line) {
    size_t len = strcspn(line, "\n");
    bool whole = line[len] == '\n'; /* a crash may leave a partial line */
    char *at = line;
    uint64_t size;
    int64_t mtime;
    line[len] = '\0';
    size = strtoull(at, &at, 10);
    whole = whole && at != line && *at == ' ';
    mtime = strtoll(at, &at, 10);
    whole = whole && *at == ' ' && at[1] != '\0' && ledger_unquote(at + 1);
    return !whole || ledger_note(l, at + 1, size, mtime);
}

static bool ledger_read(struct saratoga_ledger *l) {
    char *line = malloc(LINE_ROOM);
    bool ok = line != NULL;
    long end = 0;
    rewind(l->file);
    while (ok && fgets(line, LINE_ROOM, l->file)) {
        ok = ledger_take_line(l, line);
    }
    free(line);
    ok = ok && !ferror(l->file); /* what it says would be fetched again */
    ok = ok && fseek(l->file, 0, SEEK_END) == 0 && (end = ftell(l->file)) >= 0;
    if (ok && end > 0 && fseek(l->file, -1, SEEK_END) == 0 &&
        fgetc(l->file) != '\n') { /* ends the partial line */
        ok = fseek(l->file, 0, SEEK_END) == 0 && fputc('\n', l->file) != EOF;
    }
    return ok;
}

struct saratoga_ledger *saratoga_ledger_open(const char *folder) {
    struct saratoga_ledger *l = calloc(1, sizeof(*l));
    char path[PATH_ROOM];
    int n = snprintf(path, sizeof(path), "%s/%s", folder, SARATOGA_LEDGER);
    if (l && n > 0 && (size_t)n < sizeof(path)) {
        l->file = fopen(path, "a+e");
    } else if (l) {
        errno = ENAMETOOLONG;
    }
    if (l && (!l->file || !ledger_read(l))) {
        int error = errno;
        saratoga_ledger_close(l);
        errno = error;
        return NULL;
    }
    return l;
}

void saratoga_ledger_close(struct saratoga_ledger *l) {
    if (!l) {
        return;
    }
    while (l->tree) {
        struct saratoga_ledger_entry *e =
            *(struct saratoga_ledger_entry **)l->tree;
        (void)tdelete(e, &l->tree, by_path);
        ledger_free_entry(e);
    }
    while (l->reported) {
        char *path = *(char **)l->reported;
        (void)tdelete(path, &l->reported, ledger_compare);
        free(path);
    }
    if (l->file) {
        (void)fclose(l->file);
    }
    free(l);
}

bool saratoga_ledger_add(struct saratoga_ledger *l, const char *path,
                         uint64_t size, int64_t mtime) {
    char quoted[3 * PATH_ROOM];
    if (!ledger_note(l, path, size, mtime)) {
        return false;
    }
    ledger_quote(path, quoted, sizeof(quoted));
    return fprintf(l->file, "%" PRIu64 " %" PRId64 " %s\n", size, mtime,
                   quoted) > 0 &&
           fflush(l->file) == 0 && fdatasync(fileno(l->file)) == 0;
}

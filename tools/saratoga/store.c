/* SPDX-License-Identifier: MPL-2.0 */
/* The verbs put, give and rm. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/common/tool.h"
#include "tools/saratoga/commands.h"
#include "tools/saratoga/report.h"

#define TOOL "saratoga"
/* Folders within each other that are still put. */
#define DEPTH 64

static uint32_t type_of(const struct saratoga_args *a) {
    if (a->transfer.no_status || a->transfer.multicast) {
        return SARATOGA_BLIND_PUT; /* a REQUEST cannot be answered */
    }
    return a->command == SARATOGA_CMD_GIVE ? SARATOGA_GIVE : SARATOGA_PUT;
}

/* Puts FOLDER/REST to PATH/REST at the peer. */
static bool add_file(struct saratoga_batch *b, const char *url,
                     const char *folder, const char *rest, const char *path) {
    struct saratoga_task *t = saratoga_task_for(url, type_of(b->args));
    int n;
    if (!t) {
        return false;
    }
    n = snprintf(t->path, sizeof(t->path), "%s", path);
    if (n < 0 || (size_t)n >= sizeof(t->path) ||
        strlen(folder) >= sizeof(t->folder) ||
        strlen(rest) >= sizeof(t->file)) {
        (void)tool_fail(TOOL, "%.80s: the path is too long", rest);
        free(t);
        return false;
    }
    (void)snprintf(t->folder, sizeof(t->folder), "%s", folder);
    (void)snprintf(t->file, sizeof(t->file), "%s", rest);
    saratoga_batch_add(b, t);
    return true;
}

/* Puts standard input to PATH. */
static bool add_stream(struct saratoga_batch *b, const char *url) {
    struct saratoga_task *t = saratoga_task_for(url, type_of(b->args));
    size_t len = t ? strlen(t->path) : 0;
    if (!t || t->type == SARATOGA_GIVE || len == 0 || t->path[len - 1] == '/') {
        (void)tool_misuse(TOOL, "only put takes standard input, and its URL "
                                "must name a file");
        free(t);
        return false;
    }
    t->stream = true;
    saratoga_batch_add(b, t);
    return true;
}

static bool add_folder(struct saratoga_batch *b, const char *url,
                       const char *folder, const char *rest, const char *path,
                       int depth);

static bool add_name(struct saratoga_batch *b, const char *url,
                     const char *folder, const char *rest, const char *path,
                     int depth) {
    char here[8192];
    struct stat st;
    (void)snprintf(here, sizeof(here), "%s/%s", folder, rest);
    if (lstat(here, &st) != 0) {
        (void)tool_fail(TOOL, "%s: %s", here, strerror(errno));
        return false;
    }
    if (S_ISDIR(st.st_mode) && depth >= DEPTH) {
        (void)tool_fail(TOOL, "%s: folders are nested too deeply", here);
        return false;
    }
    if (S_ISDIR(st.st_mode)) {
        return add_folder(b, url, folder, rest, path, depth + 1);
    }
    if (!S_ISREG(st.st_mode)) {
        char name[SARATOGA_SHOWN];
        if (!b->args->quiet) {
            (void)fprintf(stderr, "%s: %s: skipped: a link or special file\n",
                          TOOL, saratoga_shown(name, here));
        }
        return true;
    }
    return add_file(b, url, folder, rest, path);
}

static bool add_folder(struct saratoga_batch *b, const char *url,
                       const char *folder, const char *rest, const char *path,
                       int depth) {
    char here[8192];
    const struct dirent *e;
    bool ok = true;
    DIR *d;
    (void)snprintf(here, sizeof(here), "%s/%s", folder, rest);
    d = opendir(here);
    if (!d) {
        (void)tool_fail(TOOL, "%s: %s", here, strerror(errno));
        return false;
    }
    errno = 0;
    for (; ok && (e = readdir(d)) != NULL; errno = 0) {
        char below[4096];
        char there[2048];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            strncmp(e->d_name, ".saratoga-", 10) == 0) {
            continue;
        }
        (void)snprintf(below, sizeof(below), "%s%s%s", rest, rest[0] ? "/" : "",
                       e->d_name);
        (void)snprintf(there, sizeof(there), "%s%s%s", path, path[0] ? "/" : "",
                       e->d_name);
        ok = add_name(b, url, folder, below, there, depth);
    }
    if (ok && errno != 0) {
        (void)tool_fail(TOOL, "%s: %s", here, strerror(errno));
        ok = false;
    }
    (void)closedir(d);
    return ok;
}

/* Splits the path of a file into folder and name. */
static const char *store_split(const char *file, char *folder, size_t room) {
    const char *slash = strrchr(file, '/');
    size_t len = slash ? (size_t)(slash - file) : 0;
    (void)snprintf(folder, room, "%s", ".");
    if (slash == file) {
        (void)snprintf(folder, room, "%s", "/");
    } else if (slash && len < room) {
        memcpy(folder, file, len);
        folder[len] = '\0';
    }
    return slash ? slash + 1 : file;
}

static bool add_word(struct saratoga_batch *b, const char *word,
                     const char *url, const struct saratoga_url *u,
                     bool several) {
    char folder[4096];
    char there[4096];
    const char *name = store_split(word, folder, sizeof(folder));
    size_t len = strlen(u->path);
    struct stat st;
    if (strcmp(word, "-") == 0) {
        return add_stream(b, url);
    }
    if (stat(word, &st) != 0) {
        (void)tool_fail(TOOL, "%s: %s", word, strerror(errno));
        return false;
    }
    if (S_ISDIR(st.st_mode)) {
        if (!b->args->recursive) {
            (void)tool_fail(TOOL, "%s is a folder; use -r", word);
            return false;
        }
        (void)snprintf(
            there, sizeof(there), "%.*s",
            (int)(len > 0 && u->path[len - 1] == '/' ? len - 1 : len), u->path);
        return add_folder(b, url, word, "", there, 0);
    }
    if (!S_ISREG(st.st_mode)) {
        (void)tool_fail(
            TOOL, "%s is not a regular file; put - sends what a pipe gives",
            word);
        return false;
    }
    if (several || len == 0 || u->path[len - 1] == '/') {
        (void)snprintf(there, sizeof(there), "%s%s%s", u->path,
                       len > 0 && u->path[len - 1] != '/' ? "/" : "", name);
        return add_file(b, url, folder, name, there);
    }
    return add_file(b, url, folder, name, u->path);
}

int saratoga_store(const struct saratoga_args *a) {
    struct saratoga_batch b;
    const char *url = a->word[a->words - 1];
    struct saratoga_url u;
    char why[SARATOGA_URL_WHY];
    bool all = true;
    int rc;
    if (!saratoga_url_parse(url, &u, why)) {
        return tool_misuse(TOOL, "%s: %s", url, why);
    }
    rc = saratoga_batch_open(&b, a, NULL, false);
    if (rc == TOOL_OK) {
        for (int i = 0; i + 1 < a->words; i++) {
            all = add_word(&b, a->word[i], url, &u, a->words > 2) && all;
        }
        saratoga_batch_run(&b);
        rc = saratoga_batch_report(&b);
    }
    return saratoga_batch_close(&b, rc == TOOL_OK && !all ? TOOL_FAILED : rc);
}

int saratoga_remove(const struct saratoga_args *a) {
    struct saratoga_batch b;
    int rc = saratoga_batch_open(&b, a, NULL, false);
    for (int i = 0; i < a->words && rc == TOOL_OK; i++) {
        struct saratoga_task *t =
            saratoga_task_for(a->word[i], SARATOGA_DELETE);
        if (!t) {
            rc = TOOL_USAGE;
        } else if (t->path[0] == '\0') {
            free(t);
            rc = tool_misuse(TOOL, "%s: the path is missing", a->word[i]);
        } else {
            saratoga_batch_add(&b, t);
        }
    }
    if (rc == TOOL_OK) {
        saratoga_batch_run(&b);
    }
    return saratoga_batch_close(&b, rc);
}

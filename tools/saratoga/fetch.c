/* SPDX-License-Identifier: MPL-2.0 */
/* The verbs get and take. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/tool.h"
#include "tools/saratoga/commands.h"
#include "tools/saratoga/report.h"

#define TOOL "saratoga"

struct saratoga_task *saratoga_task_for(const char *text, uint32_t type) {
    struct saratoga_url u;
    char why[SARATOGA_URL_WHY];
    struct saratoga_task *t;
    if (!saratoga_url_parse(text, &u, why)) {
        (void)tool_misuse(TOOL, "%s: %s", text, why);
        return NULL;
    }
    t = saratoga_task_new();
    if (t) {
        t->type = type;
        memcpy(t->host, u.at.host, sizeof(t->host));
        memcpy(t->port, u.at.port, sizeof(t->port));
        memcpy(t->path, u.path, sizeof(t->path));
    }
    return t;
}

static bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* --- Records ------------------------------------------------------------- */

/* Whether the local file has the same size and time. */
static bool is_here(const struct saratoga_task *t, const saratoga_entry *e) {
    char path[sizeof(t->folder) + sizeof(t->file) + 2];
    struct stat st;
    return saratoga_join(path, sizeof(path), t->folder, t->file) &&
           lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           (uint64_t)st.st_size == e->size &&
           st.st_mtime == saratoga_time_to_posix(e->mtime, false);
}

static bool is_wanted(struct saratoga_batch *b, struct saratoga_task *t,
                      const saratoga_entry *e, bool fresh) {
    t->size = e->size;
    t->mtime = saratoga_time_to_posix(e->mtime, false);
    if (b->is_wanted) {
        return b->is_wanted(b, t);
    }
    return !((fresh || t->resume) && is_here(t, e));
}

/* Whether a record is that of the listed path itself. */
static bool is_itself(const struct saratoga_task *t,
                      const saratoga_node_event *ev, const saratoga_entry *e) {
    const char *slash = strrchr(t->path, '/');
    return !ev->entry.directory && !e->directory &&
           strcmp(slash ? slash + 1 : t->path, e->path) == 0;
}

static void add_entry(struct saratoga_batch *b, const struct saratoga_task *t,
                      const saratoga_node_event *ev, const saratoga_entry *e,
                      bool fresh) {
    struct saratoga_task *n = saratoga_task_new();
    if (!n) {
        return;
    }
    *n = *t;
    n->next = NULL;
    n->type = e->directory ? SARATOGA_GETDIR : SARATOGA_GET;
    if ((!is_itself(t, ev, e) &&
         !saratoga_join(n->path, sizeof(n->path), t->path, e->path)) ||
        !saratoga_join(n->file, sizeof(n->file), t->file, e->path)) {
        (void)tool_fail(TOOL, "%s: the path is too long", e->path);
        b->failed++;
        free(n);
    } else if (!e->directory && !is_wanted(b, n, e, fresh)) {
        free(n);
    } else {
        n->resume = n->resume || fresh;
        n->overwrite = n->overwrite || fresh;
        saratoga_batch_add(b, n);
    }
}

static void pass_over(const struct saratoga_batch *b,
                      const struct saratoga_task *t, const saratoga_entry *e) {
    struct saratoga_task it = *t;
    char name[SARATOGA_SHOWN];
    if (!b->args->quiet &&
        saratoga_join(it.path, sizeof(it.path), t->path, e->path)) {
        (void)fprintf(stderr, "%s: %s: skipped: a link or special file\n", TOOL,
                      saratoga_remote(name, &it));
    }
}

void saratoga_fetch_record(struct saratoga_batch *b,
                           const struct saratoga_task *t,
                           const saratoga_node_event *ev, bool fresh) {
    const uint8_t *at = ev->record;
    size_t left = ev->record_len;
    saratoga_entry e;
    size_t n;
    while (left > 0 && (n = saratoga_entry_read(at, left, &e)) > 0) {
        at += n;
        left -= n;
        if (e.special && !fresh) {
            pass_over(b, t, &e);
        } else if (!e.special && strcmp(e.path, ".") != 0 &&
                   strcmp(e.path, "..") != 0) {
            add_entry(b, t, ev, &e, fresh);
        }
    }
    if (left > 0) {
        (void)tool_fail(TOOL, "%s: the list is damaged", t->path);
        b->failed++;
    }
}

static void fetch_on_listed(struct saratoga_batch *b,
                            const struct saratoga_task *t,
                            const saratoga_node_event *ev) {
    if (t->type == SARATOGA_GETDIR && ev->error == 0) {
        saratoga_fetch_record(b, t, ev, false);
    }
}

/* --- Destinations -------------------------------------------------------- */

/* Splits DIR/NAME. */
static bool set_place(struct saratoga_task *t, const char *file) {
    const char *slash = strrchr(file, '/');
    size_t len = slash ? (size_t)(slash - file) : 0;
    int n = snprintf(t->file, sizeof(t->file), "%s", slash ? slash + 1 : file);
    if (len >= sizeof(t->folder) || n < 0 || (size_t)n >= sizeof(t->file)) {
        (void)tool_misuse(TOOL, "%.80s...: the name is too long", file);
        return false;
    }
    if (slash == file) {
        len = 1;
    }
    memcpy(t->folder, file, len);
    t->folder[len] = '\0';
    return true;
}

static bool set_target(const struct saratoga_args *a, struct saratoga_task *t,
                       const char *target, bool folder) {
    size_t len = strlen(t->path);
    bool named = len > 0 && t->path[len - 1] != '/';
    if (!folder && target) {
        return set_place(t, target);
    }
    if (!a->recursive && !named && len > 0) {
        (void)tool_misuse(TOOL, "%s names a folder; use -r", t->path);
        return false;
    }
    (void)snprintf(t->folder, sizeof(t->folder), "%s", target ? target : ".");
    len = strlen(t->folder);
    while (len > 1 && t->folder[len - 1] == '/') {
        t->folder[--len] = '\0';
    }
    return true;
}

static bool add_fetch(struct saratoga_batch *b, const char *url,
                      const char *target, bool folder) {
    const struct saratoga_args *a = b->args;
    uint32_t type =
        a->command == SARATOGA_CMD_TAKE ? SARATOGA_TAKE : SARATOGA_GET;
    struct saratoga_task *t =
        saratoga_task_for(url, a->recursive ? SARATOGA_GETDIR : type);
    if (!t || !set_target(a, t, target, folder)) {
        free(t);
        return false;
    }
    t->resume = a->resume;
    t->overwrite = a->overwrite;
    t->stream = a->live_output && t->type == SARATOGA_GET;
    saratoga_batch_add(b, t);
    return true;
}

/* --- To standard output -------------------------------------------------- */

static int copy_out(const char *path) {
    char piece[65536];
    FILE *f = fopen(path, "re");
    size_t n = 0;
    int rc = TOOL_OK;
    if (!f) {
        return tool_fail(TOOL, "%s: %s", path, strerror(errno));
    }
    while (rc == TOOL_OK && (n = fread(piece, 1, sizeof(piece), f)) > 0) {
        if (fwrite(piece, 1, n, stdout) != n || fflush(stdout) != 0) {
            rc = tool_fail(TOOL, "cannot write to standard output: %s",
                           strerror(errno));
        }
    }
    if (ferror(f)) {
        rc = tool_fail(TOOL, "%s: %s", path, strerror(errno));
    }
    (void)fclose(f);
    return rc;
}

/* Removes the parts that a failed get has left for a resume. */
static void remove_parts(const char *folder) {
    DIR *d = opendir(folder);
    const struct dirent *e;
    while (d && (e = readdir(d)) != NULL) {
        if (strncmp(e->d_name, ".saratoga-", 10) == 0) {
            (void)unlinkat(dirfd(d), e->d_name, 0);
        }
    }
    if (d) {
        (void)closedir(d);
    }
}

/* A stream is written as it arrives. The parts of a file arrive in any order,
 * and it is useful only when complete and verified, so it is first stored in a
 * temporary folder. */
static int fetch_to_pipe(const struct saratoga_args *a) {
    const char *tmp = getenv("TMPDIR");
    char folder[3000];
    char file[3010];
    struct saratoga_args to = *a;
    char *word[2];
    int rc;
    (void)snprintf(folder, sizeof(folder), "%.2900s/saratoga-XXXXXX",
                   tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder)) {
        return tool_fail(TOOL, "%s: %s", folder, strerror(errno));
    }
    (void)snprintf(file, sizeof(file), "%s/file", folder);
    word[0] = a->word[0];
    word[1] = file;
    to.word = word;
    to.live_output = true;
    (void)signal(SIGPIPE, SIG_IGN); /* the error reports it */
    rc = saratoga_fetch(&to);
    if (rc == TOOL_OK && access(file, F_OK) == 0) {
        rc = copy_out(file);
    }
    (void)unlink(file);
    remove_parts(folder);
    (void)rmdir(folder);
    return rc;
}

int saratoga_fetch(const struct saratoga_args *a) {
    struct saratoga_batch b;
    int urls = a->words;
    const char *target = NULL;
    bool folder;
    int rc;
    if (urls == 2 && strcmp(a->word[1], "-") == 0 && !a->recursive) {
        return fetch_to_pipe(a);
    }
    if (!saratoga_url_is(a->word[urls - 1])) {
        target = a->word[--urls];
    }
    if (target && strstr(target, "://")) {
        return tool_misuse(TOOL, "%s: must begin with saratoga://", target);
    }
    if (urls == 0) {
        return tool_misuse(TOOL, "a URL is missing: saratoga://HOST/PATH");
    }
    if (a->recursive && a->command == SARATOGA_CMD_TAKE) {
        return tool_misuse(TOOL, "take has no -r: it takes single files");
    }
    folder = !target || a->recursive || is_folder(target);
    if (urls > 1 && !folder) {
        return tool_misuse(
            TOOL, "%s is not a folder, and there are several files", target);
    }
    if (folder && target && !is_folder(target) && mkdir(target, 0777) != 0) {
        return tool_fail(TOOL, "%s: the folder cannot be created: %s", target,
                         strerror(errno));
    }
    rc = saratoga_batch_open(&b, a, NULL, false);
    for (int i = 0; i < urls && rc == TOOL_OK; i++) {
        rc = add_fetch(&b, a->word[i], target, folder) ? TOOL_OK : TOOL_USAGE;
    }
    if (rc == TOOL_OK) {
        b.on_done = fetch_on_listed;
        saratoga_batch_run(&b);
        rc = saratoga_batch_report(&b);
    }
    return saratoga_batch_close(&b, rc);
}

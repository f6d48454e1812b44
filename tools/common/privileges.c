/* SPDX-License-Identifier: MPL-2.0 */
/* Gives up privileges that a server does not need. */
#include "tools/common/privileges.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As in <linux/landlock.h>, which may be older than the running kernel. */
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define ASK_VERSION 1u
#define RULE_PATH_BENEATH 1

enum access {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    ALL_1 = (1 << 13) - 1, /* of version 1 */
    REFER = 1 << 13,       /* version 2 */
    TRUNCATE = 1 << 14     /* version 3 */
};

#if defined(TOOLS_KEEP_FILES) /* counts of coverage are written at the end */
#define KEEP_FILES true
#else
#define KEEP_FILES false
#endif

#define TCP_BIND_AND_CONNECT 3u /* version 4 */

/* What looking up a name opens; where it is there. */
static const char *const system_files[] = {"/etc",   "/usr", "/lib",
                                           "/lib64", "/run", NULL};

struct ruleset {
    uint64_t fs;
    uint64_t net;
};

/* Packed: the layout of the kernel. */
struct path_rule {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

/* Rights belong to a thread; threads that it starts inherit them. */
static bool privileges_is_alone(void) {
    DIR *d = opendir("/proc/self/task");
    const struct dirent *e;
    unsigned tasks = 0;

    while (d != NULL && (e = readdir(d)) != NULL) {
        tasks += e->d_name[0] != '.' ? 1u : 0;
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    return tasks == 1;
}

static uint64_t privileges_rights(const struct privileges_path *p, bool folder,
                                  uint64_t known) {
    uint64_t rights = READ_FILE | READ_DIR;

    if (p->write) {
        rights |= WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG |
                  REFER | TRUNCATE;
    }
    if (!folder) {
        rights &= READ_FILE | WRITE_FILE | TRUNCATE;
    }
    return rights & known;
}

static bool privileges_allow(int rules, const struct privileges_path *p,
                             uint64_t known) {
    struct path_rule r = {.folder = open(p->path, O_PATH | O_CLOEXEC)};
    struct stat st;
    bool ok = r.folder >= 0 && fstat(r.folder, &st) == 0;

    if (ok) {
        r.allowed = privileges_rights(p, S_ISDIR(st.st_mode), known);
        ok = syscall(ADD_RULE, rules, RULE_PATH_BENEATH, &r, 0) == 0;
    }
    if (r.folder >= 0) {
        (void)close(r.folder);
    }
    return ok;
}

static struct ruleset privileges_known(long version, bool tcp) {
    struct ruleset r = {.fs = ALL_1};

    r.fs |= version >= 2 ? (uint64_t)REFER : 0;
    r.fs |= version >= 3 ? (uint64_t)TRUNCATE : 0;
    r.net = version >= 4 && !tcp ? TCP_BIND_AND_CONNECT : 0;
    return r;
}

static bool privileges_allow_all(int rules, const struct privileges *p,
                                 uint64_t known) {
    bool ok = true;

    for (size_t i = 0; i < p->count && ok; i++) {
        ok = privileges_allow(rules, &p->paths[i], known);
    }
    for (size_t i = 0; p->names && system_files[i] != NULL; i++) {
        const struct privileges_path path = {system_files[i], false};

        (void)privileges_allow(rules, &path, known);
    }
    return ok;
}

/* The version of Landlock, or 0. */
static int privileges_forbid_files(const struct privileges *p) {
    long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    struct ruleset all = privileges_known(version, p->names || p->tcp);
    int rules = -1;
    bool ok = version > 0 && privileges_is_alone() && !KEEP_FILES;

    if (ok) {
        rules = (int)syscall(CREATE_RULESET, &all,
                             version >= 4 ? sizeof(all) : sizeof(all.fs), 0);
    }
    ok = ok && rules >= 0 && privileges_allow_all(rules, p, all.fs) &&
         syscall(RESTRICT_SELF, rules, 0) == 0;
    if (rules >= 0) {
        (void)close(rules);
    }
    return ok ? (int)version : 0;
}

struct privileges_dropped privileges_drop(const struct privileges *p) {
    struct privileges_dropped d = {0, false};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
        d.landlock = privileges_forbid_files(p);
        d.calls = privileges_forbid_calls();
    }
    return d;
}

#else

struct privileges_dropped privileges_drop(const struct privileges *p) {
    (void)p;
    return (struct privileges_dropped){0, false};
}

#endif

const char *privileges_describe(const struct privileges_dropped *d,
                                char *text) {
    char files[64] = "all files of its user (no Landlock)";

    if (d->landlock > 0) {
        (void)snprintf(files, sizeof(files),
                       "files named at the start (Landlock %d)", d->landlock);
    }
    (void)snprintf(text, PRIVILEGES_TEXT, "%s, %s", files,
                   d->calls ? "no programs (seccomp)"
                            : "any system call (no seccomp)");
    return text;
}

const char *privileges_folder_of(const char *file, char *folder, size_t room) {
    const char *slash = strrchr(file, '/');
    size_t len = slash == file ? 1 : slash != NULL ? (size_t)(slash - file) : 0;

    (void)snprintf(folder, room, "%.*s", (int)len, file);
    return len > 0 && len < room ? folder : ".";
}

static char *privileges_room(struct privileges_list *l, const char *file,
                             bool write) {
    char *text = NULL;

    if (file != NULL && strcmp(file, "-") != 0 && l->count < PRIVILEGES_PATHS) {
        text = l->text[l->count];
        l->path[l->count++].write = write;
    }
    return text;
}

void privileges_add(struct privileges_list *l, const char *file, bool write) {
    char *text = privileges_room(l, file, write);

    if (text != NULL) {
        l->path[l->count - 1].path =
            realpath(file, text) != NULL
                ? text
                : privileges_folder_of(file, text, PATH_MAX);
    }
}

void privileges_add_folder(struct privileges_list *l, const char *file,
                           bool write) {
    char *text = privileges_room(l, file, write);

    if (text != NULL) {
        l->path[l->count - 1].path = privileges_folder_of(file, text, PATH_MAX);
    }
}

bool privileges_is_name(const char *host) {
    uint8_t address[16];

    return host[0] != '\0' && inet_pton(AF_INET, host, address) != 1 &&
           inet_pton(AF_INET6, host, address) != 1;
}

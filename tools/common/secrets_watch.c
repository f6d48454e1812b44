/* SPDX-License-Identifier: MPL-2.0 */
/* Whom a listener turned away, on standard error. */
#include "tools/common/secrets_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#define LOOK_EVERY UINT64_C(1000000000) /* ns */

bool secrets_look(struct secrets_watch *w) {
    struct timespec t;
    uint64_t now;
    bool due;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    now = (uint64_t)t.tv_sec * LOOK_EVERY + (uint64_t)t.tv_nsec;
    due = now >= w->due;
    w->due = due ? now + LOOK_EVERY : w->due;
    return due;
}

void secrets_tell(struct secrets_watch *w, const char *tool,
                  uint64_t rejected) {
    if (rejected > w->rejected) {
        (void)fprintf(stderr,
                      "%s: callers refused so far: %" PRIu64
                      " (no passphrase or key, or a wrong one)\n",
                      tool, rejected);
        w->rejected = rejected;
    }
}

void secrets_check_file(const char *tool, const char *path) {
    struct stat st;
    if (stat(path, &st) == 0 && (st.st_mode & S_IROTH) != 0) {
        (void)fprintf(stderr,
                      "%s: warning: %s can be read by every user of this "
                      "machine; chmod 600 keeps it secret\n",
                      tool, path);
    }
}

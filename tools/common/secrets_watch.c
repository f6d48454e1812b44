/* SPDX-License-Identifier: MPL-2.0 */
/* Whom a listener turned away, on standard error. */
#include "tools/common/secrets_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

static uint64_t secrets_now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

bool secrets_look(struct secrets_rejections *r) {
    return secrets_rejections_look(r, secrets_now());
}

void secrets_tell(struct secrets_rejections *r, const char *tool,
                  uint64_t rejected, const char *from) {
    if (secrets_rejections_are_news(r, rejected, secrets_now())) {
        (void)fprintf(stderr,
                      "%s: refused a caller at %s: " REJECTIONS_ADVICE
                      "; refused so far: %" PRIu64 "\n",
                      tool, from, rejected);
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

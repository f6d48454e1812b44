/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/tltcp/libav_log.h"

#include <libavutil/log.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_LEN 256

static char last_error[LINE_MAX_LEN];
static char unreadable[LINE_MAX_LEN]; /* what is said of such a codec */

__attribute__((format(printf, 3, 0))) static void
note(void *from, int level, const char *format, va_list args) {
    char line[LINE_MAX_LEN];
    (void)from;
    if (level > AV_LOG_WARNING) {
        return;
    }
    (void)vsnprintf(line, sizeof(line), format, args);
    line[strcspn(line, "\n")] = '\0';
    if (strstr(line, "private data stream")) {
        memcpy(unreadable, line, sizeof(line));
    } else if (level <= AV_LOG_ERROR && line[0]) {
        memcpy(last_error, line, sizeof(line));
    }
}

void libav_log_listen(void) {
    av_log_set_callback(note);
}

void libav_log_forget(void) {
    last_error[0] = '\0';
    unreadable[0] = '\0';
}

const char *libav_log_error(void) {
    return last_error;
}

bool libav_log_unreadable(char *codec, size_t size) {
    const char *name = strstr(unreadable, "codec ");
    if (!name) {
        return false;
    }
    name += strlen("codec ");
    (void)snprintf(codec, size, "%.*s", (int)strcspn(name, ", "), name);
    return true;
}

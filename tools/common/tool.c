/* SPDX-License-Identifier: MPL-2.0 */
/* What all command-line tools share: exit codes, messages, files of results,
 * signals. */
#include "tools/common/tool.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static volatile sig_atomic_t stopped;
static volatile sig_atomic_t hung_up;

#define MESSAGE_MAX 8192

/* Number of bytes of the character at `text`; 0: not UTF-8, or not printable
 * (U+0000 to U+001F, U+007F to U+009F). */
static size_t printable(const unsigned char *text) {
    /* Lowest first octet, and lowest second octet after it. */
    static const unsigned char least[] = {0, 0, 0xc2, 0xe0, 0xf0};
    static const unsigned char second[] = {0, 0, 0xa0, 0xa0, 0x90};
    size_t len = text[0] < 0x80   ? 1
                 : text[0] < 0xe0 ? 2
                 : text[0] < 0xf0 ? 3
                                  : 4;
    if (len == 1) {
        return text[0] >= 0x20 && text[0] != 0x7f;
    }
    if (text[0] < least[len] || text[0] > 0xf4 ||
        (text[0] == least[len] && text[1] < second[len])) {
        return 0;
    }
    for (size_t i = 1; i < len; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return len;
}

const char *tool_shown(char *out, size_t room, const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    size_t n = 0;
    while (*at != '\0') {
        size_t len = printable(at);
        if (n + (len ? len : 1) >= room) {
            break;
        }
        memcpy(out + n, len ? (const char *)at : "?", len ? len : 1);
        n += len ? len : 1;
        at += len ? len : 1;
    }
    out[n] = '\0';
    return out;
}

/* The text may contain words of the peer. */
TOOL_PRINTF(2, 0)
static void complain(const char *tool, const char *format, va_list args) {
    char raw[MESSAGE_MAX];
    char text[MESSAGE_MAX];
    (void)vsnprintf(raw, sizeof(raw), format, args);
    (void)fprintf(stderr, "%s: %s\n", tool,
                  tool_shown(text, sizeof(text), raw));
}

int tool_fail(const char *tool, const char *format, ...) {
    va_list args;
    va_start(args, format);
    complain(tool, format, args);
    va_end(args);
    return TOOL_FAILED;
}

int tool_misuse(const char *tool, const char *format, ...) {
    va_list args;
    va_start(args, format);
    complain(tool, format, args);
    va_end(args);
    (void)fprintf(stderr, "Try '%s --help'.\n", tool);
    return TOOL_USAGE;
}

int tool_version(const char *tool) {
    (void)printf("%s (Perigee) %s\n", tool, PERIGEE_VERSION);
    return TOOL_OK;
}

int tool_write_json(const char *tool, const char *path, json_t *json) {
    const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(12);
    FILE *f = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    bool ok = f && json_dumpf(json, f, flags) == 0 && fputc('\n', f) != EOF &&
              fflush(f) == 0;
    if (f && f != stdout) {
        ok = fclose(f) == 0 && ok;
    }
    json_decref(json);
    return ok ? TOOL_OK
              : tool_fail(tool, "cannot write %s: %s", path, strerror(errno));
}

int tool_write_text(const char *tool, const char *path, const char *text) {
    FILE *f = fopen(path, "we");
    bool ok = f && fprintf(f, "%s\n", text) > 0;
    if (f) {
        ok = fclose(f) == 0 && ok;
    }
    return ok ? TOOL_OK
              : tool_fail(tool, "cannot write %s: %s", path, strerror(errno));
}

bool tool_can_write(const char *tool, const char *path) {
    FILE *f;
    if (!path || strcmp(path, "-") == 0) {
        return true;
    }
    f = fopen(path, "ae");
    if (!f) {
        (void)tool_fail(tool, "cannot write %s: %s", path, strerror(errno));
        return false;
    }
    return fclose(f) == 0;
}

json_t *tool_number(double x, int digits) {
    double scale = pow(10, digits);
    if (!isfinite(x)) {
        return json_null();
    }
    return json_real(round(x * scale) / scale);
}

static void on_signal(int number) {
    (void)number;
    stopped = 1;
}

void tool_catch_signals(sigset_t *during_wait) {
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t block;
    (void)sigemptyset(&block);
    (void)sigaddset(&block, SIGINT);
    (void)sigaddset(&block, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &block, during_wait);
    (void)sigdelset(during_wait, SIGINT);
    (void)sigdelset(during_wait, SIGTERM);
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

bool tool_is_stopped(void) {
    return stopped != 0;
}

static void on_hangup(int number) {
    (void)number;
    hung_up = 1;
}

void tool_catch_hangup(sigset_t *during_wait) {
    struct sigaction action = {.sa_handler = on_hangup};
    sigset_t block;
    (void)sigemptyset(&block);
    (void)sigaddset(&block, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &block, NULL);
    (void)sigdelset(during_wait, SIGHUP);
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGHUP, &action, NULL);
}

bool tool_was_hung_up(void) {
    bool was = hung_up != 0;
    hung_up = 0;
    return was;
}

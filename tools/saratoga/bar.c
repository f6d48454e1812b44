/* SPDX-License-Identifier: MPL-2.0 */
/* The progress line on the terminal. */
#include "tools/saratoga/bar.h"

#include <stdio.h>
#include <string.h>

#include "tools/common/terminal.h"

#define LINE 512
#define LARGE UINT64_C(1000000000) /* bytes; shown without tenths of MB */

void saratoga_bar_init(struct saratoga_bar *b, bool quiet) {
    *b = (struct saratoga_bar){.width = quiet ? 0 : terminal_width()};
    b->on = b->width > 0;
}

static void measure(struct saratoga_bar *b, const struct saratoga_progress *p) {
    if (b->then != 0 && p->now > b->then && p->fresh >= b->fresh) {
        double rate =
            (double)(p->fresh - b->fresh) * 8e9 / (double)(p->now - b->then);
        b->rate = b->rate > 0 ? 0.8 * b->rate + 0.2 * rate : rate;
    }
    b->fresh = p->fresh;
    b->then = p->now;
}

static void left(char *out, size_t room, const struct saratoga_bar *b,
                 const struct saratoga_progress *p) {
    double s;
    if (b->rate < 1 || p->bytes >= p->size) {
        (void)snprintf(out, room, "--:--");
        return;
    }
    s = (double)(p->size - p->bytes) * 8 / b->rate;
    if (s > 359999) {
        (void)snprintf(out, room, "--:--");
    } else if (s >= 3600) {
        (void)snprintf(out, room, "%u:%02u:%02u", (unsigned)s / 3600,
                       (unsigned)s / 60 % 60, (unsigned)s % 60);
    } else {
        (void)snprintf(out, room, "%02u:%02u", (unsigned)s / 60,
                       (unsigned)s % 60);
    }
}

static void write_line(char *line, const struct saratoga_bar *b,
                       const char *name, const struct saratoga_progress *p) {
    char picture[TERMINAL_BAR + 1];
    char when[16];
    int digits = p->size < LARGE ? 1 : 0;
    if (p->bytes == 0 && p->size == 0) {
        (void)snprintf(line, LINE, "%.40s  waiting for an answer", name);
        return;
    }
    if (p->size < p->bytes) { /* a stream */
        (void)snprintf(line, LINE, "%.1f MB, %.2f Mbit/s, %s",
                       (double)p->bytes / 1e6, b->rate / 1e6, name);
        return;
    }
    terminal_bar(picture, (double)p->bytes / (double)p->size);
    left(when, sizeof(when), b, p);
    /* The name must also fit in 80 columns. */
    (void)snprintf(line, LINE, "[%s] %.*f of %.*f MB, %.*f Mbit/s, %s left, %s",
                   picture, digits, (double)p->bytes / 1e6, digits,
                   (double)p->size / 1e6, b->rate < 1e7 ? 2 : 0, b->rate / 1e6,
                   when, name);
}

void saratoga_bar_show(struct saratoga_bar *b, const char *name,
                       const struct saratoga_progress *p) {
    char line[LINE];
    if (!b->on) {
        return;
    }
    measure(b, p);
    write_line(line, b, name, p);
    (void)fprintf(stderr, "\r%-*.*s", b->width - 1, b->width - 1, line);
    b->drawn = true;
}

void saratoga_bar_clear(struct saratoga_bar *b) {
    if (b->drawn) {
        (void)fprintf(stderr, "\r%-*s\r", b->width - 1, "");
        b->drawn = false;
    }
}

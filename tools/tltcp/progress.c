/* SPDX-License-Identifier: MPL-2.0 */
/* A progress line on the terminal. */
#include "tools/tltcp/progress.h"

#include <stdio.h>

#include "tools/common/terminal.h"

#define INTERVAL_NS 200000000

void progress_init(struct progress *p, bool quiet) {
    *p = (struct progress){.width = quiet ? 0 : terminal_width()};
    p->on = p->width > 0;
}

static void measure(struct progress *p, uint64_t bytes, uint64_t now) {
    double rate;
    if (p->then != 0 && now > p->then) {
        rate = (double)(bytes - p->bytes) * 8e9 / (double)(now - p->then);
        p->rate = p->rate > 0 ? 0.7 * p->rate + 0.3 * rate : rate;
    }
    p->bytes = bytes;
    p->then = now;
}

static int write_left(char *line, size_t room, const struct progress_state *s) {
    char picture[TERMINAL_BAR + 1];
    double left;
    if (s->total <= 0) {
        return snprintf(line, room, "%.1f s", s->done);
    }
    terminal_bar(picture, s->done / s->total);
    left = s->speed > 0 ? (s->total - s->done) / s->speed : 0;
    left = left > 0 ? left : 0;
    return snprintf(line, room, "[%s] %.1f of %.1f s, %.0f s left", picture,
                    s->done, s->total, left);
}

void progress_show(struct progress *p, const struct progress_state *s,
                   uint64_t now) {
    char line[256];
    int n;
    if (!p->on || now < p->next) {
        return;
    }
    p->next = now + INTERVAL_NS;
    measure(p, s->bytes, now);
    n = write_left(line, sizeof(line), s);
    if (n > 0 && (size_t)n < sizeof(line)) {
        (void)snprintf(line + n, sizeof(line) - (size_t)n, ", %.2f Mbit/s%s%s",
                       p->rate / 1e6, s->end ? ", " : "", s->end ? s->end : "");
    }
    (void)fprintf(stderr, "\r%-*.*s", p->width - 1, p->width - 1, line);
}

void progress_clear(struct progress *p) {
    if (p->on) {
        (void)fprintf(stderr, "\r%-*s\r", p->width - 1, "");
        p->next = 0;
    }
}

void progress_end(struct progress *p, const char *tool, const char *what,
                  double seconds, uint64_t bytes, const char *result) {
    progress_clear(p);
    if (p->on) {
        (void)fprintf(stderr, "%s: %s: %.1f s, %.1f MB, %s\n", tool, what,
                      seconds, (double)bytes / 1e6, result);
    }
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Recorded capacity of a link, in the format of mahimahi. */
#include "sim/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MS UINT64_C(1000000)
#define LAST_MS UINT64_C(31536000000) /* a year */

struct sim_trace {
    uint64_t length; /* ms */
    size_t count;
    size_t room;
    uint64_t times[]; /* ms */
};

static void *trace_refuse(char *why, size_t line, const char *what) {
    (void)snprintf(why, SIM_TRACE_WHY_MAX, "line %zu %s", line, what);
    return NULL;
}

static struct sim_trace *trace_grow(struct sim_trace *t) {
    size_t room = t == NULL ? 1024 : t->room * 2;
    struct sim_trace *wide =
        realloc(t, sizeof(*t) + room * sizeof(t->times[0]));
    if (wide == NULL) {
        free(t);
        return NULL;
    }
    if (t == NULL) {
        *wide = (struct sim_trace){0};
    }
    wide->room = room;
    return wide;
}

/* Reads a line with a whole number; moves *at to the next line. */
static bool read_ms(const char **at, const char *end, uint64_t *ms) {
    const char *c = *at;
    const char *digits = c;
    *ms = 0;
    for (; c < end && *c >= '0' && *c <= '9' && *ms <= LAST_MS; c++) {
        *ms = *ms * 10 + (uint64_t)(*c - '0');
    }
    if (c == digits || *ms > LAST_MS) {
        return false;
    }
    c += c < end && *c == '\r';
    if (c < end && *c++ != '\n') {
        return false;
    }
    *at = c;
    return true;
}

static struct sim_trace *read_lines(const char *at, const char *end,
                                    char *why) {
    struct sim_trace *t = trace_grow(NULL);
    uint64_t ms;
    for (size_t line = 1; t != NULL && at < end; line++) {
        if (!read_ms(&at, end, &ms)) {
            free(t);
            return trace_refuse(why, line, "is not a whole number of ms");
        }
        if (ms < t->length) {
            free(t);
            return trace_refuse(why, line, "goes back in time");
        }
        if (t->count == t->room) {
            t = trace_grow(t);
        }
        if (t != NULL) {
            t->times[t->count++] = ms;
            t->length = ms;
        }
    }
    if (t == NULL) {
        (void)snprintf(why, SIM_TRACE_WHY_MAX, "out of memory");
    }
    return t;
}

struct sim_trace *sim_trace_parse(const char *text, size_t len, char *why) {
    struct sim_trace *t = read_lines(text, text + len, why);
    if (t != NULL && t->length == 0) {
        (void)snprintf(why, SIM_TRACE_WHY_MAX, "%s",
                       t->count == 0 ? "it has no line"
                                     : "it has no time above 0 ms");
        free(t);
        return NULL;
    }
    return t;
}

void sim_trace_free(struct sim_trace *t) {
    free(t);
}

uint64_t sim_trace_length(const struct sim_trace *t) {
    return t->length * MS;
}

double sim_trace_rate(const struct sim_trace *t) {
    return (double)t->count * SIM_TRACE_BYTES * 8e3 / (double)t->length;
}

uint64_t sim_trace_time(const struct sim_trace *t, uint64_t n) {
    return (n / t->count * t->length + t->times[n % t->count]) * MS;
}

uint64_t sim_trace_find(const struct sim_trace *t, uint64_t at) {
    uint64_t ms = (at + MS - 1) / MS;
    uint64_t round = ms / t->length;
    size_t low = 0;
    size_t high = t->count;
    /* The end of a round is the beginning of the next, whose lines of 0 ms
     * follow this round's last lines. */
    if (round > 0 && ms % t->length == 0) {
        round--;
    }
    ms -= round * t->length;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (t->times[mid] < ms) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return round * t->count + low;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* NAME=VALUE for what few need to set: timers and sizes of transfers. */
#include "tools/saratoga/settings.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "internal/settings/units.h"

enum kind { TIME, COUNT, SIZE_64, SIZE, SHARE };

/* saratoga_options_check() checks the ranges. */
static const struct {
    const char *name;
    enum kind kind;
    size_t offset;
} settings[] = {
#define FIELD(name, kind, field) \
    { name, kind, offsetof(saratoga_options, field) }
    FIELD("retry", TIME, request_retry),
    FIELD("tries", COUNT, request_tries),
    FIELD("status-spacing", TIME, status_spacing),
    FIELD("first-spacing", TIME, first_spacing),
    FIELD("spacing-packets", COUNT, spacing_packets),
    FIELD("quiet-status", TIME, quiet_status),
    FIELD("metadata-wait", TIME, metadata_wait),
    FIELD("inactivity", TIME, inactivity),
    FIELD("linger", TIME, linger),
    FIELD("poll", TIME, poll),
    FIELD("poll-max", TIME, poll_max),
    FIELD("rtt", TIME, rtt_hint),
    FIELD("symmetry", SHARE, symmetry),
    FIELD("copies", COUNT, copies),
    FIELD("cycles", COUNT, cycles),
    FIELD("max-holes", COUNT, max_holes),
    FIELD("payload", COUNT, payload),
    FIELD("unconfirmed", SIZE_64, unconfirmed),
    FIELD("block", SIZE, block),
    FIELD("blocks", COUNT, blocks),
    FIELD("window", SIZE, window),
#undef FIELD
};

const char *saratoga_seconds(const char *text, uint64_t *ns) {
    double x;
    if (!units_number(text, &x) && x >= 0 && x < 1e9) {
        *ns = (uint64_t)(x * 1e9);
        return NULL;
    }
    return units_time(text, ns)
               ? "a time in seconds, or with its unit, such as 30 or 500ms"
               : NULL;
}

const char *saratoga_some_seconds(const char *text, uint64_t *ns) {
    return saratoga_seconds(text, ns) || *ns == 0
               ? "a time above 0 in seconds, or with its unit, such as 30 or "
                 "500ms"
               : NULL;
}

static const char *set_size(const char *text, size_t *size) {
    uint64_t n = 0;
    const char *why = units_size(text, &n);
    *size = (size_t)n;
    return why;
}

static const char *set_count(const char *text, uint32_t *count) {
    uint64_t n = 0;
    const char *why = units_count(text, 0, UINT32_MAX, &n);
    *count = (uint32_t)n;
    return why;
}

static const char *set_value(enum kind kind, void *field, const char *text) {
    switch (kind) {
    case TIME:
        return saratoga_seconds(text, field);
    case COUNT:
        return set_count(text, field);
    case SIZE_64:
        return units_size(text, field);
    case SIZE:
        return set_size(text, field);
    default:
        return units_number(text, field);
    }
}

static const char *set_one(saratoga_options *o, const char *text) {
    size_t len = strcspn(text, "=");
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (strlen(settings[i].name) == len &&
            strncmp(settings[i].name, text, len) == 0 && text[len] == '=') {
            return set_value(settings[i].kind, (char *)o + settings[i].offset,
                             text + len + 1);
        }
    }
    return "NAME=VALUE, with a NAME that --help-all lists";
}

const char *saratoga_set(saratoga_options *o, const char *text) {
    const char *why = NULL;
    while (!why && *text) {
        char one[200];
        size_t len = strcspn(text, ",");
        (void)snprintf(one, sizeof(one), "%.*s", (int)(len < 199 ? len : 199),
                       text);
        why = set_one(o, one);
        text += len + (text[len] == ',' ? 1 : 0);
    }
    return why;
}

const char *saratoga_rate(const char *text, uint64_t *bps) {
    double x = 0;
    const char *why = units_rate(text, &x);
    if (!why && (x < 1 || x > 1e15)) {
        why = "a rate of at least 1 bit/s, such as 38.4kbit";
    }
    *bps = why ? 0 : (uint64_t)(x + 0.5);
    return why;
}

const char *saratoga_rate_in(const char *path, uint64_t *bps) {
    char line[64] = "";
    FILE *f = fopen(path, "re");
    char *end;
    if (!f) {
        return "a file that can be read";
    }
    (void)!fgets(line, sizeof(line), f);
    (void)fclose(f);
    end = strchr(line, '\n'); /* no newline: it is still being written */
    if (!end) {
        return "a file whose first line is a rate, such as 38.4kbit";
    }
    *end = '\0';
    return saratoga_rate(line, bps);
}

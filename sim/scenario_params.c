/* SPDX-License-Identifier: MPL-2.0 */
/* The parameters of an experiment: declared by "set", used as ${...}. */
#include "sim/scenario_params.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/expr.h"

/* "before name after" */
static bool scenario_params_complain(char *why, const char *before,
                                     const char *name, const char *after) {
    (void)snprintf(why, SCENARIO_WHY_MAX, "%s%s%s", before, name, after);
    return false;
}

static const struct param *find(const struct params *p, const char *name,
                                size_t len) {
    for (uint32_t i = 0; i < p->count; i++) {
        const char *known = p->declared[i].name;
        if (strncmp(known, name, len) == 0 && known[len] == '\0') {
            return &p->declared[i];
        }
    }
    return NULL;
}

static bool scenario_params_number(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

static bool lookup(void *user, const char *name, size_t len, double *value) {
    const struct param *p = find(user, name, len);
    return p != NULL && scenario_params_number(p->value, value);
}

static bool one_of(const char *words, const char *value) {
    size_t len = strlen(value);
    for (const char *at = words; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, value, len) == 0 &&
            (at[len] == '|' || at[len] == '\0')) {
            return true;
        }
    }
    return false;
}

static bool within(const char *range, const char *value) {
    const char *dots = strstr(range, "..");
    double x;
    if (dots == NULL) {
        return one_of(range, value);
    }
    return scenario_params_number(value, &x) && x >= strtod(range, NULL) &&
           x <= strtod(dots + 2, NULL);
}

bool params_declare(struct params *p, const char *name, const char *value,
                    const char *range, char *why) {
    struct param *d = &p->declared[p->count];
    size_t len = strlen(name);
    if (p->count == PARAMS_MAX || len >= SCENARIO_WORD_MAX) {
        return scenario_params_complain(
            why, "too many parameters, or the name is too long: ", name, "");
    }
    if (find(p, name, len) != NULL) {
        return scenario_params_complain(why, "declared twice: ", name, "");
    }
    for (int i = 0; i < p->n_settings; i++) {
        const char *s = p->settings[i];
        if (strncmp(s, name, len) == 0 && s[len] == '=') {
            value = s + len + 1;
            p->used |= UINT64_C(1) << i;
        }
    }
    if (strlen(value) >= SCENARIO_WORD_MAX) {
        return scenario_params_complain(why, "too long a value: ", name, "");
    }
    if (range != NULL && !within(range, value)) {
        (void)snprintf(why, SCENARIO_WHY_MAX, "%s=%s: it must be %s", name,
                       value, range);
        return false;
    }
    (void)snprintf(d->name, sizeof(d->name), "%s", name);
    (void)snprintf(d->value, sizeof(d->value), "%s", value);
    p->count++;
    return true;
}

/* Writes the value of the text between ${ and }. */
static bool put(struct params *p, const char *inner, char *out, size_t room,
                char *why) {
    const struct param *word = find(p, inner, strlen(inner));
    double value = 0;
    if (word != NULL) {
        (void)snprintf(out, room, "%s", word->value);
        return true;
    }
    if (sim_expr(inner, lookup, p, &value) != NULL) {
        return scenario_params_complain(why, "cannot work out ${", inner, "}");
    }
    (void)snprintf(out, room, "%.12g", value);
    return true;
}

bool params_expand(struct params *p, const char *line, char *out, char *why) {
    size_t n = 0;
    while (*line != '\0' && *line != '#') {
        char inner[256];
        const char *end =
            line[0] == '$' && line[1] == '{' ? strchr(line, '}') : NULL;
        if (n + 64 >= PARAMS_LINE_MAX ||
            (end != NULL && (size_t)(end - line) >= sizeof(inner))) {
            return scenario_params_complain(why, "the line is too long", "",
                                            "");
        }
        if (end == NULL) {
            out[n++] = *line++;
            continue;
        }
        (void)snprintf(inner, sizeof(inner), "%.*s", (int)(end - line - 2),
                       line + 2);
        if (!put(p, inner, out + n, PARAMS_LINE_MAX - n, why)) {
            return false;
        }
        n += strlen(out + n);
        line = end + 1;
    }
    out[n] = '\0';
    return true;
}

bool params_all_used(const struct params *p, char *why) {
    for (int i = 0; i < p->n_settings; i++) {
        int n;
        if ((p->used >> i & 1) != 0) {
            continue;
        }
        n = snprintf(why, SCENARIO_WHY_MAX,
                     "'%.64s' sets nothing; the parameters are",
                     p->settings[i]);
        for (uint32_t j = 0; j < p->count && n < SCENARIO_WHY_MAX; j++) {
            n += snprintf(why + n, SCENARIO_WHY_MAX - (size_t)n, " %s",
                          p->declared[j].name);
        }
        return false;
    }
    return true;
}

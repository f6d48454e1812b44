/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/common/figures.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "tools/common/tool.h"

#define NAME_MAX_LEN 80

void figures_add(struct figures *f, const struct figure_def *def,
                 const char *label, double value) {
    assert(f->count < FIGURES_MAX);
    if (f->count < FIGURES_MAX) {
        f->figure[f->count++] = (struct figure){def, label, value};
    }
}

/* Quotes as the format has it: backslash, quotation mark and line feed. */
static size_t escape(char *out, size_t room, const char *text) {
    size_t n = 0;
    for (; *text && n + 2 < room; text++) {
        if (*text == '\\' || *text == '"' || *text == '\n') {
            out[n++] = '\\';
        }
        out[n++] = *text;
        if (*text == '\n') {
            out[n - 1] = 'n';
        }
    }
    out[n] = '\0';
    return n;
}

void figures_label(struct figures *f, const char *name, const char *value) {
    char shown[600];
    char quoted[600];
    size_t used = strlen(f->labels);
    (void)escape(quoted, sizeof(quoted),
                 tool_shown(shown, sizeof(shown), value));
    (void)snprintf(f->labels + used, sizeof(f->labels) - used, "%s%s=\"%s\"",
                   used ? "," : "", name, quoted);
}

/* --- JSON ----------------------------------------------------------------- */

static json_t *as_json(const struct figure *f) {
    return f->def->digits ? tool_number(f->value, f->def->digits)
                          : json_integer((json_int_t)llround(f->value));
}

/* The object that a name leads into; *name is left without what led there. */
static json_t *enter(json_t *json, char **name) {
    char *dot;
    while ((dot = strchr(*name, '.')) != NULL) {
        json_t *inner;
        *dot = '\0';
        inner = json_object_get(json, *name);
        if (!inner) {
            inner = json_object();
            (void)json_object_set_new(json, *name, inner);
        }
        json = inner;
        *name = dot + 1;
    }
    return json;
}

static void full_name(const struct figure *f, char *name) {
    const char *star = strchr(f->def->json, '*');
    size_t before = star ? (size_t)(star - f->def->json) : 0;
    if (star) {
        (void)snprintf(name, NAME_MAX_LEN, "%.*s%s%s", (int)before,
                       f->def->json, f->value_of_label, star + 1);
    } else {
        (void)snprintf(name, NAME_MAX_LEN, "%s", f->def->json);
    }
}

void figures_json(const struct figures *f, json_t *json) {
    for (size_t i = 0; i < f->count; i++) {
        char text[NAME_MAX_LEN];
        char *name = text;
        json_t *into;
        full_name(&f->figure[i], text);
        into = enter(json, &name);
        (void)json_object_set_new(into, name, as_json(&f->figure[i]));
    }
}

/* --- Text ----------------------------------------------------------------- */

static void put_head(FILE *out, const char *prefix,
                     const struct figure_def *def) {
    (void)fprintf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", prefix, def->metric,
                  def->help, prefix, def->metric,
                  def->type == FIGURE_COUNTER ? "counter" : "gauge");
}

static void put_sample(FILE *out, const char *prefix, const struct figures *all,
                       const struct figure *f) {
    const struct figure_def *d = f->def;
    double unit = d->unit > 0 ? d->unit : 1;
    const char *comma = all->labels[0] && d->label ? "," : "";
    (void)fprintf(out, "%s%s", prefix, d->metric);
    if (all->labels[0] || d->label) {
        (void)fprintf(out, "{%s%s", all->labels, comma);
        if (d->label) {
            (void)fprintf(out, "%s=\"%s\"", d->label, f->value_of_label);
        }
        (void)fputc('}', out);
    }
    (void)fprintf(out, " %.15g\n", f->value * unit);
}

/* All of a kind stand together, as the format wants. */
static void put_kind(FILE *out, const char *prefix, const struct figures *f,
                     size_t count, const struct figure_def *def) {
    put_head(out, prefix, def);
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < f[k].count; i++) {
            if (f[k].figure[i].def == def) {
                put_sample(out, prefix, &f[k], &f[k].figure[i]);
            }
        }
    }
}

static bool is_first(const struct figures *f, size_t at) {
    for (size_t i = 0; i < at; i++) {
        if (f->figure[i].def == f->figure[at].def) {
            return false;
        }
    }
    return true;
}

void figures_text(FILE *out, const char *prefix, const struct figures *f,
                  size_t count) {
    for (size_t i = 0; count > 0 && i < f->count; i++) {
        if (f->figure[i].def->metric && is_first(f, i)) {
            put_kind(out, prefix, f, count, f->figure[i].def);
        }
    }
}

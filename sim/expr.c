/* SPDX-License-Identifier: MPL-2.0 */
/* Arithmetic in scenarios: "25 * bw", "min(3, n / 2)". */
#include "sim/expr.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32

struct parser {
    const char *at;
    sim_expr_lookup lookup;
    void *user;
    unsigned depth;
    bool bad;
};

static double sum(struct parser *p);

static char look(struct parser *p) {
    while (isspace((unsigned char)*p->at)) {
        p->at++;
    }
    return *p->at;
}

static bool expr_take(struct parser *p, char c) {
    if (look(p) != c) {
        return false;
    }
    p->at++;
    return true;
}

static double fail(struct parser *p) {
    p->bad = true;
    return 0;
}

static double extreme(struct parser *p, bool greatest) {
    double a = sum(p);
    double b = expr_take(p, ',') ? sum(p) : fail(p);
    return greatest ? fmax(a, b) : fmin(a, b);
}

static double name(struct parser *p) {
    const char *start = p->at;
    double value = 0;
    size_t len;
    while (isalnum((unsigned char)*p->at) || *p->at == '_') {
        p->at++;
    }
    len = (size_t)(p->at - start);
    if (len == 3 &&
        (strncmp(start, "min", 3) == 0 || strncmp(start, "max", 3) == 0) &&
        expr_take(p, '(')) {
        value = extreme(p, start[1] == 'a');
        return expr_take(p, ')') ? value : fail(p);
    }
    if (!p->lookup(p->user, start, len, &value)) {
        p->at = start;
        return fail(p);
    }
    return value;
}

static double expr_number(struct parser *p) {
    char *end;
    double value = strtod(p->at, &end);
    p->at = end;
    return value;
}

static double factor(struct parser *p) {
    char c = look(p);
    double value = 0;
    if (p->bad || p->depth >= DEPTH_MAX) {
        return fail(p);
    }
    p->depth++;
    if (expr_take(p, '(')) {
        value = sum(p);
        value = expr_take(p, ')') ? value : fail(p);
    } else if (expr_take(p, '-')) {
        value = -factor(p);
    } else if (isdigit((unsigned char)c) || c == '.') {
        value = expr_number(p);
    } else if (isalpha((unsigned char)c)) {
        value = name(p);
    } else {
        value = fail(p);
    }
    p->depth--;
    return value;
}

static double product(struct parser *p) {
    double value = factor(p);
    while (!p->bad) {
        if (expr_take(p, '*')) {
            value *= factor(p);
        } else if (expr_take(p, '/')) {
            value /= factor(p);
        } else {
            break;
        }
    }
    return value;
}

static double sum(struct parser *p) {
    double value = product(p);
    while (!p->bad) {
        if (expr_take(p, '+')) {
            value += product(p);
        } else if (expr_take(p, '-')) {
            value -= product(p);
        } else {
            break;
        }
    }
    return value;
}

const char *sim_expr(const char *text, sim_expr_lookup lookup, void *user,
                     double *value) {
    struct parser p = {.at = text, .lookup = lookup, .user = user};
    double x = sum(&p);
    if (p.bad || look(&p) != '\0') {
        return p.at;
    }
    if (!isfinite(x)) {
        return text;
    }
    *value = x;
    return NULL;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The keys of a flow. */
#include "sim/scenario_flow.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal/settings/units.h"

#define NOWHERE UINT32_MAX

enum type { RATE, TIME, SIZE, COUNT, NUMBER, FLAG, WORD, KIND };

static const struct key {
    const char *name;
    enum type type;
    size_t offset;
    double min, max; /* ns, bit/s, bytes; both 0: what the type allows */
} keys[] = {
    {"kind", KIND, offsetof(struct scenario_flow, kind), 0, 0},
    {"count", COUNT, offsetof(struct scenario_flow, count), 0, 1000},
    {"start", TIME, offsetof(struct scenario_flow, start), 0, 0},
    {"stagger", TIME, offsetof(struct scenario_flow, stagger), 0, 0},
    {"stop", TIME, offsetof(struct scenario_flow, stop), 0, 0},
    {"access-rate", RATE, offsetof(struct scenario_flow, access_rate), 0, 0},
    {"access-delay", TIME, offsetof(struct scenario_flow, access_delay), 0, 0},
    {"exit-rate", RATE, offsetof(struct scenario_flow, exit_rate), 0, 0},
    {"exit-delay", TIME, offsetof(struct scenario_flow, exit_delay), 0, 0},
    {"exit-spread", TIME, offsetof(struct scenario_flow, exit_spread), 0, 0},
    {"packet", COUNT, offsetof(struct scenario_flow, packet), 0, 65535},
    {"ack", COUNT, offsetof(struct scenario_flow, ack), 1, 1500},
    {"congestion", WORD, offsetof(struct scenario_flow, congestion), 0, 0},
    {"recovery", WORD, offsetof(struct scenario_flow, recovery), 0, 0},
    {"window", COUNT, offsetof(struct scenario_flow, window), 0, 1000000},
    {"initial-window", COUNT, offsetof(struct scenario_flow, initial_window), 0,
     1000},
    {"section", SIZE, offsetof(struct scenario_flow, section), 1, 1e9},
    {"deadline", TIME, offsetof(struct scenario_flow, deadline), 0, 0},
    {"bytes", SIZE, offsetof(struct scenario_flow, bytes), 0, 0},
    {"rto-min", TIME, offsetof(struct scenario_flow, rto_min), 1e6, 6e10},
    {"ack-every", COUNT, offsetof(struct scenario_flow, ack_every), 1, 64},
    {"pacing", FLAG, offsetof(struct scenario_flow, pacing), 0, 0},
    {"limited-transmit", FLAG, offsetof(struct scenario_flow, limited_transmit),
     0, 0},
    {"hold-skipped", FLAG, offsetof(struct scenario_flow, hold_skipped), 0, 0},
    {"ecn", FLAG, offsetof(struct scenario_flow, ecn), 0, 0},
    {"rate", RATE, offsetof(struct scenario_flow, rate), 0, 0},
    {"symmetry", NUMBER, offsetof(struct scenario_flow, symmetry), 0.01, 1},
    {"status-spacing", TIME, offsetof(struct scenario_flow, status_spacing), 0,
     0},
    {"uplink", RATE, offsetof(struct scenario_flow, uplink), 0, 0},
};

void scenario_flow_init(struct scenario_flow *f, const char *name) {
    *f = (struct scenario_flow){
        .from = NOWHERE,
        .to = NOWHERE,
        .count = 1,
        .stop = SIM_NEVER,
        .ack = 40,
        .congestion = "reno",
        .recovery = "packet",
        .section = 1000000,
        .rto_min = 200000000,
        .ack_every = 1,
        .symmetry = 0.5,
    };
    (void)snprintf(f->name, sizeof(f->name), "%s", name);
}

static const char *set_word(const char *text, char *word) {
    if (strlen(text) >= SCENARIO_WORD_MAX) {
        return "shorter";
    }
    (void)snprintf(word, SCENARIO_WORD_MAX, "%s", text);
    return NULL;
}

static const char *set_kind(const char *text, enum scenario_kind *kind) {
    static const char *const names[] = {"tltcp", "cbr", "saratoga"};
    static const enum scenario_kind kinds[] = {SCENARIO_TLTCP, SCENARIO_CBR,
                                               SCENARIO_SARATOGA};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            *kind = kinds[i];
            return NULL;
        }
    }
    return "tltcp, cbr or saratoga";
}

static const char *set_value(const struct key *k, const char *text,
                             void *field) {
    switch (k->type) {
    case RATE:
        return units_rate(text, field);
    case TIME:
        return units_time(text, field);
    case SIZE:
        return units_size(text, field);
    case COUNT:
        return units_count(text, 0, UINT64_MAX, field);
    case NUMBER:
        return units_number(text, field);
    case FLAG:
        return units_flag(text, field);
    case WORD:
        return set_word(text, field);
    default:
        return set_kind(text, field);
    }
}

static bool in_range(const struct key *k, const void *field) {
    double x;
    if (k->max <= 0) {
        return true;
    }
    if (k->type == RATE || k->type == NUMBER) {
        x = *(const double *)field;
    } else {
        x = (double)*(const uint64_t *)field;
    }
    return x >= k->min && x <= k->max;
}

/* cc.NAME=VALUE: a parameter of the controller. */
static bool set_param(struct scenario_flow *f, const char *name, size_t len,
                      const char *value, char *why) {
    char *end;
    if (f->n_params == SCENARIO_PARAMS_MAX || len >= SCENARIO_WORD_MAX) {
        (void)snprintf(why, SCENARIO_WHY_MAX,
                       "more than %d parameters, or a name is too long",
                       SCENARIO_PARAMS_MAX);
        return false;
    }
    (void)snprintf(f->params[f->n_params], SCENARIO_WORD_MAX, "%.*s", (int)len,
                   name);
    f->values[f->n_params] = strtod(value, &end);
    if (end == value || *end != '\0') {
        (void)snprintf(why, SCENARIO_WHY_MAX,
                       "flow %s: cc.%.*s=%.40s: it must be a number", f->name,
                       (int)len, name, value);
        return false;
    }
    f->n_params++;
    return true;
}

static void list_keys(char *why, const char *text) {
    int n = snprintf(why, SCENARIO_WHY_MAX,
                     "no key '%.40s'; valid keys are from to", text);
    for (size_t i = 0;
         i < sizeof(keys) / sizeof(keys[0]) && n < SCENARIO_WHY_MAX; i++) {
        n += snprintf(why + n, SCENARIO_WHY_MAX - (size_t)n, " %s",
                      keys[i].name);
    }
}

bool scenario_flow_set(struct scenario_flow *f, const char *text, char *why) {
    const char *equals = strchr(text, '=');
    size_t len = equals != NULL ? (size_t)(equals - text) : 0;
    const char *allowed;
    if (len > 3 && strncmp(text, "cc.", 3) == 0) {
        return set_param(f, text + 3, len - 3, equals + 1, why);
    }
    for (size_t i = 0; len > 0 && i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct key *k = &keys[i];
        void *field = (char *)f + k->offset;
        if (strncmp(text, k->name, len) != 0 || k->name[len] != '\0') {
            continue;
        }
        allowed = set_value(k, equals + 1, field);
        if (allowed != NULL) {
            (void)snprintf(why, SCENARIO_WHY_MAX, "flow %s: %s: it must be %s",
                           f->name, text, allowed);
        } else if (!in_range(k, field)) {
            (void)snprintf(why, SCENARIO_WHY_MAX,
                           "flow %s: %s: it must be from %g to %g%s", f->name,
                           text, k->min, k->max, k->type == TIME ? " ns" : "");
            return false;
        }
        return allowed == NULL;
    }
    list_keys(why, text);
    return false;
}

bool scenario_flow_check(const struct scenario_flow *f, char *why) {
    const char *wrong = NULL;
    if (f->from == NOWHERE || f->to == NOWHERE) {
        wrong = "from and to must name nodes";
    } else if (f->kind == SCENARIO_CBR &&
               (f->rate <= 0 || f->packet < SIM_IP_UDP)) {
        wrong = "needs a rate, and packets of at least 28 bytes";
    }
    if (wrong != NULL) {
        (void)snprintf(why, SCENARIO_WHY_MAX, "flow %s: %s", f->name, wrong);
    }
    return wrong == NULL;
}

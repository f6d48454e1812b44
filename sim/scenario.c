/* SPDX-License-Identifier: MPL-2.0 */
/* An experiment as text: who sends what over which links, what is measured. */
#include "sim/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal/settings/units.h"
#include "sim/iridium.h"
#include "sim/link_settings.h"
#include "sim/scenario_flow.h"
#include "sim/scenario_params.h"

#define WORDS_MAX 48
#define NODES_MAX 4096
#define ORBIT_STEP_MIN UINT64_C(100000000) /* ns */

struct reader {
    struct scenario *s;
    struct params params;
    char text[PARAMS_LINE_MAX]; /* the line, cut into words */
    char *word[WORDS_MAX];
    uint32_t words;
    char *why;
};

static bool refuse(const struct reader *r, const char *what, const char *name) {
    (void)snprintf(r->why, SCENARIO_WHY_MAX, "%s %s", what, name);
    return false;
}

/* Makes room for one more in an array. */
static void *scenario_grow(void **array, uint32_t count, size_t size) {
    void *wide = realloc(*array, (count + (size_t)1) * size);
    if (wide == NULL) {
        return NULL;
    }
    *array = wide;
    memset((char *)wide + count * size, 0, size);
    return (char *)wide + count * size;
}

static bool find_node(const struct scenario *s, const char *name,
                      uint32_t *node) {
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        if (strcmp(s->nodes[i], name) == 0) {
            *node = i;
            return true;
        }
    }
    return false;
}

/* A link that names a node creates it. */
static bool make_node(struct reader *r, const char *name, uint32_t *node) {
    struct scenario *s = r->s;
    char *slot;
    if (find_node(s, name, node)) {
        return true;
    }
    if (strlen(name) >= SCENARIO_WORD_MAX || s->n_nodes == NODES_MAX) {
        return refuse(
            r, "the name is too long, or there are too many nodes:", name);
    }
    slot = scenario_grow((void **)&s->nodes, s->n_nodes, SCENARIO_WORD_MAX);
    if (slot == NULL) {
        return refuse(r, "out of memory", "");
    }
    (void)snprintf(slot, SCENARIO_WORD_MAX, "%s", name);
    *node = s->n_nodes++;
    return true;
}

static bool settings(struct reader *r, uint32_t from,
                     struct sim_link_config *c) {
    char why[SETTINGS_WHY_MAX];
    for (uint32_t i = from; i < r->words; i++) {
        if (!settings_apply(r->word[i], c, why)) {
            return refuse(r, why, "");
        }
    }
    return true;
}

static bool add_link(struct reader *r, uint32_t from, uint32_t to,
                     const struct sim_link_config *c) {
    struct scenario *s = r->s;
    struct scenario_link *l =
        scenario_grow((void **)&s->links, s->n_links, sizeof(*l));
    if (l == NULL) {
        return refuse(r, "out of memory", "");
    }
    *l = (struct scenario_link){from, to, *c};
    s->n_links++;
    return true;
}

static bool read_link(struct reader *r, bool both) {
    struct sim_link_config c;
    uint32_t a;
    uint32_t b;
    sim_link_config_init(&c);
    c.overhead = SIM_IP_UDP;
    if (r->words < 3) {
        return refuse(r, "a link needs two nodes", "");
    }
    if (!make_node(r, r->word[1], &a) || !make_node(r, r->word[2], &b) ||
        !settings(r, 3, &c) || !add_link(r, a, b, &c)) {
        return false;
    }
    return !both || add_link(r, b, a, &c);
}

static bool read_time(const struct reader *r, const char *text, uint64_t *ns) {
    const char *allowed = units_time(text, ns);
    if (allowed != NULL) {
        (void)snprintf(r->why, SCENARIO_WHY_MAX, "%s %s: it must be %s",
                       r->word[0], text, allowed);
    }
    return allowed == NULL;
}

/* The link's config after all earlier changes. */
static const struct sim_link_config *last_config(const struct scenario *s,
                                                 uint32_t link) {
    for (uint32_t i = s->n_changes; i-- > 0;) {
        if (s->changes[i].link == link) {
            return &s->changes[i].config;
        }
    }
    return &s->links[link].config;
}

static bool read_change(struct reader *r) {
    struct scenario *s = r->s;
    struct scenario_change *c =
        scenario_grow((void **)&s->changes, s->n_changes, sizeof(*c));
    uint32_t a;
    uint32_t b;
    if (c == NULL || r->words < 5 || !find_node(s, r->word[2], &a) ||
        !find_node(s, r->word[3], &b)) {
        return refuse(r, "write: change TIME FROM TO SETTING ...", "");
    }
    while (c->link < s->n_links &&
           (s->links[c->link].from != a || s->links[c->link].to != b)) {
        c->link++;
    }
    if (c->link == s->n_links) {
        return refuse(r, "there is no link from there to", r->word[3]);
    }
    c->config = *last_config(s, c->link);
    if (!read_time(r, r->word[1], &c->at) || !settings(r, 4, &c->config)) {
        return false;
    }
    s->n_changes++;
    return true;
}

/* Sets the delay of a link between two nodes from a time on. */
static bool scenario_set_delay(struct reader *r, uint32_t from, uint32_t to,
                               uint64_t at, double seconds) {
    struct scenario *s = r->s;
    for (uint32_t i = 0; i < s->n_links; i++) {
        struct scenario_change *c;
        if (s->links[i].from != from || s->links[i].to != to) {
            continue;
        }
        if (at == 0) {
            s->links[i].config.delay = (uint64_t)(seconds * 1e9);
            return true;
        }
        c = scenario_grow((void **)&s->changes, s->n_changes, sizeof(*c));
        if (c == NULL) {
            return refuse(r, "out of memory", "");
        }
        *c = (struct scenario_change){at, i, s->links[i].config};
        c->config.delay = (uint64_t)(seconds * 1e9);
        s->n_changes++;
        return true;
    }
    return refuse(r, "there is no link from there to", s->nodes[to]);
}

static bool read_place(struct reader *r, const char *text,
                       struct iridium_place *p) {
    char *end;
    p->latitude = strtod(text, &end);
    if (*end == ',') {
        p->longitude = strtod(end + 1, &end);
        if (*end == '\0' && p->latitude >= -90 && p->latitude <= 90 &&
            p->longitude >= -180 && p->longitude <= 180) {
            return true;
        }
    }
    return refuse(r, "a place is LATITUDE,LONGITUDE in degrees, not", text);
}

/* Sets the three parts of a path, in both directions, for a time. */
static bool follow_orbit(struct reader *r, struct iridium *g,
                         const uint32_t *node, uint64_t at, uint64_t shift) {
    struct iridium_way way;
    if (!iridium_look(g, (double)(at + shift) / 1e9, &way)) {
        return refuse(r, "no satellite serves one of the places", "");
    }
    const double delay[] = {way.up, way.between, way.down};
    for (unsigned i = 0; i < 3; i++) {
        if (!scenario_set_delay(r, node[i], node[i + 1], at, delay[i]) ||
            !scenario_set_delay(r, node[i + 1], node[i], at, delay[i])) {
            return false;
        }
    }
    return true;
}

static bool read_iridium(struct reader *r) {
    struct iridium_place place[2];
    struct iridium g;
    uint64_t every;
    uint64_t shift;
    uint32_t node[4];
    if (r->words != 9 || r->s->duration == 0) {
        return refuse(r,
                      "write, after duration and the links: iridium NODE "
                      "SATELLITE SATELLITE NODE PLACE PLACE EVERY SHIFT",
                      "");
    }
    for (unsigned i = 0; i < 4; i++) {
        if (!find_node(r->s, r->word[i + 1], &node[i])) {
            return refuse(r, "no link names the node", r->word[i + 1]);
        }
    }
    if (!read_place(r, r->word[5], &place[0]) ||
        !read_place(r, r->word[6], &place[1]) ||
        !read_time(r, r->word[7], &every) ||
        !read_time(r, r->word[8], &shift)) {
        return false;
    }
    if (every < ORBIT_STEP_MIN) {
        return refuse(r, "the orbit is looked at every 0.1 s at most, not",
                      r->word[7]);
    }
    iridium_init(&g, place[0], place[1]);
    for (uint64_t at = 0; at < r->s->duration; at += every) {
        if (!follow_orbit(r, &g, node, at, shift)) {
            return false;
        }
    }
    return true;
}

static bool read_measure(struct reader *r) {
    struct scenario *s = r->s;
    struct scenario_period *p =
        scenario_grow((void **)&s->periods, s->n_periods, sizeof(*p));
    if (p == NULL || r->words != 3) {
        return refuse(r, "write: measure FROM TO", "");
    }
    if (!read_time(r, r->word[1], &p->from) ||
        !read_time(r, r->word[2], &p->to)) {
        return false;
    }
    if (p->from >= p->to) {
        return refuse(r, "a period must end after its start:", r->word[2]);
    }
    s->n_periods++;
    return true;
}

static bool read_flow(struct reader *r) {
    struct scenario *s = r->s;
    struct scenario_flow *f =
        scenario_grow((void **)&s->flows, s->n_flows, sizeof(*f));
    if (f == NULL || r->words < 2 || strlen(r->word[1]) >= SCENARIO_WORD_MAX) {
        return refuse(r, "write: flow NAME KEY=VALUE ...", "");
    }
    scenario_flow_init(f, r->word[1]);
    s->n_flows++;
    for (uint32_t i = 2; i < r->words; i++) {
        char *equals = strchr(r->word[i], '=');
        bool from = strncmp(r->word[i], "from=", 5) == 0;
        if (from || strncmp(r->word[i], "to=", 3) == 0) {
            if (!find_node(s, equals + 1, from ? &f->from : &f->to)) {
                return refuse(r, "no link names the node", equals + 1);
            }
        } else if (!scenario_flow_set(f, r->word[i], r->why)) {
            return false;
        }
    }
    return scenario_flow_check(f, r->why);
}

static bool read_set(struct reader *r) {
    if (r->words < 3 || r->words > 4) {
        return refuse(r, "write: set NAME VALUE [MIN..MAX]", "");
    }
    return params_declare(&r->params, r->word[1], r->word[2],
                          r->words == 4 ? r->word[3] : NULL, r->why);
}

static bool read_seed(struct reader *r) {
    const char *allowed =
        r->words == 2 ? units_count(r->word[1], 0, UINT32_MAX, &r->s->seed)
                      : "one number";
    return allowed == NULL || refuse(r, "seed: it must be", allowed);
}

static bool read_words(struct reader *r) {
    const char *verb = r->word[0];
    if (strcmp(verb, "set") == 0) {
        return read_set(r);
    }
    if (strcmp(verb, "link") == 0 || strcmp(verb, "oneway") == 0) {
        return read_link(r, verb[0] == 'l');
    }
    if (strcmp(verb, "change") == 0) {
        return read_change(r);
    }
    if (strcmp(verb, "iridium") == 0) {
        return read_iridium(r);
    }
    if (strcmp(verb, "flow") == 0) {
        return read_flow(r);
    }
    if (strcmp(verb, "measure") == 0) {
        return read_measure(r);
    }
    if (strcmp(verb, "seed") == 0) {
        return read_seed(r);
    }
    if (r->words == 2 && strcmp(verb, "duration") == 0) {
        return read_time(r, r->word[1], &r->s->duration);
    }
    if (r->words == 2 && strcmp(verb, "sample") == 0) {
        return read_time(r, r->word[1], &r->s->sample);
    }
    return refuse(r,
                  "a line begins with set, seed, duration, measure, sample, "
                  "link, oneway, change, iridium or flow, not",
                  verb);
}

static bool read_line(struct reader *r, const char *line) {
    char *rest = r->text;
    char *word;
    if (!params_expand(&r->params, line, r->text, r->why)) {
        return false;
    }
    r->words = 0;
    while ((word = strsep(&rest, " \t")) != NULL) {
        if (*word != '\0' && r->words == WORDS_MAX) {
            return refuse(r, "too many words", "");
        }
        if (*word != '\0') {
            r->word[r->words++] = word;
        }
    }
    return r->words == 0 || read_words(r);
}

static bool check(struct reader *r) {
    const struct scenario *s = r->s;
    if (!params_all_used(&r->params, r->why)) {
        return false;
    }
    if (s->duration == 0 || s->n_flows == 0) {
        return refuse(r, "a duration and at least one flow are needed", "");
    }
    for (uint32_t i = 0; i < s->n_periods; i++) {
        if (s->periods[i].to > s->duration) {
            return refuse(r, "a measure ends after the duration", "");
        }
    }
    return true;
}

bool scenario_read(struct scenario *s, const char *text, char *const *set,
                   int count, char *why) {
    struct reader r = {.s = s, .why = why};
    unsigned number = 0;
    r.params.settings = set;
    r.params.n_settings = count;
    *s = (struct scenario){.seed = 1};
    if (count > 64) {
        return refuse(&r, "more than 64 settings", "");
    }
    while (*text != '\0') {
        char line[PARAMS_LINE_MAX];
        char what[SCENARIO_WHY_MAX - 32];
        size_t len = strcspn(text, "\n");
        bool fits = len < sizeof(line);
        number++;
        (void)snprintf(line, sizeof(line), "%.*s", (int)len, text);
        text += len + (text[len] == '\n');
        if (!fits || !read_line(&r, line)) {
            (void)snprintf(what, sizeof(what), "%s",
                           fits ? why : "the line is too long");
            (void)snprintf(why, SCENARIO_WHY_MAX, "line %u: %s", number, what);
            return false;
        }
    }
    return check(&r);
}

void scenario_free(struct scenario *s) {
    free(s->nodes);
    free(s->links);
    free(s->changes);
    free(s->flows);
    free(s->periods);
    *s = (struct scenario){.seed = 1};
}

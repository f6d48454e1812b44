/* SPDX-License-Identifier: MPL-2.0 */
/* Runs a scenario and prints what happened, whatever carries its packets. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/show.h"

#define QUEUE_LOOK UINT64_C(10000000) /* interval of queue samples, ns */

struct link_count {
    struct sim_link_stats stats;
    double queue; /* sum of sampled lengths */
    double looks;
};

/* Counters at the beginning of a period. */
struct mark {
    struct flow_counts *flows;
    struct flow_arrivals *there;
    struct flow_arrivals *back;
    struct link_count *links;
};

struct show {
    struct stage stage;
    const struct scenario *scenario;
    const struct show_network *network; /* NULL: the network of the stage */
    struct link_count *links;
    struct mark *marks;           /* by period */
    struct sim_timer look;        /* samples the queues */
    struct sim_timer sample;      /* a line per flow */
    struct sim_timer *boundaries; /* two per period */
};

static double seconds(uint64_t ns) {
    return (double)ns * 1e-9;
}

static const char *node_name(const struct show *w, uint32_t node) {
    return w->scenario->nodes[node];
}

static struct flow_counts counts_of(const struct flow *f) {
    struct flow_counts c = {0};
    f->ops->counts(f, &c);
    return c;
}

static const struct sim_link_stats *link_stats(const struct show *w,
                                               uint32_t link) {
    const struct show_network *n = w->network;
    return n != NULL ? n->link(n->user, link)
                     : sim_link_stats(stage_link(&w->stage, link));
}

/* ---- lines ---- */

static void print_flow(const struct show *w, uint32_t period, uint32_t i) {
    const struct mark *m = &w->marks[period];
    const struct flow *f = &w->stage.flows[i];
    const struct flow_counts a = m->flows[i];
    const struct flow_counts b = counts_of(f);
    double there = f->there.packets - m->there[i].packets;
    double back = f->back.packets - m->back[i].packets;
    printf("{\"kind\":\"flow\",\"period\":%" PRIu32 ",\"flow\":\"%s\","
           "\"index\":%" PRIu64 ",\"segments\":%.10g,\"sent\":%.10g,"
           "\"lost\":%.10g,\"cuts\":%.10g,\"timeouts\":%.10g,"
           "\"pseudo\":%.10g,\"cwnd\":%.6g,\"srtt\":%.6g,\"done\":%.9g,",
           period, f->spec->name, f->index,
           b.payload > 0 ? (b.bytes - a.bytes) / b.payload : 0, b.sent - a.sent,
           b.lost - a.lost, b.cuts - a.cuts, b.timeouts - a.timeouts,
           b.pseudo - a.pseudo, b.cwnd, b.srtt, b.done);
    printf("\"arrived\":%.10g,\"arrived_full\":%.10g,\"arrived_bytes\":%.12g,"
           "\"delay\":%.6g,\"back\":%.10g,\"back_bytes\":%.12g,"
           "\"back_delay\":%.6g}\n",
           there, f->there.full - m->there[i].full,
           f->there.bytes - m->there[i].bytes,
           there > 0 ? (f->there.delay - m->there[i].delay) / there : 0, back,
           f->back.bytes - m->back[i].bytes,
           back > 0 ? (f->back.delay - m->back[i].delay) / back : 0);
}

static void print_link(const struct show *w, uint32_t period, uint32_t i) {
    const struct scenario_link *l = &w->scenario->links[i];
    const struct link_count *a = &w->marks[period].links[i];
    const struct link_count *b = &w->links[i];
    const struct sim_link_stats *now = link_stats(w, i);
    double looks = b->looks - a->looks;
    printf("{\"kind\":\"link\",\"period\":%" PRIu32 ",\"from\":\"%s\","
           "\"to\":\"%s\",\"offered\":%" PRIu64 ",\"delivered\":%" PRIu64
           ",\"dropped_queue\":%" PRIu64 ",\"dropped_red\":%" PRIu64
           ",\"dropped_aqm\":%" PRIu64 ",\"dropped_police\":%" PRIu64
           ",\"dropped_loss\":%" PRIu64 ",\"marked\":%" PRIu64
           ",\"wire_bytes\":%" PRIu64 ",\"queue\":%.6g}\n",
           period, node_name(w, l->from), node_name(w, l->to),
           now->offered - a->stats.offered, now->delivered - a->stats.delivered,
           now->dropped_queue - a->stats.dropped_queue,
           now->dropped_red - a->stats.dropped_red,
           now->dropped_aqm - a->stats.dropped_aqm,
           now->dropped_police - a->stats.dropped_police,
           now->dropped_loss - a->stats.dropped_loss,
           now->marked - a->stats.marked, now->wire_bytes - a->stats.wire_bytes,
           looks > 0 ? (b->queue - a->queue) / looks : 0);
}

static void print_sample(const struct flow *f, uint64_t now) {
    const struct flow_counts c = counts_of(f);
    printf("{\"kind\":\"sample\",\"t\":%.9g,\"flow\":\"%s\",\"index\":%" PRIu64
           ",\"segments\":%.10g,\"sequence\":%.10g,\"sent\":%.10g,"
           "\"lost\":%.10g,\"cuts\":%.10g,\"cwnd\":%.6g,\"srtt\":%.6g,"
           "\"arrived\":%.10g,\"arrived_bytes\":%.12g,\"delay_sum\":%.9g}\n",
           seconds(now), f->spec->name, f->index,
           c.payload > 0 ? c.bytes / c.payload : 0,
           c.payload > 0 ? c.sequence / c.payload : 0, c.sent, c.lost, c.cuts,
           c.cwnd, c.srtt, f->there.packets, f->there.bytes, f->there.delay);
}

/* ---- moments ---- */

static void on_look(struct sim_timer *t, uint64_t now) {
    struct show *w = t->user;
    for (uint32_t i = 0; i < w->scenario->n_links; i++) {
        w->links[i].queue += (double)sim_link_waiting(stage_link(&w->stage, i));
        w->links[i].looks++;
    }
    (void)sim_loop_arm(sim_net_loop(w->stage.net), t, now + QUEUE_LOOK);
}

static void show_on_sample(struct sim_timer *t, uint64_t now) {
    struct show *w = t->user;
    for (uint32_t i = 0; i < w->stage.n_flows; i++) {
        print_sample(&w->stage.flows[i], now);
    }
    (void)sim_loop_arm(sim_net_loop(w->stage.net), t,
                       now + w->scenario->sample);
}

static void begin_period(struct show *w, struct mark *m) {
    for (uint32_t i = 0; i < w->stage.n_flows; i++) {
        m->flows[i] = counts_of(&w->stage.flows[i]);
        m->there[i] = w->stage.flows[i].there;
        m->back[i] = w->stage.flows[i].back;
    }
    for (uint32_t i = 0; i < w->scenario->n_links; i++) {
        m->links[i] = w->links[i];
        m->links[i].stats = *link_stats(w, i);
    }
}

static void end_period(const struct show *w, uint32_t period) {
    for (uint32_t i = 0; i < w->stage.n_flows; i++) {
        print_flow(w, period, i);
    }
    for (uint32_t i = 0; i < w->scenario->n_links; i++) {
        print_link(w, period, i);
    }
}

static void on_boundary(struct sim_timer *t, uint64_t now) {
    struct show *w = t->user;
    uint32_t number = (uint32_t)(t - w->boundaries);
    (void)now;
    if (number % 2 == 0) {
        begin_period(w, &w->marks[number / 2]);
    } else {
        end_period(w, number / 2);
    }
}

/* ---- the whole ---- */

static bool make_mark(struct show *w, struct mark *m) {
    m->flows = calloc((size_t)w->stage.n_flows + 1, sizeof(*m->flows));
    m->there = calloc((size_t)w->stage.n_flows + 1, sizeof(*m->there));
    m->back = calloc((size_t)w->stage.n_flows + 1, sizeof(*m->back));
    m->links = calloc((size_t)w->scenario->n_links + 1, sizeof(*m->links));
    return m->flows != NULL && m->there != NULL && m->back != NULL &&
           m->links != NULL;
}

static bool show_prepare(struct show *w) {
    const struct scenario *s = w->scenario;
    struct sim_loop *loop = sim_net_loop(w->stage.net);
    w->links = calloc((size_t)s->n_links + 1, sizeof(*w->links));
    w->marks = calloc((size_t)s->n_periods + 1, sizeof(*w->marks));
    w->boundaries =
        calloc(2 * (size_t)s->n_periods + 1, sizeof(*w->boundaries));
    if (w->links == NULL || w->marks == NULL || w->boundaries == NULL) {
        return false;
    }
    w->look = (struct sim_timer){.fire = on_look, .user = w};
    w->sample = (struct sim_timer){.fire = show_on_sample, .user = w};
    if (!sim_loop_arm(loop, &w->look, 0) ||
        !sim_loop_arm(loop, &w->sample, s->sample != 0 ? 0 : SIM_NEVER)) {
        return false;
    }
    for (uint32_t i = 0; i < 2 * s->n_periods; i++) {
        const struct scenario_period *p = &s->periods[i / 2];
        w->boundaries[i] = (struct sim_timer){.fire = on_boundary, .user = w};
        if (!sim_loop_arm(loop, &w->boundaries[i],
                          i % 2 == 0 ? p->from : p->to)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < s->n_periods; i++) {
        if (!make_mark(w, &w->marks[i])) {
            return false;
        }
    }
    return true;
}

static void take_down(struct show *w) {
    for (uint32_t i = 0; w->marks != NULL && i < w->scenario->n_periods; i++) {
        free(w->marks[i].flows);
        free(w->marks[i].there);
        free(w->marks[i].back);
        free(w->marks[i].links);
    }
    stage_free(&w->stage);
    free(w->links);
    free(w->marks);
    free(w->boundaries);
}

static bool show_build(struct show *w, char *why) {
    const struct show_network *n = w->network;
    if (!stage_build(&w->stage, w->scenario, why) ||
        (n != NULL && !n->open(n->user, &w->stage, why))) {
        return false;
    }
    if (!show_prepare(w)) {
        (void)snprintf(why, SCENARIO_WHY_MAX, "out of memory");
        return false;
    }
    return true;
}

bool show_run(struct scenario *s, const struct show_network *net, char *why) {
    struct show w;
    bool ok = net == NULL || net->adapt(net->user, s, why);
    w = (struct show){.scenario = s, .network = net};
    ok = ok && show_build(&w, why);
    if (ok) {
        if (net != NULL) {
            net->run(net->user);
        } else {
            stage_run(&w.stage, s->duration);
        }
        printf("{\"kind\":\"end\",\"t\":%.9g,\"events\":%" PRIu64 "}\n",
               seconds(s->duration), sim_net_loop(w.stage.net)->fired);
    }
    take_down(&w);
    return ok;
}

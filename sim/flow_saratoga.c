/* SPDX-License-Identifier: MPL-2.0 */
/* A Saratoga transfer of an endless file of zeroes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/flow.h"
#include "sim/saratoga_host.h"

#define ENDLESS (UINT64_C(1) << 44)
#define DEFAULT_MTU 1500

struct transfer {
    struct sim_saratoga from;
    struct sim_saratoga to;
    saratoga_handle handle; /* the sender's; 0 before the start */
    saratoga_options options;
    const char *params[SCENARIO_PARAMS_MAX + 1];
};

/* ---- a disk that holds zeroes and keeps nothing ---- */

static bool take_work(const struct sim_saratoga *s) {
    saratoga_work w;
    bool any = false;
    while (saratoga_engine_next_work(s->engine, &w) > 0) {
        int64_t result = 0;
        if (w.type == SARATOGA_WORK_READ) {
            memset(w.buf, 0, w.len);
            result = (int64_t)w.len;
        }
        (void)saratoga_engine_work_done(s->engine, w.id, result,
                                        sim_saratoga_now(s));
        any = true;
    }
    return any;
}

static bool sender_work(void *user) {
    struct transfer *x = user;
    return take_work(&x->from);
}

static bool receiver_work(void *user) {
    struct transfer *x = user;
    return take_work(&x->to);
}

static void on_sender_event(void *user, const saratoga_event *ev) {
    (void)user;
    (void)ev;
}

static void on_receiver_event(void *user, const saratoga_event *ev) {
    struct transfer *x = user;
    saratoga_answer a;
    if (ev->type == SARATOGA_EVENT_REQUEST) {
        saratoga_answer_init(&a);
        a.options = &x->options;
        a.user = x;
        (void)saratoga_transfer_accept(x->to.engine, ev->handle, &a,
                                       sim_saratoga_now(&x->to));
    }
}

/* ---- the flow ---- */

static void flow_saratoga_configure(struct transfer *x,
                                    const struct scenario_flow *f,
                                    saratoga_config *cfg) {
    saratoga_options *o = &x->options;
    saratoga_options_init(o);
    o->congestion = strcmp(f->congestion, "open") == 0 ? NULL : f->congestion;
    o->rate_bps = (uint64_t)f->rate;
    o->checksum = SARATOGA_NONE;
    o->symmetry = f->symmetry;
    o->uplink_bps = (uint64_t)f->uplink;
    if (f->status_spacing != 0) {
        o->status_spacing = f->status_spacing;
    }
    if (f->n_params > 0) {
        o->congestion_params = x->params;
        o->congestion_values = f->values;
    }
    for (uint32_t i = 0; i < f->n_params; i++) {
        x->params[i] = f->params[i];
    }
    saratoga_config_init(cfg);
    cfg->transfer = o;
    cfg->mtu = f->packet != 0 ? (uint32_t)f->packet : DEFAULT_MTU;
    cfg->timer_granularity_us = 1;
}

static bool open_saratoga(struct flow *f, char *why) {
    char reason[SARATOGA_WHY_MAX] = "out of memory";
    struct transfer *x = calloc(1, sizeof(*x));
    struct sim_saratoga_app sender = {on_sender_event, sender_work, NULL, x};
    struct sim_saratoga_app receiver = {on_receiver_event, receiver_work, NULL,
                                        x};
    saratoga_config cfg;
    f->self = x;
    if (x != NULL) {
        flow_saratoga_configure(x, f->spec, &cfg);
        if (saratoga_config_check(&cfg, reason) == 0 &&
            sim_saratoga_open(&x->from, f->net, &cfg, f->seed, &sender) &&
            sim_saratoga_open(&x->to, f->net, &cfg, f->seed + 1, &receiver)) {
            f->from = x->from.node;
            f->to = x->to.node;
            f->full_packet = cfg.mtu - SIM_IP_UDP;
            return true;
        }
    }
    (void)snprintf(why, SCENARIO_WHY_MAX, "flow %s: %s", f->spec->name, reason);
    return false;
}

static void start_saratoga(struct flow *f) {
    struct transfer *x = f->self;
    saratoga_source src = {.kind = SARATOGA_FILE, .checksum = SARATOGA_NONE};
    saratoga_request q;
    src.entry.size = f->spec->bytes != 0 ? f->spec->bytes : ENDLESS;
    (void)snprintf(src.entry.path, sizeof(src.entry.path), "zeroes");
    saratoga_request_init(&q);
    q.type = SARATOGA_PUT;
    q.to = sim_saratoga_address(&x->to);
    q.path = "zeroes";
    q.options = &x->options;
    q.source = &src;
    q.user = x;
    if (saratoga_transfer_start(x->from.engine, &q, &x->handle,
                                sim_saratoga_now(&x->from)) == 0) {
        sim_saratoga_pump(&x->from);
    }
}

static void stop_saratoga(struct flow *f) {
    struct transfer *x = f->self;
    x->from.dead = true;
    x->to.dead = true;
}

static void counts_saratoga(const struct flow *f, struct flow_counts *out) {
    const struct transfer *x = f->self;
    saratoga_stats st;
    saratoga_stats_init(&st);
    if (x->handle == 0 ||
        saratoga_transfer_get_stats(x->from.engine, x->handle, &st,
                                    sim_saratoga_now(&x->from)) != 0) {
        return;
    }
    out->bytes = (double)st.bytes;
    out->payload = st.data_packets > 0
                       ? (double)st.data_bytes / (double)st.data_packets
                       : 0;
    out->sequence = (double)st.progress_bytes;
    out->sent = (double)st.data_packets;
    out->lost = (double)st.retransmitted_packets;
    out->cuts = (double)st.loss_events;
    out->srtt = (double)st.srtt_ns * 1e-9;
}

static void close_saratoga(struct flow *f) {
    struct transfer *x = f->self;
    if (x != NULL) {
        sim_saratoga_close(&x->from);
        sim_saratoga_close(&x->to);
        free(x);
    }
}

const struct flow_ops flow_saratoga = {open_saratoga, start_saratoga,
                                       stop_saratoga, counts_saratoga,
                                       close_saratoga};

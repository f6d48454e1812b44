/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/simnet/shares.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "tests/simnet/bbr1.h"
#include "tests/simnet/rival.h"

#define INTERVAL (40 * MS)
#define GOP 50 /* of a fixed stream */
#define MINI_GOP 3
#define GRACE (1000 * MS)
#define STEP (5 * MS)
#define WAITS 200000
#define CLIP_RATE 2.8e6  /* of the sizes below */
#define LEAST_RATE 150e3 /* of an adaptive one */
#define BURST 4          /* packets that a burst loses on average */

/* What an adaptive encoder makes of its target. Sizes are multiples of the mean
 * picture's. */
struct clip_shape {
    const char *name;
    unsigned gop;
    unsigned mini_gop; /* pictures from reference to reference */
    double key, reference, disposable;
    bool steady; /* all pictures of a kind are alike */
};

static const struct clip_shape shapes[] = {
    {"ippp", 250, 1, 4, 0.99, 0, false},
    {"pyramid", 50, 3, 4, 1.66, 0.58, false},
    {"screen", 100, 1, 8, 0.93, 0, false},
    {"refresh", 250, 1, 1, 1, 0, true},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

struct stream {
    const struct shares *s;
    const struct clip_shape *shape; /* NULL: not an adaptive one */
    struct world *world;
    struct sim_host *from, *to;
    struct sim_peer *peer;
    struct sim_source source;
    struct sim_reader reader;
    struct sim_random rnd;
    double target; /* bit/s, adaptive */
    uint64_t start;
    uint32_t written;
    uint32_t bytes[SHARES_PICTURES];
    uint64_t at[SHARES_PICTURES];
    uint32_t got[SHARES_PICTURES];
    uint64_t whole[SHARES_PICTURES];
};

static struct world w; /* large */
static struct rival rivals[SHARES_RIVALS];
static struct stream streams[SHARES_STREAMS];
static float waits[WAITS];
static unsigned n_waits;

void shares_init(struct shares *s) {
    *s = (struct shares){.rate = 4e6,
                         .rtt = 40 * MS,
                         .queue = 50000,
                         .rivals = 1,
                         .head_start = 6 * SEC,
                         .streams = 1,
                         .bitrate = CLIP_RATE,
                         .latency = 400 * MS,
                         .length = 30 * SEC,
                         .congestion = "auto"};
}

bool shares_set_clip(struct shares *s, const char *name) {
    s->mixed = strcmp(name, "mixed") == 0;
    s->clip = 0;
    while (!s->mixed && s->clip < SHAPES &&
           strcmp(name, shapes[s->clip].name) != 0) {
        s->clip++;
    }
    return s->clip < SHAPES;
}

/* ---- the stream ---- */

/* Between half and one and a half times the mean, the middle more likely. */
static uint32_t shares_vary(struct sim_random *r, double mean) {
    uint64_t sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += sim_random_below(r, (uint64_t)mean);
    }
    return (uint32_t)(mean / 2 + (double)sum / 3);
}

static uint32_t class_at(const struct stream *x, uint32_t i) {
    const struct clip_shape *shape = x->shape;
    uint32_t at = i % (shape != NULL ? shape->gop : GOP);
    uint32_t mini = shape != NULL ? shape->mini_gop : MINI_GOP;
    return at == 0                ? TL_CLASS_KEY
           : (at - 1) % mini == 0 ? TL_CLASS_REFERENCE
                                  : TL_CLASS_DISPOSABLE;
}

static uint32_t fixed_size(struct stream *x, uint32_t class) {
    double scale = x->s->bitrate / CLIP_RATE;
    double mean = class == TL_CLASS_KEY         ? 42500
                  : class == TL_CLASS_REFERENCE ? 17500
                                                : 11250;
    return shares_vary(&x->rnd, scale * mean);
}

static uint32_t adaptive_size(struct stream *x, uint32_t class) {
    const struct clip_shape *shape = x->shape;
    double times = class == TL_CLASS_KEY         ? shape->key
                   : class == TL_CLASS_REFERENCE ? shape->reference
                                                 : shape->disposable;
    tltcp_stats st;
    double target, mean;
    tltcp_stats_init(&st);
    (void)tltcp_conn_get_stats(x->peer->conn, &st, sim_host_now(x->from));
    target = (double)st.target_bps;
    target = target < x->s->bitrate ? target : x->s->bitrate;
    x->target = target > LEAST_RATE ? target : LEAST_RATE;
    mean = x->target / 8 * INTERVAL * 1e-9 * times;
    return shape->steady ? (uint32_t)mean : shares_vary(&x->rnd, mean);
}

static void shares_shape(void *user, uint64_t number, tltcp_time now,
                         struct sim_section *s) {
    struct stream *x = user;
    uint32_t class = class_at(x, (uint32_t)number);
    bool needed = class != TL_CLASS_DISPOSABLE;
    s->len = x->s->kind == SHARES_FIXED ? fixed_size(x, class)
                                        : adaptive_size(x, class);
    s->meta.section_class = class;
    s->meta.due = now + x->s->latency;
    s->deadline = now + x->s->latency + (needed ? GRACE : 0);
    x->bytes[number] = (uint32_t)s->len;
    x->at[number] = world_now(x->world);
    x->written = (uint32_t)number + 1;
}

static void shares_piece(void *user, const struct tltcp_segment *seg,
                         const struct tltcp_meta *meta, const uint8_t *data,
                         uint64_t len) {
    struct stream *x = user;
    uint64_t i = meta->tag;
    (void)seg;
    if (data == NULL || i >= SHARES_PICTURES) {
        return;
    }
    x->got[i] += (uint32_t)len;
    if (x->got[i] == x->bytes[i]) {
        x->whole[i] = world_now(x->world);
    }
}

static void on_stream_ready(void *user, struct sim_peer *p) {
    struct stream *x = user;
    (void)p;
    sim_source_ready(&x->source);
}

static void on_viewer_ready(void *user, struct sim_peer *p) {
    struct stream *x = user;
    (void)p;
    sim_reader_ready(&x->reader);
}

static enum sim_answer on_stream_caller(void *user, struct sim_peer *p) {
    struct stream *x = user;
    p->app = (struct sim_app){.on_ready = on_viewer_ready, .user = x};
    sim_reader_start(&x->reader, p);
    return SIM_ACCEPT;
}

static void stream_config(const struct shares *s, tltcp_config *c) {
    static const char *names[2];
    static double value;
    tltcp_config_init(c);
    c->congestion = s->congestion;
    c->idle_timeout_ms = 600000;
    c->unordered = true;
    if (s->param != NULL) {
        names[0] = s->param;
        value = s->value;
        c->controller.params = names;
        c->controller.values = &value;
    }
}

/* A stream that is there first goes on until the end. */
static uint64_t stream_pictures(const struct shares *s) {
    uint64_t length = s->length + (s->rival_last ? 2 * s->head_start : 0) +
                      (s->streams - 1) * s->stagger;
    uint64_t n = (length - 100 * MS) / INTERVAL;
    return n < SHARES_PICTURES ? n : SHARES_PICTURES;
}

static bool has_pictures(const struct shares *s) {
    return s->kind == SHARES_FIXED || s->kind == SHARES_ADAPTIVE;
}

static void stream_join(struct stream *x, const struct shares *s, unsigned n,
                        uint64_t seed) {
    const struct sim_source_config pictures = {.sections = stream_pictures(s),
                                               .start = 100 * MS,
                                               .interval = INTERVAL,
                                               .shape = shares_shape,
                                               .user = x,
                                               .record = true,
                                               .blank = true};
    const struct sim_source_config greedy = {.size_min = 50000,
                                             .size_max = 50000,
                                             .budget = TLTCP_TIME_NEVER,
                                             .blank = true};
    struct sim_reader_config reader = {
        .buffer = SIM_READER_BUF, .on_piece = shares_piece, .user = x};
    struct sim_app app = {.on_ready = on_stream_ready, .user = x};
    tltcp_config c;
    memset(x, 0, sizeof(*x));
    x->s = s;
    x->shape = s->kind == SHARES_ADAPTIVE
                   ? &shapes[(s->clip + n * s->mixed) % SHAPES]
                   : NULL;
    x->world = &w;
    x->start = world_now(&w);
    sim_random_init(&x->rnd, seed);
    x->from = sim_host_new(w.net, 3 * SEC);
    x->to = sim_host_new(w.net, 4 * SEC);
    rival_route(&w, x->from, x->to);
    sim_source_init(&x->source, has_pictures(s) ? &pictures : &greedy);
    sim_reader_init(&x->reader, &reader);
    stream_config(s, &c);
    assert_int_equal(sim_host_listen(x->to, &c, seed + 77, on_stream_caller, x),
                     0);
    assert_int_equal(sim_host_connect(x->from, &x->peer, &c, seed + 78,
                                      sim_address(sim_host_node(x->to), 0),
                                      &app),
                     0);
    sim_source_start(&x->source, x->peer);
}

static void stream_leave(struct stream *x) {
    sim_source_free(&x->source);
    sim_reader_stop(&x->reader);
    sim_host_free(x->from);
    sim_host_free(x->to);
}

/* ---- what is seen ---- */

static void stream_judge(const struct stream *x, struct shares_result *r) {
    static uint64_t ready[SHARES_PICTURES];
    uint32_t newest = 0;
    unsigned on_time = 0;
    uint64_t dark = 0;
    /* Receivers count the latency of a fixed stream from the lowest delay; that
     * of an adaptive one counts from the capture. */
    uint64_t transit = x->s->kind == SHARES_FIXED ? x->s->rtt / 2 : 0;
    for (uint32_t i = 0; i < x->written; i++) {
        uint32_t class = class_at(x, i);
        uint64_t until = x->at[i] + x->s->latency + transit;
        bool seen;
        ready[i] = x->whole[i] != 0 ? x->whole[i] : NEVER;
        on_time += ready[i] <= until;
        r->keys += class == TL_CLASS_KEY && ready[i] == NEVER;
        if (class != TL_CLASS_KEY && ready[newest] > ready[i]) {
            ready[i] = ready[newest];
        }
        newest = class != TL_CLASS_DISPOSABLE ? i : newest;
        seen = ready[i] <= until;
        r->seen += seen;
        dark = seen ? 0 : dark + INTERVAL;
        r->freeze = dark > r->freeze ? dark : r->freeze;
    }
    r->pictures = x->written;
    r->on_time = x->written > 0 ? (double)on_time / x->written : 0;
}

static int shares_order(const void *a, const void *b) {
    float x = *(const float *)a;
    float y = *(const float *)b;
    return x < y ? -1 : x > y;
}

static void judge_queue(struct shares_result *r) {
    qsort(waits, n_waits, sizeof(waits[0]), shares_order);
    r->queue = n_waits > 0 ? (double)waits[n_waits / 2] : 0;
    r->queue95 = n_waits > 0 ? (double)waits[n_waits * 19 / 20] : 0;
}

static void on_arrival(void *user, const struct sim_packet *p, uint64_t now) {
    const struct shares *s = user;
    double tx = (p->len + 28.0) * 8 / s->rate;
    uint64_t there = p->born + s->rtt / 2;
    double wait = (double)(now - there) * 1e-6 - 1e3 * tx;
    if (streams[0].to != NULL && n_waits < WAITS &&
        sim_address_node(p->dst) == sim_host_node(streams[0].to)) {
        waits[n_waits++] = (float)wait;
    }
}

/* ---- the bottleneck ---- */

static void open_bottleneck(const struct shares *s, uint64_t seed) {
    struct plan p;
    (void)cong_register(&bbr1);
    plan_init(&p, seed);
    p.light = true;
    p.keep_open = true;
    p.no_delivery_check = true;
    p.source[CLIENT].sections = 0;
    for (int i = 0; i < 2; i++) {
        p.config[i].idle_timeout_ms = 600000;
        p.link[i].rate = s->rate;
        p.link[i].delay = s->rtt / 2;
        p.link[i].loss = s->loss;
        if (s->bursts > 0) {
            p.link[i].burst_leave = 1.0 / BURST;
            p.link[i].burst_enter = s->bursts / (1 - s->bursts) / BURST;
            p.link[i].burst_loss = 1;
        }
        p.link[i].limit_packets = 0;
        p.link[i].limit_bytes = s->queue;
    }
    if (s->back > 0) {
        p.link[SERVER].rate = s->back;
    }
    world_start(&w, &p);
    n_waits = 0;
    sim_net_set_arrival(w.net, on_arrival, (void *)s);
}

static void shares_trace(const struct shares *s) {
    tltcp_stats st;
    tltcp_stats rs;
    tltcp_stats_init(&st);
    tltcp_stats_init(&rs);
    (void)tltcp_conn_get_stats(streams[0].peer->conn, &st,
                               sim_host_now(streams[0].from));
    if (s->rival != NULL) {
        (void)tltcp_conn_get_stats(rivals[0].peer->conn, &rs,
                                   sim_host_now(rivals[0].from));
    }
    printf("%.1f q %" PRIu64 " | cwnd %" PRIu64 " fl %" PRIu64
           " rtt %.0f got %.2f Mb lost %" PRIu64 " queued %" PRIu64
           " est %.2f tgt %.2f | rival cwnd %" PRIu64 " fl %" PRIu64
           " got %.2f lost %" PRIu64 "\n",
           (double)world_now(&w) * 1e-9,
           sim_link_waiting(sim_net_link(w.net, w.link[CLIENT])),
           st.cwnd_bytes / 1200, st.bytes_in_flight / 1200,
           (double)st.latest_rtt_ns * 1e-6,
           8e-6 * (double)streams[0].reader.bytes, st.packets_lost,
           st.bytes_queued, 1e-6 * (double)st.estimated_bps,
           1e-6 * streams[0].target, rs.cwnd_bytes / 1200,
           rs.bytes_in_flight / 1200,
           s->rival != NULL ? 8e-6 * (double)rivals[0].reader.bytes : 0,
           rs.packets_lost);
}

static uint64_t stream_bytes(const struct shares *s, unsigned i) {
    return s->kind == SHARES_BULK ? rivals[s->rivals + i].reader.bytes
                                  : streams[i].reader.bytes;
}

static double lost_of_streams(const struct shares *s) {
    double sum = 0;
    for (unsigned i = 0; i < s->streams; i++) {
        const struct sim_peer *p = s->kind == SHARES_BULK
                                       ? rivals[s->rivals + i].peer
                                       : streams[i].peer;
        tltcp_stats st;
        tltcp_stats_init(&st);
        (void)tltcp_conn_get_stats(p->conn, &st, sim_host_now(p->host));
        sum += st.loss_rate;
    }
    return sum / s->streams;
}

/* How uneven the streams are, and who is worst off. */
static void compare_streams(const struct shares *s, const uint64_t *settled,
                            struct shares_result *r) {
    double low = 1e18;
    double high = 0;
    r->least = r->on_time;
    for (unsigned i = 0; i < s->streams; i++) {
        struct shares_result one = {.pictures = 0};
        double had = (double)(stream_bytes(s, i) - settled[i]);
        low = fmin(low, had);
        high = fmax(high, had);
        if (has_pictures(s)) {
            stream_judge(&streams[i], &one);
            r->least = fmin(r->least, one.on_time);
        }
    }
    r->even = high / fmax(low, 1);
}

static double of_rivals(const struct shares *s) {
    double sum = 0;
    for (unsigned i = 0; s->rival != NULL && i < s->rivals; i++) {
        sum += (double)rivals[i].reader.bytes / s->rivals;
    }
    return sum;
}

static void rivals_join(const struct shares *s, uint64_t seed) {
    for (unsigned i = 0; s->rival != NULL && i < s->rivals; i++) {
        rival_join(&rivals[i], &w, s->rival, seed * 10 + i);
        world_run_for(&w, (30 + 17 * i) * MS);
    }
}

static void streams_join(const struct shares *s, uint64_t seed) {
    for (unsigned i = 0; i < s->streams; i++) {
        if (s->kind == SHARES_BULK) {
            rival_join(&rivals[s->rivals + i], &w, s->congestion,
                       seed * 10 + 9);
        } else {
            stream_join(&streams[i], s, i, seed + 1000 * i);
        }
        world_run_for(&w, i + 1 < s->streams ? s->stagger : 0);
    }
}

/* The first flow has the path alone for a while. */
static void all_join(const struct shares *s, uint64_t seed) {
    uint64_t head_start =
        s->rival != NULL ? s->head_start + seed * 137 * MS : 0;
    if (s->rival_last) {
        streams_join(s, seed);
        world_run_for(&w, head_start);
        rivals_join(s, seed);
    } else {
        rivals_join(s, seed);
        world_run_for(&w, head_start);
        streams_join(s, seed);
    }
}

static void all_leave(const struct shares *s) {
    for (unsigned i = 0; s->rival != NULL && i < s->rivals; i++) {
        rival_leave(&rivals[i]);
    }
    for (unsigned i = 0; i < s->streams; i++) {
        if (s->kind == SHARES_BULK) {
            rival_leave(&rivals[s->rivals + i]);
        } else {
            stream_leave(&streams[i]);
        }
    }
    world_close(&w);
}

void shares_play(const struct shares *s, uint64_t seed,
                 struct shares_result *r) {
    uint64_t from, settled[SHARES_STREAMS] = {0};
    bool is_settled = false;
    double before, had;
    memset(streams, 0, sizeof(streams));
    memset(r, 0, sizeof(*r));
    open_bottleneck(s, seed);
    all_join(s, seed);
    from = world_now(&w);
    before = of_rivals(s);
    had = (double)stream_bytes(s, 0);
    while (world_now(&w) < from + s->length) {
        world_run_for(&w, 100 * MS);
        for (unsigned i = 0;
             world_now(&w) >= from + 10 * SEC && !is_settled && i < s->streams;
             i++) {
            settled[i] = stream_bytes(s, i);
        }
        is_settled = world_now(&w) >= from + 10 * SEC;
        if (s->trace) {
            shares_trace(s);
        }
    }
    had = (double)stream_bytes(s, 0) - had;
    r->rate = 8e9 * had / (double)s->length;
    r->ratio = s->rival != NULL ? had / (of_rivals(s) - before) : 0;
    r->lost = lost_of_streams(s);
    if (has_pictures(s)) {
        stream_judge(&streams[0], r);
        judge_queue(r);
    }
    compare_streams(s, settled, r);
    all_leave(s);
}

unsigned shares_seen_alone(const struct shares *s, double part, uint64_t seed) {
    struct shares half = *s;
    struct shares_result r;
    half.rival = NULL;
    half.rate *= part;
    half.trace = false;
    shares_play(&half, seed, &r);
    return r.seen;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Applications that write: live frames with deadlines, or bulk. */
#include "sim/source.h"

#include <stdlib.h>
#include <string.h>

#define BUSY 256 /* maximum sections per call */

static uint64_t eight_bytes(uint64_t seed, uint64_t block) {
    uint64_t z = seed + (block + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Eight bytes at a time, which compilers turn into one store. */
static uint8_t *put_block(uint8_t *p, uint64_t x) {
    for (int i = 0; i < 8; i++) {
        p[i] = (uint8_t)(x >> 8 * i);
    }
    return p + 8;
}

void sim_source_fill(uint64_t seed, uint64_t seq, void *buf, size_t len) {
    uint8_t *p = buf;
    for (; len > 0 && seq % 8 != 0; len--, seq++) {
        *p++ = (uint8_t)(eight_bytes(seed, seq / 8) >> (seq % 8 * 8));
    }
    for (; len >= 8; len -= 8, seq += 8) {
        p = put_block(p, eight_bytes(seed, seq / 8));
    }
    for (; len > 0; len--, seq++) {
        *p++ = (uint8_t)(eight_bytes(seed, seq / 8) >> (seq % 8 * 8));
    }
}

bool sim_source_check(uint64_t seed, uint64_t seq, const void *buf,
                      size_t len) {
    const uint8_t *p = buf;
    uint8_t expected[512];
    while (len > 0) {
        size_t n = len < sizeof(expected) ? len : sizeof(expected);
        sim_source_fill(seed, seq, expected, n);
        if (memcmp(p, expected, n) != 0) {
            return false;
        }
        p += n;
        seq += n;
        len -= n;
    }
    return true;
}

static struct sim_loop *source_loop_of(const struct sim_source *s) {
    return sim_net_loop(sim_host_net(s->peer->host));
}

static void source_on_timer(struct sim_timer *t, uint64_t now) {
    struct sim_source *s = t->user;
    (void)now;
    sim_peer_pump(s->peer);
}

void sim_source_init(struct sim_source *s, const struct sim_source_config *c) {
    *s = (struct sim_source){.cfg = *c};
    s->timer.fire = source_on_timer;
    s->timer.user = s;
    sim_random_init(&s->rnd, c->seed);
}

void sim_source_start(struct sim_source *s, struct sim_peer *p) {
    s->peer = p;
    s->started = true;
    s->due = source_loop_of(s)->now + s->cfg.start;
    (void)sim_loop_arm(source_loop_of(s), &s->timer, s->due);
}

static tltcp_time choose_deadline(struct sim_source *s, tltcp_time now) {
    if (s->cfg.budget == TLTCP_TIME_NEVER ||
        sim_random_chance(&s->rnd, s->cfg.reliable)) {
        return TLTCP_TIME_NEVER;
    }
    if (sim_random_chance(&s->rnd, s->cfg.backwards)) {
        return now + s->cfg.budget / 2;
    }
    return now + s->cfg.budget;
}

static void choose_meta(struct sim_source *s, struct tltcp_meta *m) {
    m->section_class = (uint32_t)sim_random_below(&s->rnd, TL_CLASS_LAST + 1);
    m->stream = (uint32_t)sim_random_below(&s->rnd, s->cfg.streams);
    if (sim_random_chance(&s->rnd, 0.2)) {
        m->depends = (uint32_t)sim_random_below(&s->rnd, 10);
    }
}

static void choose_shape(struct sim_source *s, tltcp_time now,
                         struct sim_section *x) {
    const struct sim_source_config *c = &s->cfg;
    uint64_t spread = (uint64_t)c->size_max - c->size_min + 1;
    x->len = c->size_min + (size_t)sim_random_below(&s->rnd, spread);
    if (c->key_every != 0 && s->count % c->key_every == 0) {
        x->len *= c->key_scale;
    }
    x->deadline = choose_deadline(s, now);
    if (c->streams != 0) {
        choose_meta(s, &x->meta);
    }
}

/* Prepares the next section; it keeps its deadline while it waits for room, as
 * a frame would. */
static void source_prepare(struct sim_source *s) {
    tltcp_time now = sim_host_now(s->peer->host);
    struct sim_section x = {.seq = s->bytes, .written = now};
    if (s->cfg.shape != NULL) {
        s->cfg.shape(s->cfg.user, s->count, now, &x);
    } else {
        choose_shape(s, now, &x);
    }
    x.meta.tag = s->cfg.record ? s->count : 0; /* it takes space on the wire */
    s->pending = x;
    /* Kept while it waits: a refused write is retried at every ACK. */
    if (s->room < x.len) {
        free(s->contents);
        s->contents = calloc(1, (size_t)x.len);
        s->room = s->contents != NULL ? (size_t)x.len : 0;
    }
    if (s->contents != NULL && !s->cfg.blank) {
        sim_source_fill(s->cfg.seed, s->pending.seq, s->contents,
                        (size_t)s->pending.len);
    }
}

static bool record(struct sim_source *s) {
    if (s->cfg.record && s->count == s->cap) {
        uint64_t cap = s->cap != 0 ? 2 * s->cap : 64;
        struct sim_section *wide =
            realloc(s->sections, (size_t)cap * sizeof(*wide));
        if (wide == NULL) {
            return false;
        }
        s->sections = wide;
        s->cap = cap;
    }
    return true;
}

static bool write_pending(struct sim_source *s) {
    tltcp_time now = sim_host_now(s->peer->host);
    struct iovec part = {s->contents, (size_t)s->pending.len};
    tltcp_section x = {.data = &part,
                       .count = 1,
                       .deadline = s->pending.deadline,
                       .meta = s->pending.meta};
    int rv = TLTCP_ERR_NOMEM;
    if (s->contents != NULL && record(s)) {
        rv = tltcp_conn_write(s->peer->conn, &x, 1, now);
    }
    if (rv == TLTCP_ERR_AGAIN) {
        s->refused++;
    } else if (rv < 0) {
        s->error = s->error != 0 ? s->error : rv;
        s->done = true;
    } else {
        s->pending.written = now;
        if (s->cfg.record) {
            s->sections[s->count] = s->pending;
        }
        s->count++;
        s->bytes += s->pending.len;
        s->pending.len = 0;
    }
    return rv > 0;
}

static void end(struct sim_source *s) {
    tltcp_time now = sim_host_now(s->peer->host);
    s->done = true;
    if (s->cfg.finish) {
        tltcp_conn_finish(s->peer->conn, now);
    }
    if (s->cfg.close) {
        tltcp_conn_close(s->peer->conn,
                         s->cfg.linger == TLTCP_TIME_NEVER
                             ? TLTCP_TIME_NEVER
                             : now + s->cfg.linger,
                         now);
    }
}

void sim_source_ready(struct sim_source *s) {
    unsigned busy = 0;
    if (!s->started || s->done) {
        return;
    }
    while (!s->done && s->due <= source_loop_of(s)->now && busy++ < BUSY) {
        if (s->enough != 0 && s->bytes >= s->enough) {
            return; /* looked at again at the next acknowledgement */
        }
        if (s->pending.len == 0) {
            source_prepare(s);
        }
        if (s->pending.len == 0) { /* nothing this time */
            s->due += s->cfg.interval;
            continue;
        }
        if (!write_pending(s)) {
            return; /* retried at the next acknowledgement */
        }
        s->due += s->cfg.interval;
        if (s->cfg.sections != 0 && s->count == s->cfg.sections) {
            end(s);
        }
    }
    if (!s->done) {
        (void)sim_loop_arm(source_loop_of(s), &s->timer, s->due);
    }
}

void sim_source_on_ready(void *user, struct sim_peer *p) {
    (void)p;
    sim_source_ready(user);
}

void sim_source_free(struct sim_source *s) {
    if (s->started) {
        sim_loop_stop(source_loop_of(s), &s->timer);
    }
    free(s->sections);
    free(s->contents);
    s->sections = NULL;
    s->contents = NULL;
    s->room = 0;
    s->started = false;
}

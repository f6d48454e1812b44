/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_UNIT_CARRIERS_H
#define TESTS_UNIT_CARRIERS_H

#include <stdlib.h>
#include <string.h>

#include "internal/common/rng.h"
#include "internal/secure/carrier.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

/* Two ends of a carrier, datagram by datagram. */

#define VERSION UINT32_C(0x53410002)
#define MTU 1400u
#define FLIGHT_MAX 256u
#define A 0
#define B 1

static const uint8_t key[32] = {1, 2, 3};
static const uint8_t other_key[32] = {4, 5, 6};

struct flying {
    uint64_t path; /* of the sender */
    int to;
    size_t len;
    uint8_t data[MTU];
};

/* Address 1 is A's, 2 is B's, unless a test moves them. */
struct world {
    struct test_alloc alloc;
    sec__carrier *end[2];
    uint64_t address[2];
    uint64_t now;
    struct flying flying[FLIGHT_MAX];
    size_t n;
    cmn__rng rng;
    unsigned loss; /* of 100 */
    bool shuffled;
    unsigned got[2]; /* cargo */
    uint8_t last[2][MTU];
    size_t last_len[2];
    uint64_t sent_bytes[2];
    bool (*filter)(struct world *w, struct flying *f); /* true: lost */
    unsigned seen;                                     /* by the filter */
    sec__origin (*origin_of)(uint64_t path);           /* NULL: each its own */
};

static inline sec__carrier_config config_of(const uint8_t *secret) {
    return (sec__carrier_config){
        .keys = {.key = secret, .key_len = secret != NULL ? 32 : 0},
        .limits = {.max = 16,
                   .max_of_network = 16,
                   .max_half_open = 8,
                   .max_half_open_of = 8},
        .version = VERSION,
        .max_datagram = MTU};
}

static inline void open_end(struct world *w, int end,
                            const sec__carrier_config *c) {
    const uint8_t seed[SEC__SEED_LEN] = {(uint8_t)(10 + end),
                                         (uint8_t)(w->now >> 24)};
    const cmn__mem mem = {test_alloc_realloc, &w->alloc};
    assert_int_equal(sec__carrier_new(&w->end[end], &mem, c, seed, w->now), 0);
}

static inline void begin(struct world *w, const sec__carrier_config *a,
                         const sec__carrier_config *b) {
    *w = (struct world){.now = SEC__S, .address = {1, 2}};
    cmn__rng_seed(&w->rng, 3);
    open_end(w, A, a);
    open_end(w, B, b);
}

static inline void begin_equal(struct world *w) {
    sec__carrier_config c = config_of(key);
    begin(w, &c, &c);
}

static inline void end(struct world *w) {
    sec__carrier_free(w->end[A]);
    sec__carrier_free(w->end[B]);
    assert_int_equal(w->alloc.blocks, 0);
}

static inline sec__place place_of(uint64_t path) {
    return (sec__place){.host = path, .path = path, .origin = {{path}}};
}

static inline void launch(struct world *w, int from, const uint8_t *data,
                          size_t len) {
    struct flying *f = &w->flying[w->n];
    w->sent_bytes[from] += len;
    assert_true(w->n < FLIGHT_MAX);
    *f = (struct flying){.path = w->address[from], .to = 1 - from, .len = len};
    memcpy(f->data, data, len);
    if ((w->filter == NULL || !w->filter(w, f)) &&
        cmn__rng_below(&w->rng, 100) >= w->loss) {
        w->n++;
    }
}

static inline void flush(struct world *w, int from) {
    uint8_t buf[MTU];
    uint64_t path;
    size_t len;
    while ((len = sec__carrier_send(w->end[from], buf, sizeof(buf), &path,
                                    w->now)) > 0) {
        if (path == w->address[1 - from]) {
            launch(w, from, buf, len);
        }
    }
}

static inline enum sec__carried take(struct world *w, int to, uint64_t path,
                                     const uint8_t *data, size_t len) {
    sec__delivery out;
    sec__place from = place_of(path);
    enum sec__carried what;
    from.origin = w->origin_of != NULL ? w->origin_of(path) : from.origin;
    what = sec__carrier_recv(w->end[to], &from, data, len, &out, w->now);
    if (what == SEC__CARGO) {
        w->got[to]++;
        w->last_len[to] = out.len;
        memcpy(w->last[to], out.cargo, out.len);
    } else if (what == SEC__ANSWERED) {
        launch(w, to, out.word, out.len);
    }
    return what;
}

/* All that flies lands, and what is sent because of it. */
static inline void settle(struct world *w) {
    flush(w, A);
    flush(w, B);
    while (w->n > 0) {
        size_t i = w->shuffled ? (size_t)cmn__rng_below(&w->rng, w->n) : 0;
        struct flying f = w->flying[i];
        w->n--;
        memmove(w->flying + i, w->flying + i + 1, (w->n - i) * sizeof(f));
        (void)take(w, f.to, f.path, f.data, f.len);
        flush(w, A);
        flush(w, B);
    }
}

static inline void say(struct world *w, int from, const void *text,
                       size_t len) {
    const sec__place to = place_of(w->address[1 - from]);
    uint8_t buf[MTU];
    uint64_t path;
    size_t n =
        sec__carrier_seal(w->end[from], &to, text, len, buf, &path, w->now);
    if (n > 0 && path == w->address[1 - from]) {
        launch(w, from, buf, n);
    }
}

static inline void wait(struct world *w, uint64_t ns) {
    const uint64_t until = w->now + ns;
    while (w->now < until) {
        w->now += SEC__S / 10;
        sec__carrier_on_timeout(w->end[A], w->now);
        sec__carrier_on_timeout(w->end[B], w->now);
        settle(w);
    }
}

static inline sec__carrier_stats stats(const struct world *w, int which) {
    sec__carrier_stats st;
    sec__carrier_get_stats(w->end[which], &st);
    return st;
}

/* One octet, and all that comes of it. */
static inline void greet(struct world *w, int from) {
    say(w, from, "x", 1);
    settle(w);
}

/* A calls, and is told why not. */
static inline void expect_refusal(struct world *w, uint32_t why) {
    sec__refused r;
    greet(w, A); /* one round trip */
    assert_true(sec__carrier_next_refusal(w->end[A], &r));
    assert_int_equal(r.why, why);
    assert_int_equal(r.peer.path, w->address[B]);
    assert_false(sec__carrier_next_refusal(w->end[A], &r));
    assert_int_equal(w->got[B], 0);
}

#endif /* TESTS_UNIT_CARRIERS_H */

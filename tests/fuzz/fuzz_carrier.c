/* SPDX-License-Identifier: MPL-2.0 */
/* Two ends of a carrier and somebody between them who drops, repeats, changes
 * and makes up datagrams: what arrives was said, once, and memory is bounded.
 */
#include <string.h>

#include "internal/common/crc32c.h"
#include "internal/secure/carrier.h"
#include "tests/fuzz/script.h"
#include "tests/support/alloc.h"

#define LONGEST 1300u
#define FLIGHT 32u
#define SAID 4096u

struct flying {
    size_t len;
    uint8_t data[LONGEST];
};

struct world {
    struct script in;
    struct test_alloc alloc;
    sec__carrier *end[2];
    uint64_t now;
    struct flying flying[FLIGHT]; /* the last ones, of both sides */
    unsigned launched;
    uint16_t said[2];
    uint8_t heard[2][SAID / 8]; /* by number */
};

static sec__place place_of(uint64_t path) {
    return (sec__place){.host = path, .path = path, .origin = {{path}}};
}

static void launch(struct world *w, const uint8_t *data, size_t len) {
    struct flying *f = &w->flying[w->launched++ % FLIGHT];
    FUZZ_CHECK(len > 0 && len <= LONGEST);
    f->len = len;
    memcpy(f->data, data, len);
}

static void flush(struct world *w, int from) {
    uint8_t buf[LONGEST];
    uint64_t path;
    size_t len;
    while ((len = sec__carrier_send(w->end[from], buf, sizeof(buf), &path,
                                    w->now)) > 0) {
        launch(w, buf, len);
    }
}

/* Text: who says it, and a number. */
static void say(struct world *w, int from, uint64_t path) {
    const sec__place to = place_of(path);
    const uint8_t text[] = {'a', (uint8_t)from, (uint8_t)(w->said[from] >> 8),
                            (uint8_t)w->said[from]};
    uint8_t buf[LONGEST];
    size_t n;
    if (w->said[from] + 1u >= SAID) {
        return;
    }
    w->said[from]++;
    n = sec__carrier_seal(w->end[from], &to, text, sizeof(text), buf, &path,
                          w->now);
    if (n > 0) {
        launch(w, buf, n);
    }
}

static void hear(struct world *w, int to, const sec__delivery *d) {
    unsigned number;
    FUZZ_CHECK(d->len == 4 && d->cargo[0] == 'a' && d->cargo[1] == 1 - to);
    number = (unsigned)d->cargo[2] << 8 | d->cargo[3];
    FUZZ_CHECK(number < w->said[1 - to]);
    FUZZ_CHECK((w->heard[to][number / 8] >> number % 8 & 1) == 0);
    w->heard[to][number / 8] |= (uint8_t)(1u << number % 8);
}

/* A check that fits again, so that changes get further in. */
static void mend(struct flying *f) {
    uint32_t check;
    if (f->len > 4 && f->data[0] >= SEC__INITIAL) {
        check = cmn__crc32c(0, f->data, f->len - 4);
        for (unsigned i = 0; i < 4; i++) {
            f->data[f->len - 4 + i] = (uint8_t)(check >> 8 * (3 - i));
        }
    }
}

static void change(struct world *w, struct flying *f) {
    uint64_t n = script_below(&w->in, 4);
    if (n == 3) { /* made up */
        f->len = 1 + (size_t)script_below(&w->in, LONGEST);
        f->data[0] = (uint8_t)(0x50 + script_below(&w->in, 16));
    }
    for (uint64_t i = 0; i < n && f->len > 0; i++) {
        f->data[script_below(&w->in, f->len)] =
            (uint8_t)script_number(&w->in, 1);
    }
    if (script_below(&w->in, 2) == 0) {
        mend(f);
    }
}

static void deliver(struct world *w, int to, uint64_t path, bool changed) {
    struct flying f = w->flying[script_below(&w->in, FLIGHT)];
    const sec__place from = place_of(path);
    sec__delivery d;
    if (changed) {
        change(w, &f);
    }
    switch (sec__carrier_recv(w->end[to], &from, f.data, f.len, &d, w->now)) {
    case SEC__CARGO:
        hear(w, to, &d);
        break;
    case SEC__ANSWERED:
        FUZZ_CHECK(d.len <= SEC__WORD_MAX && d.len <= 3 * f.len);
        launch(w, d.word, d.len);
        break;
    default:
        break;
    }
}

static void step(struct world *w) {
    uint64_t what = script_number(&w->in, 1);
    int end = (int)(what >> 4 & 1);
    uint64_t path = 1 + (uint64_t)(end == 0) + 2 * (what >> 5 & 1);
    switch (what & 15) {
    case 0:
        w->now += script_number(&w->in, 5);
        break;
    case 1:
        w->now += SEC__S;
        break;
    case 2:
    case 3:
    case 4:
        say(w, end, path);
        break;
    case 5:
        deliver(w, end, path, true);
        break;
    case 6:
        sec__carrier_close(w->end[end]);
        break;
    default:
        deliver(w, end, path, false);
        break;
    }
    for (int i = 0; i < 2; i++) {
        sec__carrier_on_timeout(w->end[i], w->now);
        flush(w, i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    static struct world w; /* large */
    static const uint8_t key[32] = {1};
    const cmn__mem mem = {test_alloc_realloc, &w.alloc};
    sec__carrier_stats st;
    sec__refused r;
    memset(&w, 0, sizeof(w));
    w.in = (struct script){in, in + size};
    w.now = SEC__S;
    for (int i = 0; i < 2; i++) {
        const uint8_t seed[SEC__SEED_LEN] = {(uint8_t)(i + 1)};
        uint64_t x = script_number(&w.in, 1);
        const sec__carrier_config c = {
            .keys = {.key = key, .key_len = 32},
            .limits = {.max = 8,
                       .max_of_network = 1 + (x & 7),
                       .max_half_open = 1 + (x >> 3 & 7),
                       .max_half_open_of = 4,
                       .careful = (x & 64) != 0},
            .version = 7,
            .max_datagram = LONGEST,
            .rekey_packets = x & 128 ? 3 : 0};
        FUZZ_CHECK(sec__carrier_new(&w.end[i], &mem, &c, seed, w.now) == 0);
    }
    w.alloc.limit = 4 << 20;
    while (script_left(&w.in)) {
        step(&w);
        FUZZ_CHECK(w.alloc.live < 1 << 20);
    }
    for (int i = 0; i < 2; i++) {
        sec__carrier_get_stats(w.end[i], &st);
        FUZZ_CHECK(st.sessions <= 64);
        while (sec__carrier_next_refusal(w.end[i], &r)) {
        }
        sec__carrier_free(w.end[i]);
    }
    FUZZ_CHECK(w.alloc.blocks == 0);
    return 0;
}

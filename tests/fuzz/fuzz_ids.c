/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The connection ids of two ends whose chunks come late, twice, or never, and
 * of an attacker who sends anything. Each end knows the ids that the other may
 * use, and neither uses an id on a second path while there is a spare one.
 */
#include <string.h>

#include "libtltcp/engine/ids.h"
#include "tests/fuzz/script.h"

#define LETTERS 16 /* on their way */
#define NUMBERS 4096

struct letter {
    uint8_t bytes[TLTCP__IDS_LEN];
    size_t len;
    uint32_t sent_to; /* number of the id that it goes to */
};

/* An end; ids->ours were given to the other one. */
struct end {
    tltcp__ids ids;
    uint32_t current;            /* number of the other's that is in use */
    struct letter mail[LETTERS]; /* to the other */
    uint8_t used[NUMBERS];       /* how often each of the other's was taken */
};

struct world {
    struct script in;
    struct end end[2];
    uint64_t next_id;
};

static uint64_t id_of(const struct end *e, uint32_t number) {
    return number == 0 ? 1 : e->ids.ours[number % TLTCP__IDS_ACTIVE].id;
}

static void issue(struct world *w, struct end *e) {
    while (w->next_id < NUMBERS) {
        if (tltcp__ids_new(&e->ids, w->next_id, (uint32_t)w->next_id) == NULL) {
            return;
        }
        w->next_id++;
    }
}

static void check(const struct end *e, const struct end *other) {
    FUZZ_CHECK(e->ids.issued - e->ids.oldest <= TLTCP__IDS_ACTIVE);
    FUZZ_CHECK(e->ids.oldest <= other->ids.retired);
    FUZZ_CHECK(e->ids.retired <= e->current);
    FUZZ_CHECK(e->current <= e->ids.taken);
    for (uint32_t n = e->ids.retired; n <= e->ids.taken; n++) {
        const tltcp__peer_id *x = tltcp__ids_peer(&e->ids, n);
        FUZZ_CHECK(x == NULL || x->id == id_of(other, n));
    }
}

static void use(struct world *w, struct end *e) {
    unsigned spare = tltcp__ids_spare(&e->ids);
    uint32_t least = (uint32_t)script_below(&w->in, 4);
    const tltcp__peer_id *x =
        tltcp__ids_take(&e->ids, least == 3 ? e->current + 2 : 0);
    FUZZ_CHECK(x == NULL || spare > 0);
    FUZZ_CHECK(x != NULL || spare == 0 || least == 3);
    if (x != NULL) {
        FUZZ_CHECK(x->number < NUMBERS && e->used[x->number]++ == 0);
        e->current = x->number;
    }
}

static void post(struct world *w, struct end *e) {
    struct letter *l = &e->mail[script_below(&w->in, LETTERS)];
    cmn__writer to = cmn__writer_of(l->bytes, sizeof(l->bytes));
    tltcp__ids_put(&e->ids, &to);
    FUZZ_CHECK(!to.bad);
    l->len = (size_t)(to.p - l->bytes);
    l->sent_to = e->current;
}

static void take_retired(struct world *w, struct end *e,
                         const tltcp__chunk *k) {
    uint32_t below = 0;
    FUZZ_CHECK(tltcp__retire_id_parse(k, &below));
    FUZZ_CHECK(tltcp__ids_may_retire(&e->ids, below));
    for (; e->ids.oldest < below; e->ids.oldest++) {
        e->ids.ours[e->ids.oldest % TLTCP__IDS_ACTIVE].id = 0;
    }
    issue(w, e);
}

/* A letter may come again. */
static void deliver(struct world *w, struct end *from, struct end *e) {
    const struct letter *l = &from->mail[script_below(&w->in, LETTERS)];
    cmn__reader r = cmn__reader_of(l->bytes, l->len);
    tltcp__chunk k;
    if (l->sent_to < e->ids.oldest) { /* the id is not valid any more */
        return;
    }
    e->ids.at_hand = l->sent_to;
    while (tltcp__chunk_next(&r, &k)) {
        if (k.type == TLTCP__NEW_ID) {
            FUZZ_CHECK(tltcp__ids_on_new(&e->ids, &k) == 0);
        } else {
            take_retired(w, e, &k);
        }
    }
}

static bool is_same(const tltcp__ids *a, const tltcp__ids *b) {
    for (uint32_t i = 0; i < TLTCP__IDS_ACTIVE; i++) {
        if (a->peers[i].id != b->peers[i].id ||
            a->peers[i].offset != b->peers[i].offset ||
            a->peers[i].number != b->peers[i].number) {
            return false;
        }
    }
    return a->taken == b->taken && a->retired == b->retired;
}

/* What a hostile peer says is refused, or changes nothing that matters. */
static void lie(struct world *w, const struct end *e) {
    tltcp__ids ids = e->ids;
    uint8_t buf[TLTCP__NEW_ID_LEN];
    cmn__writer to = cmn__writer_of(buf, sizeof(buf));
    uint32_t number = (uint32_t)script_number(&w->in, 1) + ids.retired - 8;
    cmn__reader r;
    tltcp__chunk k;
    int rv;
    tltcp__new_id_put(&to, number, script_below(&w->in, 4),
                      (uint32_t)script_below(&w->in, 4));
    r = cmn__reader_of(buf, sizeof(buf));
    FUZZ_CHECK(tltcp__chunk_next(&r, &k));
    rv = tltcp__ids_on_new(&ids, &k);
    FUZZ_CHECK(rv == 0 || is_same(&ids, &e->ids));
    FUZZ_CHECK(rv != 0 || number < ids.retired ||
               number - ids.retired < TLTCP__IDS_ACTIVE);
    FUZZ_CHECK(tltcp__ids_spare(&ids) < TLTCP__IDS_ACTIVE);
}

static void step(struct world *w) {
    struct end *e = &w->end[script_below(&w->in, 2)];
    struct end *other = &w->end[e == &w->end[0]];
    switch (script_below(&w->in, 6)) {
    case 0:
        use(w, e);
        break;
    case 1:
        (void)tltcp__ids_retire(&e->ids, e->current);
        break;
    case 2:
        post(w, e);
        break;
    case 3:
        lie(w, e);
        break;
    default:
        deliver(w, other, e);
        break;
    }
    check(e, other);
    check(other, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    static struct world w; /* large */
    memset(&w, 0, sizeof(w));
    w.in = (struct script){in, in + size};
    w.next_id = 2;
    for (int i = 0; i < 2; i++) {
        tltcp__ids_init(&w.end[i].ids, &(tltcp__peer_id){.id = 1});
        issue(&w, &w.end[i]);
    }
    while (script_left(&w.in)) {
        step(&w);
    }
    return 0;
}

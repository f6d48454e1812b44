/* SPDX-License-Identifier: MPL-2.0 */
/* The table of sessions beside an array of what should be in it. */
#include "libsaratoga/engine/table.h"

#include <saratoga/types.h>

#include "internal/common/rng.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

#define MOST 60
#define HOSTS 4
#define IDS 40

struct entry {
    bool there;
    saratoga__key key;
    uint32_t index;
    uint64_t handle;
};

struct rig {
    struct test_alloc alloc;
    cmn__mem mem;
    saratoga__table t;
    struct entry entry[MOST + 1]; /* its address stands for a session */
};

static struct saratoga__session *session_of(struct entry *e) {
    return (struct saratoga__session *)(void *)e;
}

static bool same(const saratoga__key *a, const saratoga__key *b) {
    return a->host == b->host && a->id == b->id && a->sends == b->sends;
}

static void begin(struct rig *r) {
    *r = (struct rig){.mem = {test_alloc_realloc, NULL}};
    r->mem.user = &r->alloc;
    saratoga__table_init(&r->t, &r->mem, MOST, 77);
}

static void end(struct rig *r) {
    saratoga__table_free(&r->t);
    assert_int_equal(r->alloc.blocks, 0);
}

static void check(struct rig *r) {
    uint64_t of[HOSTS] = {0};
    for (struct entry *e = r->entry; e < r->entry + MOST; e++) {
        if (e->there) {
            of[e->key.host]++;
            assert_ptr_equal(saratoga__table_by_key(&r->t, &e->key),
                             session_of(e));
            assert_ptr_equal(saratoga__table_by_handle(&r->t, e->handle),
                             session_of(e));
        } else {
            assert_null(saratoga__table_by_handle(&r->t, e->handle));
        }
    }
    for (uint64_t host = 0; host < HOSTS; host++) {
        assert_int_equal(saratoga__table_of_host(&r->t, host), of[host]);
    }
}

static saratoga__key random_key(struct rig *r, cmn__rng *g) {
    saratoga__key k;
    bool taken;
    do {
        k = (saratoga__key){cmn__rng_below(g, HOSTS),
                            (uint32_t)cmn__rng_below(g, IDS),
                            cmn__rng_below(g, 2) != 0};
        taken = saratoga__table_by_key(&r->t, &k) != NULL;
    } while (taken);
    return k;
}

static void put(struct rig *r, struct entry *e, cmn__rng *g) {
    e->key = random_key(r, g);
    e->there = saratoga__table_add(&r->t, session_of(e), &e->key, &e->index,
                                   &e->handle) == 0;
}

static void take(struct rig *r, struct entry *e) {
    saratoga__table_remove(&r->t, e->index, &e->key);
    assert_null(saratoga__table_by_key(&r->t, &e->key));
    e->there = false;
}

static void move(struct rig *r, struct entry *e, cmn__rng *g) {
    saratoga__key old = e->key;
    saratoga__key key = random_key(r, g);
    if (saratoga__table_rekey(&r->t, e->index, &old, &key)) {
        e->key = key;
        assert_true(same(&old, &key) ||
                    saratoga__table_by_key(&r->t, &old) == NULL);
    }
}

TEST(entries_are_found_and_counted) {
    static struct rig r;
    cmn__rng g;
    cmn__rng_seed(&g, 1);
    for (unsigned round = 0; round < 40; round++) {
        begin(&r);
        for (unsigned i = 0; i < 400; i++) {
            struct entry *e = &r.entry[cmn__rng_below(&g, MOST)];
            /* in every other round memory is short now and then */
            r.alloc.fail_at =
                round % 2 && cmn__rng_below(&g, 4) == 0 ? r.alloc.calls + 1 : 0;
            if (!e->there) {
                put(&r, e, &g);
            } else if (cmn__rng_below(&g, 2)) {
                take(&r, e);
            } else {
                move(&r, e, &g);
            }
            check(&r);
        }
        end(&r);
    }
}

TEST(it_takes_no_more_than_it_may) {
    static struct rig r;
    cmn__rng g;
    cmn__rng_seed(&g, 2);
    begin(&r);
    for (struct entry *e = r.entry; e < r.entry + MOST; e++) {
        put(&r, e, &g);
        assert_true(e->there);
    }
    r.entry[MOST].key = random_key(&r, &g);
    assert_int_equal(saratoga__table_add(
                         &r.t, session_of(&r.entry[MOST]), &r.entry[MOST].key,
                         &r.entry[MOST].index, &r.entry[MOST].handle),
                     SARATOGA_ERR_LIMIT);
    check(&r);
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_found_and_counted),
        cmocka_unit_test(it_takes_no_more_than_it_may),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}

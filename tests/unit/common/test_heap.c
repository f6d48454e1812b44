/* SPDX-License-Identifier: MPL-2.0 */
#include "internal/common/heap.h"
#include "internal/common/rng.h"
#include "tests/support/alloc.h"
#include "tests/support/cmocka.h"

#define ITEMS 500u

/* The owner: key and slot of every item that it knows. */
struct owner {
    struct test_alloc alloc;
    cmn__mem mem;
    cmn__heap heap;
    uint64_t key[ITEMS];
    uint32_t slot[ITEMS];
};

static void moved(void *owner, uint64_t id, uint32_t slot) {
    struct owner *o = owner;
    o->slot[id] = slot;
}

static int setup(void **state) {
    static struct owner o;
    memset(&o, 0, sizeof(o));
    memset(o.slot, 0xff, sizeof(o.slot));
    o.mem = (cmn__mem){test_alloc_realloc, &o.alloc};
    cmn__heap_init(&o.heap, &o.mem, moved, &o);
    *state = &o;
    return 0;
}

static int teardown(void **state) {
    struct owner *o = *state;
    cmn__heap_free(&o->heap);
    return o->alloc.blocks == 0 ? 0 : -1;
}

static void assert_order(struct owner *o) {
    cmn__heap_item first = {0, 0};
    uint64_t best = UINT64_MAX;
    uint32_t in = 0;
    for (uint32_t id = 0; id < ITEMS; id++) {
        if (o->slot[id] != CMN__HEAP_NONE) {
            assert_int_equal(o->heap.item[o->slot[id]].id, id);
            assert_int_equal(o->heap.item[o->slot[id]].key, o->key[id]);
            best = o->key[id] < best ? o->key[id] : best;
            in++;
        }
    }
    assert_int_equal(in, o->heap.len);
    assert_int_equal(cmn__heap_first(&o->heap, &first), in > 0);
    assert_true(in == 0 || first.key == best);
}

TEST(the_lowest_key_is_first_whatever_is_done) {
    struct owner *o = *state;
    cmn__rng g;
    cmn__rng_seed(&g, 3);
    for (int i = 0; i < 100000; i++) {
        uint64_t id = cmn__rng_below(&g, ITEMS);
        uint64_t key = cmn__rng_below(&g, 1000);
        if (o->slot[id] == CMN__HEAP_NONE) {
            o->key[id] = key;
            assert_int_equal(cmn__heap_add(&o->heap, key, id), 0);
        } else if (cmn__rng_below(&g, 3) == 0) {
            o->key[id] = key;
            cmn__heap_update(&o->heap, o->slot[id], key);
        } else {
            cmn__heap_remove(&o->heap, o->slot[id]);
            assert_int_equal(o->slot[id], CMN__HEAP_NONE);
        }
        if (i % 101 == 0) {
            assert_order(o);
        }
    }
}

TEST(equal_keys_come_in_the_order_of_their_ids) {
    struct owner *o = *state;
    cmn__heap_item first;
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(cmn__heap_add(&o->heap, 5, (i * 37) % 100), 0);
    }
    for (uint64_t i = 0; i < 100; i++) {
        assert_true(cmn__heap_first(&o->heap, &first));
        assert_int_equal(first.id, i);
        cmn__heap_remove(&o->heap, 0);
    }
    assert_false(cmn__heap_first(&o->heap, &first));
}

TEST(without_memory_nothing_is_added) {
    struct owner *o = *state;
    for (uint64_t i = 0; i < 8; i++) {
        assert_int_equal(cmn__heap_add(&o->heap, 100 - i, i), 0);
        o->key[i] = 100 - i;
    }
    o->alloc.fail_at = o->alloc.calls + 1;
    assert_int_equal(cmn__heap_add(&o->heap, 1, 8), -1);
    assert_int_equal(o->slot[8], CMN__HEAP_NONE);
    assert_order(o);
    assert_int_equal(cmn__heap_add(&o->heap, 1, 8), 0);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(the_lowest_key_is_first_whatever_is_done),
        T(equal_keys_come_in_the_order_of_their_ids),
        T(without_memory_nothing_is_added),
    };
    return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}

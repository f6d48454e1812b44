/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Two hundred connections in virtual time, each over links of its own that
 * lose, reorder, duplicate, corrupt, stall and change the caller's address;
 * some run out of memory.  One that has ended is checked and followed by
 * another.
 *
 *   soak_tltcp [SECONDS [SEED]]  connections with this seed, the next and so on
 *   soak_tltcp one SEED          that one alone, as it went among the others
 *
 * With SIMNET_TRACE in the environment (see tests/simnet/trace.c) every
 * datagram is printed, moves and stalls too.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/simnet/world.h"

#define WORLDS 200
#define SLICE (200 * MS)
#define FORGET                                                    \
    (3000 * SEC) /* a starved connection may leave its peer alone \
                  */

static double seconds = 5;
static uint64_t next_seed = 1;
static uint64_t played, starved, moved, stalled;

struct soaked {
    struct world w;
    struct sim_random luck; /* its own: it goes the same way alone */
    uint64_t stall_until;
    bool starved;
};

static struct soaked *all[WORLDS];

static double wall(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static size_t resident(void) {
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f != NULL) {
        if (fscanf(f, "%*s %zu", &pages) != 1) {
            pages = 0;
        }
        (void)fclose(f);
    }
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static unsigned descriptors(void) {
    DIR *d = opendir("/proc/self/fd");
    unsigned n = 0;
    while (d != NULL && readdir(d) != NULL) {
        n++;
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    return n;
}

static void complain(struct soaked *s, const char *why) {
    char line[700];
    fail_msg("%s%s\n    %s\n    again: soak_tltcp one %" PRIu64,
             plan_describe(&s->w.plan, line, sizeof(line)),
             s->starved ? " (starved)" : "", why, s->w.plan.seed);
}

static void begin(struct soaked *s, uint64_t seed) {
    struct plan p;
    plan_random(&p, seed);
    sim_random_init(&s->luck, seed);
    p.quiet = false;
    p.no_flight_check = true; /* a new path starts with less than is out */
    s->stall_until = 0;
    s->starved = sim_random_chance(&s->luck, 0.1);
    if (s->starved) {
        p.alloc.fail_at = 1 + sim_random_below(&s->luck, 2000);
        p.no_delivery_check = true;
    }
    if (world_open(&s->w, &p) != 0 && !s->starved) {
        complain(s, "not opened");
    }
}

static void end(struct soaked *s) {
    if (!s->starved) {
        world_check_end(&s->w);
    }
    if (s->w.why[0] != '\0') {
        complain(s, s->w.why);
    }
    world_free(&s->w);
    if (s->w.alloc.blocks != 0) {
        complain(s, "memory was not given back");
    }
    played++;
    starved += s->starved;
}

static void disturb(struct soaked *s) {
    struct world *w = &s->w;
    uint64_t now = world_now(w);
    struct end *client = &w->end[CLIENT];
    if (client->connected && !client->closed && s->stall_until == 0 &&
        w->end[SERVER].connected && sim_random_chance(&s->luck, 0.01)) {
        moved++;
        trace_note(w, "the caller moves");
        (void)sim_peer_rebind(client->peer);
    }
    if (s->stall_until == 0 && sim_random_chance(&s->luck, 0.005)) {
        struct sim_link_config c = w->plan.link[CLIENT];
        c.loss = 1;
        stalled++;
        trace_note(w, "what the caller sends is lost");
        s->stall_until = now + 1 + sim_random_below(&s->luck, 5 * SEC);
        sim_net_set_link(w->net, w->link[CLIENT], &c);
    } else if (s->stall_until != 0 && now >= s->stall_until) {
        s->stall_until = 0;
        trace_note(w, "what the caller sends arrives again");
        sim_net_set_link(w->net, w->link[CLIENT], &w->plan.link[CLIENT]);
    }
}

/* True when the world has ended. */
static bool advance(struct soaked *s) {
    struct world *w = &s->w;
    bool over;
    world_run_for(w, SLICE);
    over = world_is_over(w) ||
           (s->starved && (world_now(w) > FORGET || w->end[CLIENT].closed ||
                           w->end[CLIENT].peer == NULL));
    if (w->why[0] != '\0') {
        complain(s, w->why);
    }
    if (over) {
        end(s);
    } else {
        disturb(s);
    }
    return over;
}

TEST(one_connection_lives_and_dies) {
    struct soaked *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    begin(s, next_seed);
    while (!advance(s)) {
    }
    free(s);
}

static void
two_hundred_connections_live_and_die_while_memory_stays_flat(void **state) {
    double start = wall();
    size_t early = 0;
    unsigned open_files = descriptors();
    (void)state;
    for (int i = 0; i < WORLDS; i++) {
        all[i] = calloc(1, sizeof(*all[i]));
        assert_non_null(all[i]);
        begin(all[i], next_seed++);
    }
    while (wall() < start + seconds) {
        for (int i = 0; i < WORLDS; i++) {
            if (advance(all[i])) {
                begin(all[i], next_seed++);
            }
        }
        if (early == 0 && wall() > start + seconds / 2) {
            early = resident();
        }
    }
    printf("%" PRIu64 " connections ended, %" PRIu64
           " of them starved; %" PRIu64 " moves, %" PRIu64 " stalls; %.1f MB\n",
           played, starved, moved, stalled, (double)resident() / 1e6);
    assert_true(early == 0 || resident() < early + early / 4 + 20000000);
    for (int i = 0; i < WORLDS; i++) {
        all[i]->starved = true; /* cut off in the middle */
        end(all[i]);
        free(all[i]);
    }
    assert_int_equal(descriptors(), open_files);
}

int main(int argc, char **argv) {
    const struct CMUnitTest many[] = {
        cmocka_unit_test(
            two_hundred_connections_live_and_die_while_memory_stays_flat),
    };
    const struct CMUnitTest alone[] = {
        cmocka_unit_test(one_connection_lives_and_dies),
    };
    bool one = argc == 3 && strcmp(argv[1], "one") == 0;
    if (argc > 1 && !one) {
        seconds = strtod(argv[1], NULL);
    }
    if (argc > 2) {
        next_seed = strtoull(argv[2], NULL, 10);
    }
    return one ? cmocka_run_group_tests_name("soak", alone, NULL, NULL)
               : cmocka_run_group_tests_name("soak", many, NULL, NULL);
}

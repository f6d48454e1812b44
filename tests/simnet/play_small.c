/* SPDX-License-Identifier: MPL-2.0 */
/* How much of a link that is too small is used by pictures that are shown:
 * `play_small [SEEDS [CLIP]]` prints a table, of all clips or one.
 *
 * `play_small case NAME=VALUE ...` plays one case, `play_small trace ...`
 * prints what became of its pictures: clip, link (part of the stream's rate),
 * latency, rtt (ms), loss, bursts, row, jitter (ms, each way), share (of the
 * packets that have it), slot (ms), gop, from, seed, seeds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simnet/small.h"

static void print_case(const struct small_case *on, unsigned seeds) {
    struct small s = small_play_case(on, seeds);
    printf("%-9s %5.2f %4u | %4.2f (%4.2f) %4.2f %3.0f %% | %4.2f %4.2f | "
           "%4.2f %4.2f %5u ms, b. %5u",
           small_name(on->kind), on->part, (unsigned)(on->latency / MS), s.used,
           s.worst, s.bound, s.bound > 0 ? 100 * s.used / s.bound : 100, s.seen,
           s.seen_bound, s.late, s.dropped, (unsigned)(s.freeze / MS),
           (unsigned)(s.freeze_bound / MS));
    if (on->loss > 0 || on->bursts > 0) {
        printf(" | seen %.2f %%, at worst %.2f", 100 * s.seen,
               100 * s.seen_worst);
    }
    printf("\n");
    fflush(stdout);
}

static int kind_of(const char *name) {
    for (int kind = 0; kind < SMALL_KINDS; kind++) {
        if (strcmp(name, small_name(kind)) == 0) {
            return kind;
        }
    }
    fprintf(stderr, "no clip %s\n", name);
    exit(2);
}

/* False: no such name. */
static bool set(struct small_case *on, unsigned *seeds, const char *word) {
    const char *text = strchr(word, '=');
    size_t n = text != NULL ? (size_t)(text - word) : 0;
    double value = text != NULL ? strtod(text + 1, NULL) : 0;
#define IS(name) (n == strlen(name) && strncmp(word, name, n) == 0)
    if (IS("clip")) {
        on->kind = kind_of(text + 1);
    } else if (IS("link")) {
        on->part = value;
    } else if (IS("latency")) {
        on->latency = (uint64_t)value * MS;
    } else if (IS("rtt")) {
        on->rtt = (uint64_t)value * MS;
    } else if (IS("loss")) {
        on->loss = value;
    } else if (IS("bursts")) {
        on->bursts = value;
    } else if (IS("row")) {
        on->in_a_row = (unsigned)value;
    } else if (IS("jitter")) {
        on->jitter = (uint64_t)(value * MS);
    } else if (IS("share")) {
        on->jitter_share = value;
    } else if (IS("slot")) {
        on->slot = (uint64_t)(value * MS);
    } else if (IS("gop")) {
        on->gop = (uint32_t)value;
    } else if (IS("from")) {
        on->from = (uint32_t)value;
    } else if (IS("seed")) {
        on->seed = (uint64_t)value;
    } else if (IS("seeds")) {
        *seeds = (unsigned)value;
    } else {
        return false;
    }
#undef IS
    return true;
}

static int play_case(int argc, char **argv) {
    struct small_case on = {.part = 0.75, .latency = 400 * MS};
    unsigned seeds = 3;
    for (int i = 2; i < argc; i++) {
        if (!set(&on, &seeds, argv[i])) {
            fprintf(stderr, "what is %s?\n", argv[i]);
            return 2;
        }
    }
    if (strcmp(argv[1], "trace") == 0) {
        small_trace(&on);
    } else {
        print_case(&on, seeds);
    }
    return 0;
}

int main(int argc, char **argv) {
    static const double parts[] = {0.5, 0.65, 0.75, 0.85, 0.95, 1.2};
    static const uint64_t latencies[] = {200 * MS, 400 * MS};
    unsigned seeds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 3;
    if (argc > 1 && seeds == 0) {
        return play_case(argc, argv);
    }
    printf("%-9s %5s %4s | %-22s | %-9s | %s\n", "clip", "link", "lat",
           "used, worst, bound", "seen, b.", "late/given up/freeze");
    for (int kind = 0; kind < SMALL_KINDS; kind++) {
        for (size_t i = 0; i < 12; i++) {
            struct small_case on = {.kind = kind,
                                    .part = parts[i % 6],
                                    .latency = latencies[i / 6]};
            if (argc < 3 || strcmp(argv[2], small_name(kind)) == 0) {
                print_case(&on, seeds);
            }
        }
    }
    return 0;
}

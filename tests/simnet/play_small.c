/* SPDX-License-Identifier: MPL-2.0 */
/* How much of a link that is too small is used by pictures that are shown:
 * `play_small [SEEDS [CLIP]]` prints a table, of all clips or one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simnet/small.h"

static void print_case(int kind, double part, uint64_t latency,
                       unsigned seeds) {
    struct small s = small_play(kind, part, latency, seeds);
    printf("%-9s %5.2f %4u | %4.2f (%4.2f) %4.2f %3.0f %% | %4.2f %4.2f | "
           "%4.2f %4.2f %5u ms\n",
           small_name(kind), part, (unsigned)(latency / MS), s.used, s.worst,
           s.bound, s.bound > 0 ? 100 * s.used / s.bound : 100, s.seen,
           s.seen_bound, s.late, s.dropped, (unsigned)(s.freeze / MS));
    fflush(stdout);
}

int main(int argc, char **argv) {
    static const double parts[] = {0.5, 0.65, 0.75, 0.85, 0.95, 1.2};
    static const uint64_t latencies[] = {200 * MS, 400 * MS};
    unsigned seeds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 3;
    printf("%-9s %5s %4s | %-22s | %-9s | %s\n", "clip", "link", "lat",
           "used, worst, bound", "seen, b.", "late/given up/freeze");
    for (int kind = 0; kind < SMALL_KINDS; kind++) {
        for (size_t i = 0; i < 12; i++) {
            if (argc < 3 || strcmp(argv[2], small_name(kind)) == 0) {
                print_case(kind, parts[i % 6], latencies[i / 6], seeds);
            }
        }
    }
    return 0;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* How much of a link that is too small is used by pictures that are shown:
 * `play_small [SEEDS]` prints a table. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/simnet/small.h"

int main(int argc, char **argv) {
    static const double parts[] = {0.5, 0.65, 0.75, 0.85, 0.95, 1.2};
    static const uint64_t latencies[] = {200 * MS, 400 * MS};
    unsigned seeds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 3;
    printf("%-9s %5s %4s | %-17s | %-13s | %s\n", "clip", "link", "lat",
           "used, bound", "seen, bound", "late/given up/freeze");
    for (int kind = 0; kind < SMALL_KINDS; kind++) {
        for (size_t l = 0; l < 2; l++) {
            for (size_t i = 0; i < 6; i++) {
                struct small s =
                    small_play(kind, parts[i], latencies[l], seeds);
                printf("%-9s %5.2f %4u | %4.2f (%4.2f) %4.2f | %4.2f %4.2f | "
                       "%4.2f %4.2f %4u ms\n",
                       small_name(kind), parts[i],
                       (unsigned)(latencies[l] / MS), s.used, s.worst, s.bound,
                       s.seen, s.seen_bound, s.late, s.dropped,
                       (unsigned)(s.freeze / MS));
            }
        }
    }
    return 0;
}

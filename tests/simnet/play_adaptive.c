/* SPDX-License-Identifier: MPL-2.0 */
/* An adaptive stream over a recorded link, by hand:
 *
 *   play_adaptive TRACE QUEUE SEED [RTT_MS [B_FRAMES [CONGESTION [-v]]]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/trace_file.h"
#include "tests/simnet/adaptive.h"

int main(int argc, char **argv) {
    char why[SIM_TRACE_WHY_MAX];
    struct outcome o;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    struct adaptive a = {
        .encoder = {.fps = 25,
                    .start_bps = 1e6,
                    .min_bps = 100e3,
                    .max_bps = 30e6,
                    .gain = 1,
                    .steered = true,
                    .gop = 50,
                    .latency = 400 * MS,
                    .b_frames =
                        argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 0},
        .trace = argc > 1 ? trace_file(argv[1], why) : NULL,
        .trace_start = (seed - 1) * 17 * SEC,
        .length = 60 * SEC,
        .rtt = (argc > 4 ? strtoull(argv[4], NULL, 10) : 40) * MS,
        .queue = argc > 2 ? strtoull(argv[2], NULL, 10) : 250000,
        .seed = seed,
        .congestion = argc > 6 && argv[6][0] != '-' ? argv[6] : NULL,
        .verbose = argc > 7 && argv[7][0] == '-',
    };

    if (a.trace == NULL) {
        (void)fprintf(stderr, "usage: play_adaptive TRACE QUEUE SEED ...\n");
        return 2;
    }
    adaptive_play(&a, &o);
    printf("in 200 ms %5.1f %%, in 400 ms %5.1f %%, freeze %5.2f s, used %4.1f "
           "%%, keys %u, lost %u\n",
           100 * o.in_200, 100 * o.in_400, (double)o.freeze / 1e9, 100 * o.used,
           o.keys, o.lost);
    return 0;
}

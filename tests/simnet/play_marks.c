/* SPDX-License-Identifier: MPL-2.0 */
/* One point of a trade-off, as JSON; see bench/marks.py. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simnet/marks.h"

static int usage(void) {
    fprintf(stderr, "usage: play_marks beside RIVAL PARAM VALUE SEEDS\n"
                    "       play_marks satellite WINDOW SEEDS\n");
    return 2;
}

static unsigned seeds_of(const char *text) {
    unsigned long n = strtoul(text, NULL, 10);
    return n > 0 && n <= MARKS_SEEDS_MAX ? (unsigned)n : 1;
}

/* A stream of 2.8 Mbit/s on 4 Mbit/s, after another flow. */
static void beside(char **word) {
    struct path on = path_of(4);
    struct mark m;
    on.rival = word[0];
    on.param = word[1];
    on.value = strtod(word[2], NULL);
    m = play_all("beside", &on, seeds_of(word[3]));
    printf("{\"seen\":%.4f,\"F\":%.3f,\"late\":%.4f,\"useless\":%.4f}\n",
           m.seen, m.ratio, m.late, m.useless);
}

/* The same on a long path that holds it; and what such a start costs another
 * flow where the path holds less. */
static void satellite(char **word) {
    struct path on = path_of(6);
    struct mark m;
    struct harm h;
    on.rtt = 600 * MS;
    on.latency = 400 * MS;
    on.initial_window = (uint32_t)strtoul(word[0], NULL, 10);
    on.loss = 0.02;
    m = play_all("satellite", &on, seeds_of(word[1]));
    on.rate = 1e6;
    on.loss = 0;
    on.rival = "cubic";
    h = play_harm(&on, seeds_of(word[1]));
    printf("{\"seen\":%.4f,\"late\":%.4f,\"useless\":%.4f,"
           "\"kept\":%.4f,\"overflow\":%.0f}\n",
           m.seen, m.late, m.useless, h.kept, h.overflow);
}

int main(int argc, char **argv) {
    if (argc == 6 && strcmp(argv[1], "beside") == 0) {
        beside(argv + 2);
    } else if (argc == 4 && strcmp(argv[1], "satellite") == 0) {
        satellite(argv + 2);
    } else {
        return usage();
    }
    return 0;
}

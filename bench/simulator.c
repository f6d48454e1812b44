/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Speed of the simulator: bench_simulator SCENARIO [NAME=VALUE ...]. Runs a
 * scenario without printing what happens, and prints one JSON object: packet
 * events (a packet that enters or leaves a link), timers fired, and the
 * processor time of the run, without reading the scenario and building the
 * network.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/show.h"

#define TEXT_MAX ((size_t)1 << 20)

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static char *simulator_text(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = f != NULL ? calloc(1, TEXT_MAX + 1) : NULL;
    if (text != NULL && fread(text, 1, TEXT_MAX, f) == TEXT_MAX) {
        free(text);
        text = NULL;
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return text;
}

static uint64_t packet_events(const struct sim_net *net) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < sim_net_links(net); i++) {
        const struct sim_link_stats *s = sim_link_stats(sim_net_link(net, i));
        n += s->offered + s->delivered;
    }
    return n;
}

static bool simulator_run(const struct scenario *s, char *why) {
    struct stage t;
    bool ok = stage_build(&t, s, why);
    if (ok) {
        double before = cpu_seconds();
        stage_run(&t, s->duration);
        printf("{\"events\":%" PRIu64 ",\"fired\":%" PRIu64
               ",\"cpu_seconds\":%.6f}\n",
               packet_events(t.net), sim_net_loop(t.net)->fired,
               cpu_seconds() - before);
    }
    stage_free(&t);
    return ok;
}

int main(int argc, char **argv) {
    static char why[SCENARIO_WHY_MAX];
    struct scenario s = {0};
    char *text = argc > 1 ? simulator_text(argv[1]) : NULL;
    bool ok;
    if (text == NULL) {
        fprintf(stderr, "usage: %s SCENARIO [NAME=VALUE ...]\n", argv[0]);
        return 2;
    }
    show_keep_memory();
    ok = scenario_read(&s, text, argv + 2, argc - 2, why) &&
         simulator_run(&s, why);
    if (!ok) {
        fprintf(stderr, "%s: %s: %s\n", argv[0], argv[1], why);
    }
    scenario_free(&s);
    free(text);
    return ok ? 0 : 1;
}

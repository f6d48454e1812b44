/* SPDX-License-Identifier: MPL-2.0 */
/* Waits for a processor, as the kernel counts them for each thread. */
#include "tests/loopback/costs/witness.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/cmocka.h"

#define LOOK_US 100000u
#define LONG 0.04 /* s of them */

static double witness_now(void) {
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Of all threads of a process so far, in s; 0 where the kernel counts none. */
static double witness_waits(pid_t pid) {
    unsigned long long sum = 0;
    const struct dirent *e;
    char path[320];
    DIR *d;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    d = opendir(path);
    while (d != NULL && (e = readdir(d)) != NULL) {
        unsigned long long wait = 0;
        FILE *f;

        (void)snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat",
                       (int)pid, e->d_name);
        f = e->d_name[0] != '.' ? fopen(path, "r") : NULL;
        if (f != NULL) {
            sum += fscanf(f, "%*u %llu", &wait) == 1 ? wait : 0;
            (void)fclose(f);
        }
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    return (double)sum * 1e-9;
}

static void witness_note(struct witness *w, double wait) {
    w->longest = wait > w->longest ? wait : w->longest;
}

static void *witness_watch(void *arg) {
    struct witness *w = arg;
    double own = witness_waits(getpid());
    double theirs = witness_waits(w->other);

    while (!atomic_load(&w->end)) {
        double at = witness_now();
        double x;

        (void)usleep(LOOK_US);
        witness_note(w, witness_now() - at - LOOK_US * 1e-6);
        x = witness_waits(getpid());
        witness_note(w, x - own);
        own = x;
        x = witness_waits(w->other);
        witness_note(w, x - theirs);
        theirs = x;
    }
    return NULL;
}

void witness_begin(struct witness *w, pid_t other) {
    memset(w, 0, sizeof(*w));
    w->other = other;
    assert_int_equal(pthread_create(&w->thread, NULL, witness_watch, w), 0);
}

bool witness_saw_starvation(struct witness *w) {
    atomic_store(&w->end, true);
    assert_int_equal(pthread_join(w->thread, NULL), 0);
    print_message("  longest wait for a processor in %u ms: %.0f ms\n",
                  LOOK_US / 1000, w->longest * 1e3);
    return w->longest > LONG;
}

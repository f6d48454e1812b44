/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_LOOPBACK_COSTS_WITNESS_H
#define TESTS_LOOPBACK_COSTS_WITNESS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/* Watches whether this process and another get the processor when they need it.
 * Where they do not, a late section says nothing about the server. */
struct witness {
    pthread_t thread;
    pid_t other;
    atomic_bool end;
    double longest; /* wait for a processor within a tenth of a second, in s */
};

void witness_begin(struct witness *w, pid_t other);
/* Whether either had to wait long. */
bool witness_saw_starvation(struct witness *w);

#endif /* TESTS_LOOPBACK_COSTS_WITNESS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/event.h
 * @brief Virtual time: timers, and a loop that jumps from one to the next.
 */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/heap.h"

struct sim_timer;

/** @brief Called when a timer is due; the timer is then idle and may be armed
 * again.
 */
typedef void (*sim_timer_fn)(struct sim_timer *t, uint64_t now);

/** @brief A timer; its owner sets fire and user. */
struct sim_timer {
    sim_timer_fn fire; /**< what to do */
    void *user;        /**< user pointer */
    uint64_t at;       /**< when; set by the loop */
    size_t slot;       /**< 1 + index in the queue, 0: idle; set by the loop */
};

/** @brief An armed timer in the queue. */
struct sim_event {
    uint64_t at;             /**< when */
    uint64_t order;          /**< breaks ties */
    struct sim_timer *timer; /**< NULL: it is firing */
};

/** @brief A clock and its timers; zeroed: at time 0. */
struct sim_loop {
    uint64_t now;            /**< virtual time, ns */
    struct sim_event *queue; /**< heap, the earliest first */
    size_t count;            /**< entries */
    size_t cap;              /**< room */
    uint64_t order;          /**< of the next one armed */
    uint64_t fired;          /**< timers fired so far */
    bool gap;                /**< the first entry is of the timer that fires */
};

/**
 * @brief Arms a timer, or moves an armed one.
 *
 * Timers with equal times fire in the order of arming; one armed again for the
 * same time keeps its position.
 * @param l   loop
 * @param t   timer
 * @param at  when, ns; the past means now; SIM_NEVER stops the timer
 * @return false: out of memory; the timer is idle
 */
bool sim_loop_arm(struct sim_loop *l, struct sim_timer *t, uint64_t at);
/**
 * @brief Makes a timer idle.
 * @param l  loop
 * @param t  timer, armed or not
 */
void sim_loop_stop(struct sim_loop *l, struct sim_timer *t);
/** @brief When the next timer is due. @param l  loop @return ns, or SIM_NEVER
 */
uint64_t sim_loop_next(struct sim_loop *l);
/**
 * @brief Fires the next timer.
 * @param l      loop
 * @param until  latest time, ns
 * @return false: none was due; the clock is then at @p until, unless that is
 * SIM_NEVER
 */
bool sim_loop_step(struct sim_loop *l, uint64_t until);
/**
 * @brief Fires all timers up to a time.
 * @param l      loop
 * @param until  ns; the clock is then at this time
 */
void sim_loop_run(struct sim_loop *l, uint64_t until);
/** @brief Frees the queue and drops armed timers. @param l  loop */
void sim_loop_free(struct sim_loop *l);

#endif /* SIM_EVENT_H */

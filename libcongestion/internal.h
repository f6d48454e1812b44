/* SPDX-License-Identifier: MPL-2.0 */
/*
 * What the controllers share: rules common to every window controller,
 * sanitised inputs, and parameters by name.
 *
 * Window controllers put struct window first in their state.
 */
#ifndef LIBCONGESTION_INTERNAL_H
#define LIBCONGESTION_INTERNAL_H

#include <congestion/congestion.h>

/* Upper limit of byte counts and rates. */
#define CONG_HUGE 1e18
#define CONG_NS 1e9 /* nanoseconds per second */

#define CONG__COUNT(a) (sizeof(a) / sizeof((a)[0]))

extern const struct cong_ops cong__auto;
extern const struct cong_ops cong__bbr;
extern const struct cong_ops cong__cubic;
extern const struct cong_ops cong__fast;
extern const struct cong_ops cong__fixed;
extern const struct cong_ops cong__mod_westwoodnew;
extern const struct cong_ops cong__newreno;
extern const struct cong_ops cong__peach;
extern const struct cong_ops cong__prague;
extern const struct cong_ops cong__reno;
extern const struct cong_ops cong__sack;
extern const struct cong_ops cong__stfrc;
extern const struct cong_ops cong__tahoe;
extern const struct cong_ops cong__tfrc;
extern const struct cong_ops cong__tibet;
extern const struct cong_ops cong__vegas;
extern const struct cong_ops cong__westwood;
extern const struct cong_ops cong__westwoodnew;
extern const struct cong_ops cong__yam;

/* Finds a built-in controller; registered ones cannot take its name. */
const struct cong_ops *cong__find_builtin(const char *name);

/* A monotonic clock: a step back of the host's clock reads as no time passed,
 * and later readings count from there. */
struct cong__clock {
    cong_time newest;  /* of the host's clock */
    cong_time skipped; /* sum of the steps back */
};

/* HyStart++; all RTTs in ns. */
struct cong__hystart {
    double on;       /* parameter: 0 or 1; < 0: the controller has none */
    double low;      /* of this round; 0: none */
    double last;     /* of the previous round */
    double baseline; /* at the start of conservative slow start; 0: not in it */
    unsigned samples; /* of this round */
    unsigned rounds;  /* of conservative slow start */
};

struct window {
    struct cong cc;
    double iw; /* initial and restart window, segments */
    struct cong__hystart hystart;
    struct cong__clock clock;
};

/* NaN and negative values give 0; never above CONG_HUGE. */
double cong__clean(double x);
/* Converts to seconds; < 0 when t is none. */
double cong__seconds(cong_time t);
/* Converts seconds to nanoseconds, rounded and clamped to the type. */
cong_time cong__ns(double seconds);
/* Converts a double to nanoseconds: 0 to CONG_HUGE. */
cong_time cong__to_time(double ns);
/* a - b, 0 when time went back. */
cong_time cong__elapsed(cong_time a, cong_time b);
/* t + d and t - d, d >= 0, clamped to the type. */
cong_time cong__later(cong_time t, cong_time d);
cong_time cong__earlier(cong_time t, cong_time d);
/* Initialise and read a clock. */
void cong__clock_init(struct cong__clock *c, cong_time now);
cong_time cong__clock_read(struct cong__clock *c, cong_time now);

/* Sets the window within [mss, cwnd_max]. */
void cong__set_cwnd(struct cong *cc, double cwnd);
/* Sets the threshold, at least two segments. */
void cong__set_ssthresh(struct cong *cc, double ssthresh);

/* min(4 MSS, max(2 MSS, 4380 bytes)) of RFC 3390, in segments. */
double cong__initial_segments(double mss);
/* The initialisation common to all window controllers. */
void cong__window_init(struct window *w, cong_time now);
/* The growth gate: the bytes by which this feedback may make the window grow;
 * 0 when the application was the limit or a recovery period is open. */
double cong__growth(const struct cong_ack *ack);
/* The same for a controller with the parameter "hystart": less in conservative
 * slow start, whose end it also detects (hystart.c). */
double cong__hystart_growth(struct window *w, const struct cong_ack *ack);
/* Slow start up to ssthresh; returns the unused bytes. */
double cong__slow_start(struct cong *cc, double n);
/* Slow start, then one step of congestion avoidance. */
void cong__grow(struct cong *cc, double n);
/* One reduction: sets threshold and window to target, at least 2 MSS and at
 * most the current window. */
void cong__cut(struct cong *cc, double target);
/* Timer expiry; sets the threshold only on the first expiry for a packet. */
void cong__timeout(struct cong *cc, const struct cong_event *ev, double target);
/* Restart after a silence of at least one RTO. */
void cong__idle(struct window *w, const struct cong_event *ev);

/* A parameter: a double in the controller's state. */
struct cong__param {
    const char *name;
    size_t offset;
    double min;
    double max;
};
#define CONG__PARAM(state, field, name, min, max) \
    { (name), offsetof(struct state, field), (min), (max) }
#define CONG__FLAG(state, field, name) \
    { (name), offsetof(struct state, field), 0, 1 }

/* Sets one of n parameters; 0, -1 unknown, -2 out of range. */
int cong__set_param(struct cong *cc, const struct cong__param *params, size_t n,
                    const char *name, double value);
/* The same, plus "hystart" if the controller has it, and "iw", which sets the
 * window while it is still the initial one. */
int cong__set_window_param(struct window *w, const struct cong__param *params,
                           size_t n, const char *name, double value);

#endif /* LIBCONGESTION_INTERNAL_H */

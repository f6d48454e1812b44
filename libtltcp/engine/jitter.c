/* SPDX-License-Identifier: MPL-2.0 */
/* Learns how much of the delay is jitter. */
#include "libtltcp/engine/jitter.h"

#include <math.h>

#define NS_PER_S 1e9
#define SPACING 40000000  /* ns between samples: jitter is brief */
#define STALE 10000000000 /* ns without a sample; then jitter is forgotten */
#define KNOWN 24u         /* samples before there is an answer */
#define LEAST 12e6        /* ns; less is noise, ... */
#define LEAST_BYTES 3600  /* ... or that of packets of a slow link */
#define DEVIATIONS 4      /* times what samples differ from those beside them */
#define QUARTILES 4       /* times the lower one; a link that pauses has none */
/* Autocorrelation at the first lag, at most; likewise where others may fill a
 * short queue. */
#define FIRST_LAG 0.35
#define FIRST_LAG_LOSSY 0.25
#define LAGS 8u    /* of which the sum of squares ... */
#define SQUARES 24 /* is below this, as in 99.8 % of random sequences */

static unsigned jitter_known(const tltcp__jitter *j) {
    return j->count < TLTCP__JITTER_SAMPLES ? j->count : TLTCP__JITTER_SAMPLES;
}

/* The nth newest, from 0. */
static double jitter_rest(const tltcp__jitter *j, unsigned n) {
    return (double)j->rest[(j->count - 1 - n) % TLTCP__JITTER_SAMPLES];
}

static void jitter_sort(const tltcp__jitter *j, float *sorted) {
    for (unsigned i = 0; i < jitter_known(j); i++) {
        unsigned at = i;
        for (; at > 0 && sorted[at - 1] > j->rest[i]; at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = j->rest[i];
    }
}

static double jitter_mean(const tltcp__jitter *j) {
    unsigned n = jitter_known(j);
    double sum = 0;
    for (unsigned i = 0; i < n; i++) {
        sum += (double)j->rest[i];
    }
    return sum / n;
}

/* By how much a sample differs from those before and after it. */
static double jitter_deviation(const tltcp__jitter *j) {
    unsigned n = jitter_known(j);
    double sum = 0;
    for (unsigned i = 1; i + 1 < n; i++) {
        double rest = jitter_rest(j, i);
        sum += (rest - jitter_rest(j, i - 1)) * (rest - jitter_rest(j, i + 1));
    }
    return sqrt(fmax(sum / (n - 2), 0));
}

static double jitter_covariance(const tltcp__jitter *j, double mean,
                                unsigned lag) {
    unsigned n = jitter_known(j);
    double sum = 0;
    for (unsigned i = 0; i + lag < n; i++) {
        sum += (jitter_rest(j, i) - mean) * (jitter_rest(j, i + lag) - mean);
    }
    return sum;
}

/* Whether a sample says little about the next ones. The pictures of others have
 * a pattern, which repeats (test of Ljung and Box, 1978). */
static bool jitter_is_random(const tltcp__jitter *j, double mean) {
    double n = jitter_known(j);
    double variance = jitter_covariance(j, mean, 0);
    double first = jitter_covariance(j, mean, 1) / variance;
    double squares = 0;
    for (unsigned lag = 1; lag <= LAGS; lag++) {
        double r = jitter_covariance(j, mean, lag) / variance;
        squares += r * r / (n - lag);
    }
    return first <= (j->lossy ? FIRST_LAG_LOSSY : FIRST_LAG) &&
           n * (n + 2) * squares <= SQUARES;
}

/* What nearly all samples stay below. */
static cong_time jitter_most(const tltcp__jitter *j) {
    float sorted[TLTCP__JITTER_SAMPLES] = {0};
    unsigned n = jitter_known(j);
    double mean = jitter_mean(j);
    double median, tail, delay;
    jitter_sort(j, sorted);
    median = (double)sorted[n / 2];
    tail = fmax(mean - median, 0);
    delay = fmin(2 * (median - tail), (double)sorted[n * 9 / 10]);
    delay = fmin(delay, QUARTILES * (double)sorted[n / 4]);
    delay = fmin(delay, DEVIATIONS * jitter_deviation(j));
    return delay > fmax(LEAST, j->packets) && jitter_is_random(j, mean)
               ? (cong_time)delay
               : 0;
}

static void jitter_take(tltcp__jitter *j, double rest, double rate) {
    j->packets -= j->packets / TLTCP__JITTER_SAMPLES;
    j->packets = fmax(j->packets, LEAST_BYTES / rate * NS_PER_S);
    j->rest[j->count % TLTCP__JITTER_SAMPLES] = (float)rest;
    /* does not wrap round to small counts */
    j->count = j->count + 1 < 2 * TLTCP__JITTER_SAMPLES ? j->count + 1
                                                        : TLTCP__JITTER_SAMPLES;
    j->delay = j->count >= KNOWN ? jitter_most(j) : 0;
}

void tltcp__jitter_on_ack(tltcp__jitter *j, const tltcp__cross_sample *newest,
                          cong_time min_rtt, double rate) {
    double took = (double)(newest->sent - j->sent) / NS_PER_S;
    double more = newest->bytes - j->bytes;
    double delay = (double)(newest->rtt - min_rtt);
    if (rate <= 0 || min_rtt <= 0 || took < 0) {
        return;
    }
    j->queue = j->sent > 0 ? fmax(j->queue + more - took * rate, 0) : 0;
    j->sent = newest->sent;
    j->bytes = newest->bytes;
    if (newest->sent - j->taken >= STALE) {
        j->count = 0;
        j->delay = 0;
    }
    /* With a rate that is too low, the model's queue is too long: it would
     * explain the jitter. */
    if (newest->sent - j->taken >= SPACING && j->queue <= LEAST_BYTES) {
        j->taken = newest->sent;
        delay -= j->queue / rate * NS_PER_S;
        jitter_take(j, fmax(delay, 0), rate);
    }
}

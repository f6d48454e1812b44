/* SPDX-License-Identifier: MPL-2.0 */
/* Requests fewer ACKs from the peer where the path has slack. */
#include "libtltcp/engine/ack_frequency.h"

/* ACKs of a full window; there are fewer of what an application sends. */
#define IN_WINDOW 2.0
#define EVERY_MAX 32 /* the delay is usually over before */
/* On a return path that is too slow, the delay alone counts. */
#define EVERY_THIN 255
/* The last packets before a pause wait for this part of an RTT, ... */
#define PART_OF_RTT 4
/* ... but at least this long, since the next one may be on its way. */
#define WAIT_MIN (5 * TLTCP_MS)
/* A request stands until the next one would differ by half. */
#define DIFFERS(old, new) (2 * (new) > 3 * (old) || 3 * (new) < 2 * (old))

void tltcp__ack_frequency_init(tltcp__ack_frequency *f, bool on, uint8_t every,
                               uint32_t delay_ms) {
    *f = (tltcp__ack_frequency){.base = every,
                                .every = every,
                                .base_delay_ms = (uint16_t)delay_ms,
                                .delay_ms = (uint16_t)delay_ms,
                                .on = on};
}

static uint8_t wanted_every(const tltcp__ack_frequency *f,
                            const tltcp__cc *cc) {
    double n = tltcp__cc_window(cc) / (IN_WINDOW * cc->cong->mss);
    n = n < EVERY_MAX ? n : EVERY_MAX;
    return cc->slack && n > f->base ? (uint8_t)n : f->base;
}

static uint16_t wanted_delay(const tltcp__ack_frequency *f,
                             const tltcp__cc *cc) {
    tltcp_time wait = (tltcp_time)cc->rtt.srtt / PART_OF_RTT;
    tltcp_time max = f->base_delay_ms * TLTCP_MS;
    wait = wait > WAIT_MIN ? wait : WAIT_MIN;
    wait = wait < max ? wait : max;
    return (uint16_t)((wait + TLTCP_MS - 1) / TLTCP_MS);
}

static void request(tltcp__ack_frequency *f, uint8_t every, uint16_t delay_ms,
                    tltcp_time now) {
    f->calm = every == EVERY_THIN;
    f->every = every;
    f->delay_ms = delay_ms;
    f->requested_at = now;
    f->due = true;
}

static uint16_t thin_delay(const tltcp__ack_frequency *f, cong_time interval) {
    uint16_t delay = (uint16_t)((tltcp_time)interval / TLTCP_MS);
    return f->patient || delay < f->base_delay_ms ? delay : f->base_delay_ms;
}

void tltcp__ack_frequency_update(tltcp__ack_frequency *f, const tltcp__cc *cc,
                                 cong_time interval, tltcp_time now) {
    uint8_t every = wanted_every(f, cc);
    uint16_t delay;
    if (!f->on || cc->rtt.srtt < 0) {
        return;
    }
    if (interval > 0) {
        delay = thin_delay(f, interval);
        if (f->every != EVERY_THIN || f->delay_ms != delay) {
            request(f, EVERY_THIN, delay, now);
        }
        return;
    }
    if (every == f->base) { /* at once: the path has no slack */
        if (f->every != f->base) {
            request(f, f->base, f->base_delay_ms, now);
        }
        return;
    }
    delay = wanted_delay(f, cc);
    if (now - f->requested_at >= (tltcp_time)cc->rtt.srtt &&
        (DIFFERS(f->every, every) || DIFFERS(f->delay_ms, delay))) {
        request(f, every, delay, now);
    }
}

void tltcp__ack_frequency_restart(tltcp__ack_frequency *f) {
    f->due = f->due || (f->on && f->every != f->base);
    f->every = f->base;
    f->calm = false;
    f->delay_ms = f->base_delay_ms;
}

void tltcp__ack_frequency_put(tltcp__ack_frequency *f, cmn__writer *w) {
    tltcp__chunk_put(w, TLTCP__ACK_FREQUENCY,
                     f->calm ? TLTCP__FREQUENCY_CALM : 0, 4);
    cmn__put16(w, f->every);
    cmn__put16(w, f->delay_ms);
    f->due = false;
}

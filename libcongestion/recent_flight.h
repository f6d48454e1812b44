/* SPDX-License-Identifier: MPL-2.0 */
/* The most bytes in flight in the last two to four seconds. */
#ifndef LIBCONGESTION_RECENT_FLIGHT_H
#define LIBCONGESTION_RECENT_FLIGHT_H

#include "libcongestion/internal.h"

struct cong__recent_flight {
    double most;    /* in this span, bytes ... */
    double before;  /* ... and in the one before; 0: there was none */
    cong_time from; /* when this span began; the owner sets it at the start */
};

/* Processes a feedback. */
void cong__recent_flight_ack(struct cong__recent_flight *f,
                             const struct cong_ack *ack);
double cong__recent_flight(const struct cong__recent_flight *f);

#endif /* LIBCONGESTION_RECENT_FLIGHT_H */

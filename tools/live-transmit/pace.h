/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/pace.h
 * @brief When the data of a file or pipe is to be sent: its time line is put on
 * the clock once. A late wake-up is made up for, so that late ones do not add
 * up.
 */
#ifndef TOOLS_TRANSMIT_PACE_H
#define TOOLS_TRANSMIT_PACE_H

#include <stdbool.h>
#include <stdint.h>

/** @brief The time line; zeroed initially. */
struct pace {
    bool started;
    int64_t media;  /* ns, at... */
    uint64_t clock; /* ...this time */
};

/** @brief When data is to be sent. The time line is moved when it jumps ahead,
 * and when the data is later than can be made up for: its source had paused.
 * @param p  pace
 * @param media  its media time, ns @param now  the clock, ns
 * @return the time, which may be past */
uint64_t pace_due(struct pace *p, int64_t media, uint64_t now);

/** @brief Starts the time line anew with the next data. @param p  pace */
void pace_restart(struct pace *p);

#endif /* TOOLS_TRANSMIT_PACE_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* A sender and a receiver of libtltcp-live, over the loopback. */
#ifndef TESTS_UNIT_LIVE_PAIR_H
#define TESTS_UNIT_LIVE_PAIR_H

#include "tests/support/cmocka.h"
#include "tltcp/live.h"

#define FAR 20000 /* ms; nothing here takes one of them */

/* The cause of the last refusal. */
extern char why[TLTCP_LIVE_WHY_MAX];

tltcp_live_options *options(const char *url);
tltcp_live *open_live(int direction, const char *url);
unsigned port_of(tltcp_live *l);

/* A receiver that listens and a sender that calls it. */
struct pair {
    tltcp_live *in;
    tltcp_live *out;
};

/* The sender's URL ends with these keys. */
struct pair open_pair(const char *keys);
void close_pair(struct pair *p);

void await(tltcp_live *l, unsigned type, tltcp_live_event *ev);
void describe(tltcp_live *l, unsigned stream, unsigned type, const char *codec);
int next(tltcp_live *l, tltcp_live_frame *f);

#endif /* TESTS_UNIT_LIVE_PAIR_H */

/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A synthetic clip, and how much of it can be seen.
 *
 * 25 pictures per second; every 50th a key frame, behind it a reference and two
 * disposable pictures in turn.  Sizes vary about those of a 2.8 Mbit/s H.264
 * clip of 640x360.  Pictures go out in coding order.
 */
#ifndef TESTS_SIMNET_CLIP_H
#define TESTS_SIMNET_CLIP_H

#include "tests/simnet/world.h"

#define CLIP_MAX 6000
#define CLIP_INTERVAL (40 * MS)
#define CLIP_GOP 50

struct clip {
    uint32_t count;
    uint32_t gop; /* pictures from a key frame to the next */
    uint32_t bytes[CLIP_MAX];
    uint8_t cls[CLIP_MAX];     /* enum tltcp_class */
    uint32_t parent[CLIP_MAX]; /* number of what it refers to; its own: none */
    uint64_t shown[CLIP_MAX];  /* so long after it was written, latency apart */
    bool tells_parents;        /* the engine hears of them, and branches are
                                  disposable to it */
    uint64_t latency;          /* of all pictures, ns */
    uint64_t grace;            /* so much longer are those worth sending that
                                  others need, ns */
    bool plain;                /* tell the engine of deadlines alone */
};

/* The pictures displayed at the far end. */
struct view {
    unsigned on_time[TL_CLASS_LAST + 1]; /* decodable, in time, by class */
    unsigned whole[TL_CLASS_LAST + 1];   /* arrived whole, in time or not */
    unsigned sent[TL_CLASS_LAST + 1];
    unsigned seen;   /* all on time */
    uint64_t freeze; /* longest time without a new picture, ns */
    uint64_t late;   /* pictures that came whole, but too late */
    double waste;    /* their part of the bytes of all that came whole */
    double useless;  /* of that, what nothing on time refers to, however far */
};

void clip_make(struct clip *c, uint64_t seed, uint32_t count);
/* The same of 1 Mbit/s, nearly all of it in references, with a latency of
 * 600 ms. */
void clip_make_heavy(struct clip *c, uint64_t seed, uint32_t count);
/* 2.1 Mbit/s without pictures that nothing refers to, as of a real-time
 * encoder: each refers to the one before it. */
void clip_make_chain(struct clip *c, uint64_t seed, uint32_t count);
/* The same for a screen: 1.1 Mbit/s, a third of it in key frames. */
void clip_make_screen(struct clip *c, uint64_t seed, uint32_t count);
/* 2.9 Mbit/s as of an H.265 encoder with one reference per direction: behind
 * each reference one that is shown before it, which the next one leaves out,
 * and two that refer to that.  A key frame takes a third of a second at 2
 * Mbit/s. */
void clip_make_branched(struct clip *c, uint64_t seed, uint32_t count);
/* Sends the clip out of CLIENT; the plan then points to it. */
void clip_plan(const struct clip *c, struct plan *p);
/* Judges the flow.  A picture is on time when it and all that it refers to came
 * at most `patience` after it was written, transit and the time that it is
 * shown later not counted. */
void clip_judge(const struct clip *c, const struct flow *f, uint64_t transit,
                uint64_t patience, struct view *v);
/* The same, and which pictures are on time. */
void clip_judge_each(const struct clip *c, const struct flow *f,
                     uint64_t transit, uint64_t patience, struct view *v,
                     bool *seen);
/* Pictures that `rate` (bytes/s) can carry when all is known in advance: the
 * keys and references, then the smallest of the others, by bytes alone.  No
 * transport can do better. */
unsigned clip_bound(const struct clip *c, double rate);

#endif /* TESTS_SIMNET_CLIP_H */

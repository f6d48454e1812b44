/* SPDX-License-Identifier: MPL-2.0 */
/* Congestion episodes over numbered transmissions, and undo. */
#include <congestion/episode.h>

#include "libcongestion/internal.h"

void cong_episode_init(struct cong_episode *e) {
    *e = (struct cong_episode){0};
}

static void episode_tell(struct cong *cc, enum cong_cause cause, unsigned count,
                         const struct cong_episode_news *news) {
    const struct cong_event ev = {
        .now = news->now,
        .cause = cause,
        .flight = news->flight,
        .missing = news->missing,
        .count = count,
    };
    cc->ops->event(cc, &ev);
}

/* Remembers what a false alarm restores. */
static void save(struct cong_episode *e, const struct cong *cc) {
    e->cwnd = cc->cwnd;
    e->ssthresh = cc->ssthresh;
    e->undoable = true;
    e->lost = 0;
    e->arrived = 0;
}

/* Controllers that slow-start after a loss say so by a window of a segment. */
static enum cong_episode_result answer(struct cong_episode *e,
                                       const struct cong *cc) {
    if (cc->cwnd > cc->mss) {
        return CONG_EPISODE_REDUCED;
    }
    e->open = false;
    e->undoable = false;
    return CONG_EPISODE_RESTART;
}

enum cong_episode_result
cong_episode_lost(struct cong_episode *e, struct cong *cc,
                  const struct cong_episode_news *news) {
    bool again = e->open && news->nth > 1;
    if (news->number < e->mark || (e->open && !again)) {
        e->lost++;
        return CONG_EPISODE_SAME;
    }
    if (!e->open) {
        save(e, cc);
        e->open = true;
        e->end = news->next;
    }
    e->lost++;
    e->mark = news->next;
    episode_tell(cc, CONG_LOSS, again ? news->nth : 1, news);
    return answer(e, cc);
}

enum cong_episode_result
cong_episode_marked(struct cong_episode *e, struct cong *cc,
                    const struct cong_episode_news *news) {
    if (e->open || news->number < e->mark) {
        return CONG_EPISODE_SAME;
    }
    e->mark = news->next;
    e->undoable = false;
    episode_tell(cc, CONG_ECN, 1, news);
    return CONG_EPISODE_REDUCED;
}

void cong_episode_timeout(struct cong_episode *e, struct cong *cc,
                          const struct cong_episode_news *news) {
    if (news->nth <= 1 && !e->open) {
        save(e, cc);
    }
    e->open = false;
    e->mark = news->next;
    episode_tell(cc, CONG_RTO, news->nth, news);
}

bool cong_episode_settle(struct cong_episode *e, struct cong *cc,
                         uint64_t oldest, double flight, cong_time now) {
    const struct cong_episode_news news = {.now = now, .flight = flight};
    if (!e->open || oldest < e->end) {
        return false;
    }
    e->open = false;
    episode_tell(cc, CONG_RECOVERED, 0, &news);
    return true;
}

bool cong_episode_spurious(struct cong_episode *e, struct cong *cc,
                           cong_time now) {
    const struct cong_episode_news news = {.now = now};
    e->arrived++;
    if (!e->undoable || e->arrived < e->lost) {
        return false;
    }
    e->undoable = false;
    if (cc->cwnd >= e->cwnd) {
        return false;
    }
    e->open = false;
    cong__set_cwnd(cc, e->cwnd);
    cc->ssthresh = e->ssthresh;
    episode_tell(cc, CONG_UNDO, 0, &news);
    return true;
}

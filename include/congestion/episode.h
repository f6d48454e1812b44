/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file congestion/episode.h
 * @brief One reduction per round trip: bookkeeping of congestion episodes for
 * hosts that number their transmissions, and undo.
 *
 * An episode begins when a transmission that left after the previous reduction
 * is found lost, and ends when everything sent before it began is accounted for
 * (RFC 6675 RecoveryPoint, RFC 9002 section 7.3.2).  The functions tell the
 * controller what it must know, and nothing twice.
 *
 * For every feedback the host calls cong_ops::ack first, with
 * cong_ack::recovery as cong_episode::open says.
 */
#ifndef CONGESTION_EPISODE_H
#define CONGESTION_EPISODE_H

#include <congestion/congestion.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @brief The episodes of one sender. */
struct cong_episode {
    bool open;        /**< an episode is open */
    bool undoable;    /**< the newest reduction can be taken back */
    uint64_t mark;    /**< next transmission when the newest reduction came */
    uint64_t end;     /**< next transmission when the episode began */
    double cwnd;      /**< window before it, bytes */
    double ssthresh;  /**< threshold before it, bytes */
    uint64_t lost;    /**< transmissions called lost in it */
    uint64_t arrived; /**< of them arrived after all */
};

/** @brief What the host knows at a loss, a mark or an expiry. */
struct cong_episode_news {
    cong_time now;   /**< current time */
    uint64_t number; /**< of the transmission lost or marked */
    uint64_t next;   /**< of the next transmission that will leave */
    double flight;   /**< bytes in flight at detection */
    double missing;  /**< bytes known lost, not repaired */
    unsigned nth;    /**< n-th loss of the same data, or n-th expiry; from 1 */
};

/** What came of it. */
enum cong_episode_result {
    CONG_EPISODE_SAME,    /**< known congestion: the controller was not told */
    CONG_EPISODE_REDUCED, /**< the controller was told */
    CONG_EPISODE_RESTART  /**< it restarts: call everything not delivered lost
                             and  go on in slow start; no episode is open */
};

/** @brief Sets up without an episode. @param e  episodes */
CONG_API void cong_episode_init(struct cong_episode *e);
/**
 * @brief A transmission was found lost; once for each.
 * @param e     episodes
 * @param cc    controller; is told once per episode, and again when a repair
 *              that left after the newest reduction is lost
 * @param news  about it
 * @return ::cong_episode_result
 */
CONG_API enum cong_episode_result
cong_episode_lost(struct cong_episode *e, struct cong *cc,
                  const struct cong_episode_news *news);
/**
 * @brief A transmission arrived with a congestion mark.
 * @param e     episodes
 * @param cc    controller; is told at most once a round trip
 * @param news  about it
 * @return ::cong_episode_result
 */
CONG_API enum cong_episode_result
cong_episode_marked(struct cong_episode *e, struct cong *cc,
                    const struct cong_episode_news *news);
/**
 * @brief The retransmission timer expired; any episode is over.
 * @param e     episodes
 * @param cc    controller; is told
 * @param news  about it; number is not used
 */
CONG_API void cong_episode_timeout(struct cong_episode *e, struct cong *cc,
                                   const struct cong_episode_news *news);
/**
 * @brief Ends the episode when everything is accounted for.
 * @param e       episodes
 * @param cc      controller; is told
 * @param oldest  lowest transmission whose data is neither delivered nor given
 *                up; that of the next one when there is none
 * @param flight  bytes in flight
 * @param now     current time
 * @return true when an episode ended
 */
CONG_API bool cong_episode_settle(struct cong_episode *e, struct cong *cc,
                                  uint64_t oldest, double flight,
                                  cong_time now);
/**
 * @brief A transmission that had been called lost in the newest episode
 * arrived.
 *
 * When all of them did, the reduction was a false alarm: window and threshold
 * are restored, unless the window has regrown, and the controller is told.
 *
 * @param e    episodes
 * @param cc   controller
 * @param now  current time
 * @return true when the reduction was taken back
 */
CONG_API bool cong_episode_spurious(struct cong_episode *e, struct cong *cc,
                                    cong_time now);

#ifdef __cplusplus
}
#endif
#endif /* CONGESTION_EPISODE_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/tsfeed.h
 * @brief A transport stream, or bytes of any kind, into a feed.
 *
 * A transport stream is one media stream, number 0, of codec `mpegts`. Its
 * units (media/ts.h) are the frames; what each needs is looked for within its
 * PID. Tables never expire, and clock references go on when pictures are given
 * up. Anything else than a transport stream goes as it is
 * pushed, a section per call, with the latency as its deadline.
 */
#ifndef LIVE_TSFEED_H
#define LIVE_TSFEED_H

#include "internal/media/stream/ts.h"
#include "libtltcp/live/feed.h"

/** What is pushed. */
enum tsfeed_kind {
    TSFEED_UNDECIDED = 0, /**< nothing yet */
    TSFEED_TS = 1,        /**< a transport stream */
    TSFEED_PLAIN = 2      /**< something else */
};

/** @brief The stream; set up by tsfeed_init(). */
struct tsfeed {
    struct feed *feed; /**< NULL: nobody is connected, all is let go */
    int kind;          /**< ::tsfeed_kind */
    media_ts *ts;
    uint32_t number; /**< of the next frame */
    uint32_t refs;
    int64_t now;         /**< when what is pushed was there */
    int64_t time;        /**< newest decoding time of the first stream that has
                              times; ::MEDIA_TIME_NONE */
    uint8_t time_slot;   /**< that stream; 0: none yet */
    int64_t ahead[256];  /**< by slot: display less decoding time */
    int64_t clock;       /**< when the newest clock reference was sent */
    uint8_t stream[256]; /**< by slot: of the connection, from 1; 0: none */
    uint8_t streams;
    uint64_t units;
    bool failed; /**< out of memory */
};

/** @brief Sets up. @param t  stream @return false without memory */
bool tsfeed_init(struct tsfeed *t);

/** @brief Sends to a feed from now on; what is known of the stream stays.
 * @param t  stream @param feed  NULL: to none */
void tsfeed_attach(struct tsfeed *t, struct feed *feed);

/** @brief Takes bytes. @param t  stream @param data  bytes @param len  how many
 * @param now  when they should be sent, tltcp_now()'s clock
 * @return false without memory */
bool tsfeed_push(struct tsfeed *t, const void *data, size_t len, uint64_t now);

/** @brief Sends what has not ended, at the end. @param t  stream */
void tsfeed_flush(struct tsfeed *t);

/** @brief Frees. @param t  stream */
void tsfeed_free(struct tsfeed *t);

#endif /* LIVE_TSFEED_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/feed.h
 * @brief Frames into a connection: deadlines, what to hold back, fates.
 */
#ifndef LIVE_FEED_H
#define LIVE_FEED_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/media/stream/chain.h"
#include "internal/media/stream/deadline.h"
#include "internal/media/stream/gate.h"
#include "libtltcp/live/ledger.h"
#include "tltcp/socket.h"

/** Descriptors that feed_poll() may name. */
#define FEED_FDS 2

/** @brief When frames are to be there; what is given up, the connection's
 * configuration says. */
struct feed_settings {
    int deadline_mode;   /**< ::media_deadline_mode */
    uint32_t latency_ms; /**< budget from display time on */
    uint32_t grace_ms;   /**< how much longer references are sent */
    const char *frames;  /**< CSV file with a line per frame, or NULL */
};

/** @brief The sending side of a connection. */
struct feed {
    struct feed_settings settings;
    tltcp_socket *socket;              /**< closed by feed_close() */
    media_deadline deadline[256];      /**< by slot */
    media_chain chain[TL_STREAMS_MAX]; /**< by stream */
    media_gate pushed[TL_STREAMS_MAX]; /**< likewise: what may wait */
    media_gate given[TL_STREAMS_MAX];  /**< likewise: what may go then */
    struct ledger ledger;
    struct feed_section *first; /**< what the connection has no room for yet */
    struct feed_section *last;
    size_t waiting; /**< bytes of it */
    bool closed;    /**< the connection is over */
    int error;      /**< why; 0: in order */
    char reason[TLTCP_REASON_MAX + 1];
};

/** @brief A frame to send. */
struct feed_frame {
    const media_header *header; /**< NULL: plain bytes, sent without */
    const void *payload;        /**< copied */
    size_t len;                 /**< bytes at payload */
    const media_frame *what;    /**< NULL: it never expires */
    media_times times;          /**< on tltcp_now()'s clock */
    uint8_t slot;               /**< deadlines are within it */
    uint8_t stream;             /**< frames refer to others of the same, below
                                     TL_STREAMS_MAX */
};

/**
 * @brief Sets up; ends with feed_free().
 * @param f  feed
 * @param s  copied
 * @retval 0   ready
 * @retval <0  minus errno: the CSV file cannot be written
 */
int feed_init(struct feed *f, const struct feed_settings *s);

/** @brief Begins on a connection that is made. @param f  feed
 * @param socket  taken over */
void feed_start(struct feed *f, tltcp_socket *socket);

/** @brief Sets a slot's deadlines up. @param f  feed @param slot  which
 * @param frame_ns  nominal distance of frames; 0: not known */
void feed_slot(struct feed *f, uint8_t slot, int64_t frame_ns);

/** @brief The streams are in their middle: pictures wait for one where decoding
 * can begin. @param f  feed */
void feed_join(struct feed *f);

/** @brief Whether another frame may be pushed. */
bool feed_has_room(const struct feed *f);

/** @brief Takes a frame. @param f  feed @param frame  what to send
 * @return false without memory */
bool feed_push(struct feed *f, const struct feed_frame *frame);

/** @brief Sends a section without a deadline.
 * @param f  feed @param h  header; its length is set @param payload  copied
 * @param len  bytes @return false: out of memory, or no connection any more */
bool feed_push_section(struct feed *f, const media_header *h,
                       const void *payload, size_t len);

/** @brief Takes what the connection has to say, gives it what waits.
 * @param f  feed */
void feed_run(struct feed *f);

/** @brief What to poll for before feed_run() is called again.
 * @param f  feed @param fds  FEED_FDS entries @return how many */
nfds_t feed_poll(const struct feed *f, struct pollfd *fds);

/** @brief Bytes that are not yet known to have arrived or to be lost.
 * @param f  feed */
uint64_t feed_bytes(const struct feed *f);

/** @brief Whether every frame's fate is known and nothing waits. */
bool feed_is_idle(const struct feed *f);

/** @brief Tells the peer that no more frames come. */
void feed_finish(struct feed *f);

/** @brief Closes the connection; the ledger stays. @param f  feed
 * @param linger_ms  as for tltcp_close() @return as tltcp_close() */
int feed_close(struct feed *f, int linger_ms);

/** @brief Frees the rest. @return false when the CSV could not be written */
bool feed_free(struct feed *f);

#endif /* LIVE_FEED_H */

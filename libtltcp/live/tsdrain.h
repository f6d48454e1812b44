/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/tsdrain.h
 * @brief The transport stream, or the bytes, that a connection carries: what
 * live/tsfeed.h sent, or `tltcpsink` behind a multiplexer.
 */
#ifndef LIVE_TSDRAIN_H
#define LIVE_TSDRAIN_H

#include "internal/media/codec/framing.h"
#include "libtltcp/live/drain.h"

/** Room for a complaint. */
#define TSDRAIN_WHY_MAX 160

/** @brief Bytes in order; they hold during the call. */
struct tsdrain_bytes {
    const uint8_t *data;
    size_t len;
    int64_t dts;  /**< sender's time line, ns; ::MEDIA_TIME_NONE */
    uint64_t now; /**< when they came, tltcp_now()'s clock */
};

/** @brief Takes bytes. @param user  as given @param b  bytes */
typedef void (*tsdrain_take)(void *user, const struct tsdrain_bytes *b);

/** @brief The receiving side. */
struct tsdrain {
    struct drain drain;
    tsdrain_take take;
    void *user;          /**< for take */
    uint32_t latency_ms; /**< the sender's; 0: not said */
    uint64_t complete;   /**< sections that came whole */
    uint64_t cut;        /**< sections that did not; they are left out */
    uint64_t bytes;      /**< handed out */
    bool described;      /**< the peer said that it sends a transport stream */
    bool ended;          /**< it said that no more comes */
    char why[TSDRAIN_WHY_MAX]; /**< what is sent cannot be taken; or "" */
};

/** @brief Sets up; ends with tsdrain_end(). @param t  what to set up
 * @param take  takes bytes @param user  for @p take
 * @return false without memory */
bool tsdrain_init(struct tsdrain *t, tsdrain_take take, void *user);

/** @brief As drain_read(). @param t  receiving side @param socket  connection
 * @param flags  0 or MSG_DONTWAIT @return as drain_read() */
ssize_t tsdrain_read(struct tsdrain *t, tltcp_socket *socket, int flags);

/** @brief Frees. @param t  receiving side */
void tsdrain_end(struct tsdrain *t);

#endif /* LIVE_TSDRAIN_H */

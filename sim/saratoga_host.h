/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/saratoga_host.h
 * @brief A Saratoga node on a host of the virtual network.  What it does with
 * events and with work on files is its owner's.
 */
#ifndef SIM_SARATOGA_HOST_H
#define SIM_SARATOGA_HOST_H

#include <saratoga/engine.h>

#include "sim/net.h"

struct sim_saratoga;

/** @brief What the owner does. */
struct sim_saratoga_app {
    /** Something happened. */
    void (*on_event)(void *user, const saratoga_event *ev);
    /** Takes what saratoga_engine_next_work() gives; true when there was some.
     */
    bool (*take_work)(void *user);
    /** A datagram leaves; it may be looked at.  NULL: nobody looks. */
    void (*on_send)(void *user, const saratoga_pktinfo *to,
                    const uint8_t *dgram, size_t len);
    void *user; /**< first argument of all of them */
};

/** @brief Something between a node and the network, such as a cipher. */
struct sim_saratoga_wrap {
    /** A datagram of the node's; what becomes of it goes to
     * sim_saratoga_transmit(). */
    void (*out)(void *user, const saratoga_pktinfo *to, const uint8_t *dgram,
                size_t len);
    /** A datagram from the network; what becomes of it goes to
     * sim_saratoga_take(). */
    void (*in)(void *user, const struct sim_packet *p);
    void *user; /**< first argument of both */
};

/** @brief A node and the host that it lives on. */
struct sim_saratoga {
    struct sim_net *net;
    saratoga_engine *engine;
    struct sim_saratoga_app app;
    struct sim_saratoga_wrap wrap; /**< zeroed: none; may be set at any time */
    struct sim_timer timer;        /**< the engine's */
    uint32_t node;                 /**< of the network */
    bool dead;                     /**< takes and sends nothing */
    bool six;                      /**< its peers have IPv6 addresses */
    bool terse;       /**< asks the engine once per occasion, as a driver may */
    uint64_t late;    /**< wakes so many ns after it wanted to */
    bool stuck;       /**< the engine asked for the same time again and again */
    uint64_t spins;   /**< timeouts in a row without time passing */
    uint64_t spin_at; /**< when they began */
    uint64_t sent_packets; /**< datagrams out */
    uint64_t sent_bytes;   /**< in them */
};

/**
 * @brief Puts a node into a network, on a host of its own.
 * @param[out] s  zeroed or not; the caller's, must not move
 * @param net   network
 * @param cfg   of the node; NULL: the defaults
 * @param seed  of its randomness
 * @param app   copied
 * @return false when memory is short or @p cfg is not usable
 */
bool sim_saratoga_open(struct sim_saratoga *s, struct sim_net *net,
                       const saratoga_config *cfg, uint64_t seed,
                       const struct sim_saratoga_app *app);
/** @brief Frees the node; the host stays, silent. @param s  opened or zeroed */
void sim_saratoga_close(struct sim_saratoga *s);
/** @brief The clock. @param s  host @return ns */
uint64_t sim_saratoga_now(const struct sim_saratoga *s);
/** @brief Where others reach it. @param s  host @return its address */
saratoga_pktinfo sim_saratoga_address(const struct sim_saratoga *s);
/** @brief Puts a datagram on the network. @param s  host @param src  address
 * that it seems to come from @param dst  where to @param dgram  it
 * @param len  its length */
void sim_saratoga_transmit(struct sim_saratoga *s, uint64_t src, uint64_t dst,
                           const uint8_t *dgram, size_t len);
/** @brief Hands the node a datagram, and what follows from it to the owner.
 * @param s  host @param from  its sender @param dgram  it @param len  its
 * length */
void sim_saratoga_take(struct sim_saratoga *s, const saratoga_pktinfo *from,
                       const uint8_t *dgram, size_t len);
/** @brief To be called after the engine was used outside of sim_saratoga_app.
 * @param s  host */
void sim_saratoga_pump(struct sim_saratoga *s);

#endif /* SIM_SARATOGA_HOST_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/saratoga_host.h
 * @brief A Saratoga engine on a host of the virtual network. Its owner handles
 * events and file work.
 */
#ifndef SIM_SARATOGA_HOST_H
#define SIM_SARATOGA_HOST_H

#include <saratoga/engine.h>

#include "sim/net.h"

struct sim_saratoga;

/** @brief Callbacks of the owner. */
struct sim_saratoga_app {
    /** An event occurred. */
    void (*on_event)(void *user, const saratoga_event *ev);
    /** Handles the result of saratoga_engine_next_work(); true if there was
     * any.
     */
    bool (*take_work)(void *user);
    /** A datagram leaves; read-only. NULL: none. */
    void (*on_send)(void *user, const saratoga_pktinfo *to,
                    const uint8_t *dgram, size_t len);
    void *user; /**< first argument of all callbacks */
};

/** @brief A layer between a node and the network, such as a cipher. */
struct sim_saratoga_wrap {
    /** A datagram of the node; pass the result to sim_saratoga_transmit(). */
    void (*out)(void *user, const saratoga_pktinfo *to, const uint8_t *dgram,
                size_t len);
    /** A datagram from the network; pass the result to sim_saratoga_take(). */
    void (*in)(void *user, const struct sim_packet *p);
    void *user; /**< first argument of both */
};

/** @brief A node and its host. */
struct sim_saratoga {
    struct sim_net *net;
    saratoga_engine *engine;
    struct sim_saratoga_app app;
    struct sim_saratoga_wrap wrap; /**< zeroed: none; may be set at any time */
    struct sim_timer timer;        /**< timer of the engine */
    uint32_t node;                 /**< node of the network */
    bool dead;                     /**< neither receives nor sends */
    bool six;                      /**< its peers use IPv6 addresses */
    bool terse;            /**< polls the engine once per occasion, as a driver
                                may */
    uint64_t late;         /**< delay of wake-ups, ns */
    bool stuck;            /**< the engine requested the same time repeatedly */
    uint64_t spins;        /**< timeouts in a row without time passing */
    uint64_t spin_at;      /**< when they began */
    uint64_t sent_packets; /**< datagrams out */
    uint64_t sent_bytes;   /**< their bytes */
    uint8_t *batch;        /**< datagrams on their way out */
};

/**
 * @brief Puts a node into a network, on its own host.
 * @param[out] s  zeroed or not; owned by the caller; must not move
 * @param net   network
 * @param cfg   config of the node; NULL: the defaults
 * @param seed  random seed
 * @param app   copied
 * @return false: out of memory, or @p cfg is not usable
 */
bool sim_saratoga_open(struct sim_saratoga *s, struct sim_net *net,
                       const saratoga_config *cfg, uint64_t seed,
                       const struct sim_saratoga_app *app);
/** @brief Frees the node; the host stays, silent. @param s  opened or zeroed */
void sim_saratoga_close(struct sim_saratoga *s);
/** @brief The clock. @param s  host @return ns */
uint64_t sim_saratoga_now(const struct sim_saratoga *s);
/** @brief The address of the node. @param s host @return address */
saratoga_pktinfo sim_saratoga_address(const struct sim_saratoga *s);
/** @brief Sends a datagram. @param s host @param src apparent source address
 * @param dst destination @param dgram datagram @param len its length */
void sim_saratoga_transmit(struct sim_saratoga *s, uint64_t src, uint64_t dst,
                           const uint8_t *dgram, size_t len);
/** @brief Passes a datagram to the node, and resulting events to the owner.
 * @param s host @param from its sender @param dgram datagram @param len its
 * length */
void sim_saratoga_take(struct sim_saratoga *s, const saratoga_pktinfo *from,
                       const uint8_t *dgram, size_t len);
/** @brief Call it after using the engine outside of sim_saratoga_app.
 * @param s  host */
void sim_saratoga_pump(struct sim_saratoga *s);

#endif /* SIM_SARATOGA_HOST_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/net.h
 * @brief Nodes joined by links, in virtual time.
 *
 * An address is a node and a port.  A packet travels from node to node by their
 * routes until it reaches the node of its destination. Each node defines its
 * ports: a NAT rebinding is a host that changes its port.
 */
#ifndef SIM_NET_H
#define SIM_NET_H

#include "sim/event.h"
#include "sim/link.h"

/** A network. */
struct sim_net;

/** @brief Receives a packet that has reached its node, and must eventually free
 * it. */
typedef void (*sim_deliver_fn)(void *user, struct sim_packet *p, uint64_t now);

/**
 * @brief An address.
 * @param node  from sim_net_add_node()
 * @param port  any number
 * @return never 0
 */
static inline uint64_t sim_address(uint32_t node, uint32_t port) {
    return (uint64_t)port << 32 | ((uint64_t)node + 1);
}

/** @brief The node of an address. @param address  from sim_address()
 * @return node */
static inline uint32_t sim_address_node(uint64_t address) {
    return (uint32_t)address - 1;
}

/** @brief Creates an empty network at time 0. @return network, or NULL without
 * memory
 */
struct sim_net *sim_net_new(void);
/** @brief Frees a network with its links and packets. @param n network, or
 * NULL */
void sim_net_free(struct sim_net *n);
/** @brief The clock. @param n  network @return loop, for timers of hosts */
struct sim_loop *sim_net_loop(struct sim_net *n);

/**
 * @brief Adds a node.
 * @param n        network
 * @param deliver  receives packets for it; NULL: it drops them, as a router
 *                 does
 * @param user     for deliver
 * @return its number, from 0; UINT32_MAX without memory
 */
uint32_t sim_net_add_node(struct sim_net *n, sim_deliver_fn deliver,
                          void *user);
/**
 * @brief Changes the receiver of a node's packets.
 * @param n        network
 * @param node     node
 * @param deliver  as in sim_net_add_node()
 * @param user     for deliver
 */
void sim_net_set_node(struct sim_net *n, uint32_t node, sim_deliver_fn deliver,
                      void *user);
/**
 * @brief Joins two nodes by a one-way link and routes to the far node over it.
 * The first link out of a node is its default route.
 * @param n     network
 * @param from  node
 * @param to    node
 * @param c     checked config
 * @param seed  of the link's luck
 * @return number of the link; UINT32_MAX without memory
 */
uint32_t sim_net_add_link(struct sim_net *n, uint32_t from, uint32_t to,
                          const struct sim_link_config *c, uint64_t seed);
/**
 * @brief Sets a route to a node.
 * @param n     network
 * @param at    routing node
 * @param dst   destination node
 * @param link  link out of @p at
 * @return false: out of memory
 */
bool sim_net_route(struct sim_net *n, uint32_t at, uint32_t dst, uint32_t link);
/** @brief How many links there are. @param n  network @return their numbers are
 * 0 to one less */
uint32_t sim_net_links(const struct sim_net *n);
/** @brief A link, read-only. @param n  network @param link  number
 * @return valid as long as the network */
const struct sim_link *sim_net_link(const struct sim_net *n, uint32_t link);
/**
 * @brief Changes a link from now on.
 * @param n     network
 * @param link  number
 * @param c     checked config
 */
void sim_net_set_link(struct sim_net *n, uint32_t link,
                      const struct sim_link_config *c);
/**
 * @brief Called for each packet put into a link; may change it.
 * @param user  from sim_net_set_tap()
 * @param link  number of the link
 * @param p     packet
 * @param now   virtual time, ns
 * @return false to drop it
 */
typedef bool (*sim_tap_fn)(void *user, uint32_t link, struct sim_packet *p,
                           uint64_t now);
/**
 * @brief Puts a tap on all links.
 * @param n     network
 * @param tap   NULL: none
 * @param user  for tap
 */
void sim_net_set_tap(struct sim_net *n, sim_tap_fn tap, void *user);
/**
 * @brief Called for each packet that reaches its host.
 * @param user  from sim_net_set_arrival()
 * @param p     packet
 * @param now   virtual time, ns
 */
typedef void (*sim_arrival_fn)(void *user, const struct sim_packet *p,
                               uint64_t now);
/**
 * @brief Watches arrivals at all hosts.
 * @param n        network
 * @param arrival  NULL: none
 * @param user     for arrival
 */
void sim_net_set_arrival(struct sim_net *n, sim_arrival_fn arrival, void *user);
/**
 * @brief Creates a packet; it must not outlive the network.
 * @param n     network
 * @param data  contents, copied; NULL: zeroes
 * @param len   bytes
 * @return the packet, or NULL without memory
 */
struct sim_packet *sim_net_packet(struct sim_net *n, const void *data,
                                  size_t len);
/**
 * @brief Sends a packet to sim_packet::dst.
 * @param n     network
 * @param from  node that sends it
 * @param p     packet; the network takes ownership
 */
void sim_net_send(struct sim_net *n, uint32_t from, struct sim_packet *p);

#endif /* SIM_NET_H */

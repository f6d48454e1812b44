/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/packet.h
 * @brief Packets.
 */
#ifndef SIM_PACKET_H
#define SIM_PACKET_H

#include <stddef.h>
#include <stdint.h>

/** ECN codepoints of the IP header. */
enum sim_ecn {
    SIM_ECN_NOT = 0, /**< not capable */
    SIM_ECN_ECT1 = 1,
    SIM_ECN_ECT0 = 2,
    SIM_ECN_CE = 3 /**< congestion experienced */
};

/** Sizes in which packets are kept: short ones, and datagrams of an Ethernet.
 */
#define SIM_POOL_SIZES 2

struct sim_packet;

/** @brief Packets to be used again; zeroed: empty. It outlives its packets. */
struct sim_pool {
    struct sim_packet *idle[SIM_POOL_SIZES]; /**< by size */
};

/** @brief A packet, created by sim_packet_new() or sim_pool_packet(). */
struct sim_packet {
    struct sim_packet *next; /**< used by its holder */
    uint64_t src;            /**< source; defined by the owner */
    uint64_t dst;            /**< destination; defined by the owner */
    uint64_t sent;           /**< when it was offered to the link, ns */
    uint64_t due;            /**< when it arrives, ns; set by the link */
    uint64_t born;           /**< when its host sent it, ns; set by the
                                  network */
    uint32_t wire;           /**< size on links, bytes; 0: len plus the link's
                                  overhead */
    uint32_t size;           /**< its size on the current link */
    uint32_t ecn;            /**< enum sim_ecn */
    uint32_t dscp;           /**< DSCP of the IP header */
    uint32_t len;            /**< bytes at data */
    struct sim_pool *pool;   /**< where it goes back to, or NULL */
    uint8_t data[];          /**< contents */
};

/**
 * @brief Creates a packet.
 * @param data  contents, copied; NULL: zeroes
 * @param len   bytes
 * @return the packet, or NULL without memory
 */
struct sim_packet *sim_packet_new(const void *data, size_t len);
/** @brief Frees a packet. @param p  packet, or NULL */
void sim_packet_free(struct sim_packet *p);
/**
 * @brief Creates a packet from memory that another has left.
 * @param pool  pool, or NULL: as sim_packet_new()
 * @param data  contents, copied; NULL: zeroes
 * @param len   bytes
 * @return the packet, or NULL without memory
 */
struct sim_packet *sim_pool_packet(struct sim_pool *pool, const void *data,
                                   size_t len);
/** @brief Frees the memory that is kept. @param pool  pool */
void sim_pool_free(struct sim_pool *pool);

#endif /* SIM_PACKET_H */

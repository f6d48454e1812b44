/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/reader.h
 * @brief Applications that read: at once, slowly, in small pieces, or with
 * pauses.
 */
#ifndef SIM_READER_H
#define SIM_READER_H

#include "sim/tltcp_host.h"

/** Largest buffer of a reader. */
#define SIM_READER_BUF 65536

/** @brief Receives one piece; data is NULL for a gap. */
typedef void (*sim_piece_fn)(void *user, const struct tltcp_segment *seg,
                             const struct tltcp_meta *meta, const uint8_t *data,
                             uint64_t len);

/** @brief Options of a reader. */
struct sim_reader_config {
    uint32_t buffer;       /**< bytes of each buffer; 0: 4096 */
    uint32_t pieces;       /**< pieces per read, 1 to 16; 0: 8 */
    uint64_t rate;         /**< bytes per second; 0: at once */
    uint64_t pause_from;   /**< virtual time at which it stops, ns */
    uint64_t pause_until;  /**< and continues; equal: no pause */
    sim_piece_fn on_piece; /**< may be NULL */
    void *user;            /**< for on_piece */
};

/** @brief A reader. */
struct sim_reader {
    struct sim_reader_config cfg;
    struct sim_peer *peer;
    struct sim_timer timer;
    uint64_t bytes;     /**< data read */
    uint64_t gap_bytes; /**< bytes in gaps */
    uint64_t gaps;      /**< gaps */
    uint64_t calls;     /**< reads with a result */
    uint64_t next;      /**< earliest virtual time of the next read */
    uint64_t last;      /**< virtual time of the last piece */
    int error;          /**< first error other than AGAIN */
    bool ended;         /**< the end of the stream was reached */
    uint8_t buf[SIM_READER_BUF];
};

/** @brief Initialises a reader. @param r  reader @param c  copied */
void sim_reader_init(struct sim_reader *r, const struct sim_reader_config *c);
/** @brief Starts reading. @param r  reader @param p  connection */
void sim_reader_start(struct sim_reader *r, struct sim_peer *p);
/** @brief Call it from sim_app::on_ready. @param r  reader, started or not
 */
void sim_reader_ready(struct sim_reader *r);
/** @brief A ::sim_caller_fn: accepts, and reads from the caller.
 * @param user  a struct sim_reader, set up @param p  the caller @return
 * ::SIM_ACCEPT */
enum sim_answer sim_reader_accept(void *user, struct sim_peer *p);
/** @brief Stops the reader. @param r  reader */
void sim_reader_stop(struct sim_reader *r);

#endif /* SIM_READER_H */

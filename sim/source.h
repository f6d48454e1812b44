/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file sim/source.h
 * @brief Applications that write: live frames with deadlines, or bulk.
 *
 * The contents are a function of the stream offset, so a receiver can check any
 * byte.
 */
#ifndef SIM_SOURCE_H
#define SIM_SOURCE_H

#include "sim/tltcp_host.h"

struct sim_section;

/** @brief Defines a section instead of the config: sets its len, deadline and
 * meta except the tag. */
typedef void (*sim_shape_fn)(void *user, uint64_t number, tltcp_time now,
                             struct sim_section *section);

/** @brief Options of a source. */
struct sim_source_config {
    uint64_t seed;      /**< seed of contents and sizes */
    uint64_t sections;  /**< how many; 0: endless */
    uint64_t start;     /**< delay of the first section, ns */
    uint64_t interval;  /**< between sections; 0: as fast as they are accepted,
                             ns */
    uint32_t size_min;  /**< bytes of a section, uniform between ... */
    uint32_t size_max;  /**< ... these two */
    uint32_t key_every; /**< every n-th section ...; 0: none */
    uint32_t key_scale; /**< ... is this many times as large */
    uint64_t budget;  /**< deadline after writing, ns; TLTCP_TIME_NEVER: none */
    double reliable;  /**< fraction of sections without a deadline */
    double backwards; /**< fraction of sections with half the budget, so that
                           deadlines are not monotonic */
    uint32_t streams; /**< sections have random classes and dependencies in this
                           many streams; 0: none */
    bool finish;      /**< ends the stream after the last section */
    bool close;       /**< closes after the last section */
    uint64_t linger;  /**< close: limit of lingering, ns; or TLTCP_TIME_NEVER */
    bool record;      /**< keep a table of all sections */
    sim_shape_fn shape; /**< NULL: as above */
    void *user;         /**< for shape */
    bool blank;         /**< contents are zeroes, if not checked */
};

/** @brief A written section. */
struct sim_section {
    uint64_t seq;           /**< stream offset of its first byte */
    uint64_t len;           /**< bytes */
    tltcp_time written;     /**< on the sender's clock */
    tltcp_time deadline;    /**< likewise */
    struct tltcp_meta meta; /**< its tag is its number */
};

/** @brief A source; zeroed by sim_source_init(). */
struct sim_source {
    struct sim_source_config cfg;
    struct sim_peer *peer;
    struct sim_timer timer;
    struct sim_random rnd;
    struct sim_section pending;   /**< next section, len 0: none yet */
    void *contents;               /**< of the pending section */
    size_t room;                  /**< bytes at contents */
    struct sim_section *sections; /**< accepted sections, if recorded */
    uint64_t count;               /**< sections accepted */
    uint64_t cap;                 /**< room at sections */
    uint64_t bytes;               /**< bytes accepted */
    uint64_t refused;             /**< writes without room */
    uint64_t enough;              /**< bytes beyond which nothing is written for
                                       now; 0: writes until refused */
    uint64_t due;                 /**< virtual time of the next section */
    int error;                    /**< first write error other than AGAIN */
    bool started;                 /**< sim_source_start() was called */
    bool done;                    /**< all written */
};

/** @brief The contents of a stream. @param seed of the stream @param seq offset
 * of the first byte @param buf destination @param len bytes */
void sim_source_fill(uint64_t seed, uint64_t seq, void *buf, size_t len);
/** @brief Whether bytes match a stream. @param seed of the stream @param seq
 * offset of the first byte @param buf  bytes @param len  how many
 * @return true when all agree */
bool sim_source_check(uint64_t seed, uint64_t seq, const void *buf, size_t len);
/** @brief Initialises a source. @param s  source @param c  copied */
void sim_source_init(struct sim_source *s, const struct sim_source_config *c);
/** @brief Starts writing. @param s  source @param p  connection */
void sim_source_start(struct sim_source *s, struct sim_peer *p);
/** @brief Call it from sim_app::on_ready: writes due sections.
 * @param s  source, started or not */
void sim_source_ready(struct sim_source *s);
/** @brief The same as a sim_app::on_ready callback. @param user  a struct
 * sim_source @param p  its peer */
void sim_source_on_ready(void *user, struct sim_peer *p);
/** @brief Stops, and frees its records. @param s  source */
void sim_source_free(struct sim_source *s);

#endif /* SIM_SOURCE_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/reception.h
 * @brief Counts the sections of a caller and writes them to a file.
 */
#ifndef TOOLS_RECEPTION_H
#define TOOLS_RECEPTION_H

#include <stdio.h>

#include "internal/media/stream/assemble.h"
#include "internal/media/stream/reftrack.h"
#include "internal/media/stream/timemap.h"
#include "tltcp/live.h"
#include "tools/tltcp/mux.h"

/** @brief Counts of one kind of frame. */
struct reception_count {
    uint64_t received;  /**< arrived completely */
    uint64_t cut;       /**< arrived in part */
    uint64_t decodable; /**< complete, with all its references */
    uint64_t on_time;   /**< decodable by its display time + latency */
    uint64_t late;      /**< decodable later */
};

/** @brief Counts of one caller, or of all callers. */
struct reception_totals {
    struct reception_count kind[TLTCP_LIVE_KIND_COUNT];
    uint64_t bytes; /**< of complete sections */
    uint64_t gaps;  /**< runs of missing bytes */
    uint64_t gap_bytes;
    uint64_t rebuilt;  /**< bytes recovered by repair packets */
    uint64_t complete; /**< sections */
    uint64_t cut;      /**< sections that arrived in part or not at all */
    uint64_t foreign;  /**< sections that are not media */
    uint64_t first;    /**< arrival of the first section, ns; 0: none */
    uint64_t last;     /**< arrival of the newest section */
    uint64_t callers;
};

/** @brief Options of reception. */
struct reception_wishes {
    int64_t latency; /**< ns; < 0: the sender's */
    bool keep_broken;
    FILE *csv; /**< a line per frame, or NULL */
};

/** @brief One caller's stream. */
struct reception {
    const struct reception_wishes *wishes;
    struct reception_totals *totals;
    struct mux *mux; /* NULL: writing has ended */
    media_reftrack track[MUX_STREAMS_MAX];
    media_arrivals arrivals;
    media_timemap map;
    int64_t latency;
    int64_t media_time; /* of the newest frame */
    bool ended;         /* the sender announced the end */
    bool failed;        /* the file could not be written */
    unsigned missing;   /* streams that the file does not have */
    char why[MUX_WHY_MAX];
};

/** @brief Initialises. @param r  reception @param wishes  outlives it
 * @param totals  added to @param mux the call takes ownership */
void reception_init(struct reception *r, const struct reception_wishes *wishes,
                    struct reception_totals *totals, struct mux *mux);

/** @brief Handles a complete section.
 * @param r  reception @param section  the section @param now  ns */
void reception_section(struct reception *r, const media_section *section,
                       uint64_t now);

/** @brief Handles the beginning of a section with holes; may be empty. */
void reception_cut(struct reception *r, const media_section *section,
                   uint64_t now);

/** @brief Completes the file. @return false with reception::why */
bool reception_end(struct reception *r);

#endif /* TOOLS_RECEPTION_H */

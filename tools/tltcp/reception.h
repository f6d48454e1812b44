/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/reception.h
 * @brief Sections of one caller: counted, and written to a file.
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
    uint64_t received;  /**< arrived whole */
    uint64_t cut;       /**< arrived in part */
    uint64_t decodable; /**< whole, and so is all that it refers to */
    uint64_t on_time;   /**< decodable by its display time + latency */
    uint64_t late;      /**< decodable later */
};

/** @brief What one caller, or all of them together, sent. */
struct reception_totals {
    struct reception_count kind[TLTCP_LIVE_KIND_COUNT];
    uint64_t bytes; /**< of whole sections */
    uint64_t gaps;  /**< runs of missing bytes */
    uint64_t gap_bytes;
    uint64_t rebuilt;  /**< bytes made from repair packets */
    uint64_t complete; /**< sections */
    uint64_t cut;      /**< sections that arrived in part or not at all */
    uint64_t foreign;  /**< sections that are no media */
    uint64_t first;    /**< arrival of the first section, ns; 0: none */
    uint64_t last;     /**< and of the newest */
    uint64_t callers;
};

/** @brief What the receiver wants. */
struct reception_wishes {
    int64_t latency; /**< ns; < 0: as the sender says */
    bool keep_broken;
    FILE *csv; /**< a line per frame, or NULL */
};

/** @brief One caller's stream. */
struct reception {
    const struct reception_wishes *wishes;
    struct reception_totals *totals;
    struct mux *mux; /* NULL: nothing is written any more */
    media_reftrack track[MUX_STREAMS_MAX];
    media_arrivals arrivals;
    media_timemap map;
    int64_t latency;
    int64_t media_time; /* of the newest frame */
    bool ended;         /* the sender said so */
    bool failed;        /* the file could not be written */
    char why[MUX_WHY_MAX];
};

/** @brief Begins. @param r  reception @param wishes  outlives it
 * @param totals  added to @param mux  taken over */
void reception_init(struct reception *r, const struct reception_wishes *wishes,
                    struct reception_totals *totals, struct mux *mux);

/** @brief Takes a section that is there from end to end.
 * @param r  reception @param section  the section @param now  ns */
void reception_section(struct reception *r, const media_section *section,
                       uint64_t now);

/** @brief Takes the beginning of a section that has holes; may be empty. */
void reception_cut(struct reception *r, const media_section *section,
                   uint64_t now);

/** @brief Completes the file. @return false with reception::why */
bool reception_end(struct reception *r);

#endif /* TOOLS_RECEPTION_H */

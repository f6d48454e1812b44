/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/ledger.h
 * @brief What became of every frame, on the sending side.
 */
#ifndef LIVE_LEDGER_H
#define LIVE_LEDGER_H

#include <stdbool.h>
#include <stdio.h>

#include "internal/media/stream/deadline.h"
#include "internal/media/stream/drop.h"
#include "libtltcp/live/tally.h"
#include "tltcp/event.h"

/** @brief Counts of one kind of frame. */
struct ledger_count {
    uint64_t offered;   /**< read from the input */
    uint64_t delivered; /**< arrived whole */
    uint64_t partial;   /**< arrived in part */
    uint64_t expired;   /**< did not arrive, held back or lost */
};

/** @brief A section that the connection has, or a frame held back. */
struct ledger_entry {
    bool used;           /**< its fate is not known yet */
    bool is_frame;       /**< not a CONFIG or EVENT */
    media_header header; /**< what it is */
    size_t bytes;        /**< of the section */
    int64_t deadline;    /**< ::MEDIA_NEVER */
    uint64_t written;    /**< when it went to the connection; 0: never */
};

/** @brief The book.  Sections are looked up by their number. */
struct ledger {
    struct ledger_entry *entry; /* ring, by number */
    size_t capacity;            /* a power of two */
    uint64_t first;             /* lowest number with an open fate */
    uint64_t next;              /* number of the next section */
    uint64_t open;              /* sections whose fate is not known */
    uint64_t start;             /* time 0 of the CSV */
    struct ledger_count kind[TALLY_KINDS];
    struct ledger_count section;
    uint64_t held_back[MEDIA_DROP_REASONS]; /* frames never sent, by reason */
    uint64_t bytes_offered;                 /* held back or not */
    uint64_t bytes_held_back; /* of frames that the connection never had */
    FILE *csv;
};

/** @brief Opens the book. @param l  book @param csv  file for a line per
 * frame, or NULL @return false with errno */
bool ledger_init(struct ledger *l, const char *csv);

/** @brief Closes it. @return false when the CSV file could not be written */
bool ledger_free(struct ledger *l);

/**
 * @brief Enters the section that the connection took.
 * @param l      book
 * @param entry  what it is; copied
 * @return false without memory
 */
bool ledger_sent(struct ledger *l, const struct ledger_entry *entry);

/** @brief Enters a frame that is given up without being sent.
 * @param l  book @param entry  what it is @param reason  ::media_drop_reason
 * @param now  ns */
void ledger_held_back(struct ledger *l, const struct ledger_entry *entry,
                      int reason, uint64_t now);

/** @brief Enters the fate of a section. @param l  book
 * @param event  a ::TLTCP_EVENT_FATE */
void ledger_fate(struct ledger *l, const tltcp_event *event);

/** @brief The connection is gone: what is open will never be known to have
 * arrived. */
void ledger_abandon(struct ledger *l, uint64_t now);

#endif /* LIVE_LEDGER_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga_bar.h
 * @brief A line on the terminal that tells how far a transfer is.
 */
#ifndef TOOLS_SARATOGA_BAR_H
#define TOOLS_SARATOGA_BAR_H

#include <stdbool.h>
#include <stdint.h>

#include <saratoga/stats.h>

/** @brief The line; only on a terminal, a few times a second. */
struct saratoga_bar {
    bool on;
    bool drawn;
    int width;      /**< of the terminal */
    uint64_t bytes; /**< at the last drawing */
    uint64_t then;  /**< when that was, ns; 0: not yet */
    double rate;    /**< bit/s, smoothed */
};

/** @brief Begins. @param b  line @param quiet  draws nothing, ever */
void saratoga_bar_init(struct saratoga_bar *b, bool quiet);
/** @brief A new file: what was measured is forgotten. @param b  line */
void saratoga_bar_restart(struct saratoga_bar *b);
/** @brief Draws. @param b  line @param name  of the file @param st  state of
 * the transfer; NULL: not begun */
void saratoga_bar_show(struct saratoga_bar *b, const char *name,
                       const saratoga_stats *st);
/** @brief Removes the line, so that something else can be printed.
 * @param b  line */
void saratoga_bar_clear(struct saratoga_bar *b);

#endif /* TOOLS_SARATOGA_BAR_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/bar.h
 * @brief A line on the terminal that tells how far a transfer is.
 */
#ifndef TOOLS_SARATOGA_BAR_H
#define TOOLS_SARATOGA_BAR_H

#include <stdbool.h>
#include <stdint.h>

/** @brief How far all is, together. */
struct saratoga_progress {
    uint64_t now;   /**< ns */
    uint64_t bytes; /**< that are here, or at the peer */
    uint64_t fresh; /**< of them, those that came in this run */
    uint64_t size;  /**< of the files; 0: not known yet */
};

/** @brief The line; only on a terminal, a few times a second. */
struct saratoga_bar {
    bool on;
    bool drawn;
    int width;      /**< of the terminal */
    uint64_t fresh; /**< at the last drawing */
    uint64_t then;  /**< when that was, ns; 0: not yet */
    double rate;    /**< bit/s, smoothed */
};

/** @brief Begins. @param b  line @param quiet  draws nothing, ever */
void saratoga_bar_init(struct saratoga_bar *b, bool quiet);
/** @brief Draws. @param b  line @param name  of the file @param p  how far */
void saratoga_bar_show(struct saratoga_bar *b, const char *name,
                       const struct saratoga_progress *p);
/** @brief Removes the line, so that something else can be printed.
 * @param b  line */
void saratoga_bar_clear(struct saratoga_bar *b);

#endif /* TOOLS_SARATOGA_BAR_H */

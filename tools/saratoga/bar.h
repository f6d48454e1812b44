/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/bar.h
 * @brief A progress line on the terminal.
 */
#ifndef TOOLS_SARATOGA_BAR_H
#define TOOLS_SARATOGA_BAR_H

#include <stdbool.h>
#include <stdint.h>

/** @brief Progress of all transfers together. */
struct saratoga_progress {
    uint64_t now;   /**< ns */
    uint64_t bytes; /**< present here, or at the peer */
    uint64_t fresh; /**< of these, bytes from this run */
    uint64_t size;  /**< of the files; 0: not known yet */
};

/** @brief The line; drawn only on a terminal, a few times a second. */
struct saratoga_bar {
    bool on;
    bool drawn;
    int width;      /**< of the terminal */
    uint64_t fresh; /**< at the last update */
    uint64_t then;  /**< time of the last update, ns; 0: none yet */
    double rate;    /**< bit/s, smoothed */
};

/** @brief Initialises the line. @param b line @param quiet never draws */
void saratoga_bar_init(struct saratoga_bar *b, bool quiet);
/** @brief Draws. @param b  line @param name  of the file @param p  progress */
void saratoga_bar_show(struct saratoga_bar *b, const char *name,
                       const struct saratoga_progress *p);
/** @brief Clears the line before other output.
 * @param b  line */
void saratoga_bar_clear(struct saratoga_bar *b);

#endif /* TOOLS_SARATOGA_BAR_H */

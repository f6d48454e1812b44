/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/progress.h
 * @brief A progress line on the terminal.
 */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/** @brief The line; only on a terminal, a few times a second. */
struct progress {
    bool on;
    int width;      /**< of the terminal */
    uint64_t next;  /**< when to draw again, ns */
    uint64_t bytes; /**< at the last drawing */
    uint64_t then;  /**< when that was */
    double rate;    /**< bit/s, smoothed */
};

/** @brief What it tells. */
struct progress_state {
    double done;     /**< seconds of media, or 0 */
    double total;    /**< seconds of media in all; 0: not known */
    double speed;    /**< media seconds a second; 0: not known */
    uint64_t bytes;  /**< so far */
    const char *end; /**< a word at the end of the line */
};

/** @brief Begins. @param p  line @param quiet  draws nothing, ever */
void progress_init(struct progress *p, bool quiet);

/** @brief Draws when it is time to. @param p  line @param s  what to tell
 * @param now  ns */
void progress_show(struct progress *p, const struct progress_state *s,
                   uint64_t now);

/** @brief Removes the line, so that something else can be printed. */
void progress_clear(struct progress *p);

#endif /* TOOLS_PROGRESS_H */

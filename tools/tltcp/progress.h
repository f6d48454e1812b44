/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/progress.h
 * @brief A progress line on the terminal.
 */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/** @brief The line; drawn only on a terminal, a few times a second. */
struct progress {
    bool on;
    int width;      /**< of the terminal */
    uint64_t next;  /**< time of the next update, ns */
    uint64_t bytes; /**< at the last update */
    uint64_t then;  /**< time of the last update */
    double rate;    /**< bit/s, smoothed */
};

/** @brief Contents of the line. */
struct progress_state {
    double done;     /**< seconds of media, or 0 */
    double total;    /**< total seconds of media; 0: not known */
    double speed;    /**< media seconds a second; 0: not known */
    uint64_t bytes;  /**< so far */
    const char *end; /**< a word at the end of the line */
};

/** @brief Initialises the line. @param p line @param quiet never draws */
void progress_init(struct progress *p, bool quiet);

/** @brief Draws when due. @param p line @param s contents
 * @param now  ns */
void progress_show(struct progress *p, const struct progress_state *s,
                   uint64_t now);

/** @brief Clears the line before other output. */
void progress_clear(struct progress *p);

/** @brief Replaces the line by one about the whole, which stays.
 * @param p  line @param tool  its name @param what  the file
 * @param seconds  of media @param bytes  of frames @param result  the frames */
void progress_end(struct progress *p, const char *tool, const char *what,
                  double seconds, uint64_t bytes, const char *result);

#endif /* TOOLS_PROGRESS_H */

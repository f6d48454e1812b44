/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/frame_log.h
 * @brief The fates of sent frames as CSV.
 */
#ifndef TOOLS_FRAME_LOG_H
#define TOOLS_FRAME_LOG_H

#include <stdio.h>

#include "tltcp/live.h"

/** @brief A file with a line per frame; zeroed: none. */
struct frame_log {
    FILE *csv;
    uint64_t start; /**< time 0 of the file, tltcp_now()'s clock */
};

/** @brief Creates a file. @param l  log @param path  file, or NULL: none
 * @return false with errno */
bool frame_log_open(struct frame_log *l, const char *path);

/** @brief Writes a line. @param l  log @param ev  TLTCP_LIVE_EVENT_FRAME, or
 * another event, which is ignored */
void frame_log_event(const struct frame_log *l, const tltcp_live_event *ev);

/** @brief Closes the file. @param l  log @return false: it could not be
 * written */
bool frame_log_close(struct frame_log *l);

#endif /* TOOLS_FRAME_LOG_H */

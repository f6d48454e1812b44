/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file integrations/common/report.h
 * @brief Events of libtltcp-live as lines of a program's log.
 */
#ifndef INTEGRATIONS_REPORT_H
#define INTEGRATIONS_REPORT_H

#include <tltcp/live.h>

/** How grave a line is. */
enum report_level {
    REPORT_NOTHING = 0, /**< not worth a line */
    REPORT_INFO = 1,    /**< goes as it should */
    REPORT_WARNING = 2, /**< goes on, or will be tried again */
    REPORT_ERROR = 3    /**< over */
};

/** Room for a line. */
#define REPORT_MAX 512

/**
 * @brief Says what happened.
 * @param ev         event
 * @param[out] line  ::REPORT_MAX bytes
 * @return ::report_level
 */
int report_event(const tltcp_live_event *ev, char *line);

#endif /* INTEGRATIONS_REPORT_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/drop.h
 * @brief Reasons for dropping frames, for statistics and reports.
 */
#ifndef MEDIA_DROP_H
#define MEDIA_DROP_H

#include <tltcp/event.h>

/** Why a frame was not sent. */
enum media_drop_reason {
    MEDIA_DROP_NONE = 0,    /**< it was not dropped */
    MEDIA_DROP_LATE = 1,    /**< its deadline passed */
    MEDIA_DROP_DEPENDS = 2, /**< a frame it depends on is lost */
    MEDIA_DROP_YIELDED = 3, /**< dropped in favour of frames that others need */
    MEDIA_DROP_OVERFLOW = 4, /**< there was no room for the frame */
    MEDIA_DROP_REASONS = 5   /**< number of reasons */
};

/**
 * @brief The reason why the connection gave up a section.
 * @param ev  its fate, other than delivered
 * @return ::media_drop_reason
 */
int media__drop_reason(const tltcp_event *ev);

/**
 * @brief The name of a reason.
 * @param reason  ::media_drop_reason
 * @return static text such as "late"
 */
const char *media__drop_name(int reason);

#endif /* MEDIA_DROP_H */

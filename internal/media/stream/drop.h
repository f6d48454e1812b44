/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/media/stream/drop.h
 * @brief Why a frame was not sent, for statistics and reports.
 */
#ifndef MEDIA_DROP_H
#define MEDIA_DROP_H

#include <tltcp/event.h>

/** Why a frame was not sent. */
enum media_drop_reason {
    MEDIA_DROP_NONE = 0,    /**< it was not dropped */
    MEDIA_DROP_LATE = 1,    /**< its deadline passed */
    MEDIA_DROP_DEPENDS = 2, /**< what it needs is lost */
    MEDIA_DROP_YIELDED = 3, /**< dropped in favour of frames that others need */
    MEDIA_DROP_OVERFLOW = 4, /**< there was no room for it */
    MEDIA_DROP_REASONS = 5   /**< how many there are */
};

/**
 * @brief The reason why the connection gave a section up.
 * @param ev  its fate, which is not that it was delivered
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

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file internal/credentials/rejections.h
 * @brief When a listener reports the callers that it rejects.
 *
 * Strangers cause these reports, so there are few: ten at once, then one a
 * minute.
 */
#ifndef CREDENTIALS_REJECTIONS_H
#define CREDENTIALS_REJECTIONS_H

#include <stdbool.h>
#include <stdint.h>

/** @brief What was reported; zeroed initially. */
struct secrets_rejections {
    uint64_t told;   /**< callers in the last report */
    uint64_t look;   /**< time of the next check, ns */
    uint64_t budget; /**< time at which nothing is spent, ns */
};

/** @brief Whether a check is due: once a second. @param r  state
 * @param now  ns of a monotonic clock
 * @return true: secrets_rejections_are_news() should be called */
bool secrets_rejections_look(struct secrets_rejections *r, uint64_t now);

/** @brief Whether to report now. @param r  state
 * @param count  callers rejected so far @param now  ns of the same clock
 * @return true: report them; false: nothing new, or too many reports */
bool secrets_rejections_are_news(struct secrets_rejections *r, uint64_t count,
                                 uint64_t now);

/** What the owner of the listener should do. */
#define REJECTIONS_ADVICE                                                  \
    "it has another passphrase or key than this listener, or only one of " \
    "them has any; give both the same"

#endif /* CREDENTIALS_REJECTIONS_H */

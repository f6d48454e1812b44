/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TOOLS_SARATOGA_CONFIRM_H
#define TOOLS_SARATOGA_CONFIRM_H

#include "tools/saratoga/batch.h"

/*
 * After a take: has the peer deleted its copy?
 *
 * The last word of a transfer, that all has come, may be lost, and the peer may
 * be unable to delete.  So the peer is asked what it has under that name, until
 * it has nothing or something else.
 */

/** @brief What an answer says. */
enum saratoga_confirm {
    SARATOGA_CONFIRM_GONE,   /**< the copy is deleted, or nothing says no */
    SARATOGA_CONFIRM_THERE,  /**< it is still there */
    SARATOGA_CONFIRM_UNKNOWN /**< no answer came */
};

/** @brief Makes a take that has ended well the question whether the copy is
 * gone. @param t  task @param ev  its end @return false: memory is short */
bool saratoga_confirm_begin(struct saratoga_task *t,
                            const saratoga_node_event *ev);
/** @brief Judges the answer. @param t  task @param ev  end of the question
 * @return what it says */
enum saratoga_confirm saratoga_confirm_judge(const struct saratoga_task *t,
                                             const saratoga_node_event *ev);
/** @brief Whether to ask again. @param t  task @param now  time
 * @return false: it was asked often and long enough; else t->start_at is when
 */
bool saratoga_confirm_again(struct saratoga_task *t, uint64_t now);
/** @brief Ends it: t->taken is the end of the take, with an error should the
 * copy not be gone. @param t  task @param c  the last answer */
void saratoga_confirm_end(struct saratoga_task *t, enum saratoga_confirm c);

#endif /* TOOLS_SARATOGA_CONFIRM_H */

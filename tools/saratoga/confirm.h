/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TOOLS_SARATOGA_CONFIRM_H
#define TOOLS_SARATOGA_CONFIRM_H

#include "tools/saratoga/task.h"

/*
 * Checks after a take that the peer has deleted its copy.
 *
 * The last STATUS of a transfer, which reports completion, may be lost, and the
 * peer may be unable to delete. So the peer is asked for the entry of that name
 * until there is none or another file.
 */

/** @brief Meaning of an answer. */
enum saratoga_confirm {
    SARATOGA_CONFIRM_GONE,   /**< the copy is deleted, as far as known */
    SARATOGA_CONFIRM_THERE,  /**< it is still there */
    SARATOGA_CONFIRM_UNKNOWN /**< there was no answer */
};

/** @brief Turns a successful take into the question whether the copy is gone.
 * @param t  task @param ev  its end @return false: out of memory */
bool saratoga_confirm_begin(struct saratoga_task *t,
                            const saratoga_node_event *ev);
/** @brief Evaluates the answer. @param t  task @param ev  end of the question
 * @return its meaning */
enum saratoga_confirm saratoga_confirm_judge(const struct saratoga_task *t,
                                             const saratoga_node_event *ev);
/** @brief Whether to ask again. @param t  task @param now  time
 * @return false: the limit is reached; else t->start_at is the time
 */
bool saratoga_confirm_again(struct saratoga_task *t, uint64_t now);
/** @brief Ends the check: t->taken is the end of the take, with an error if the
 * copy is not gone. @param t  task @param c  the last answer */
void saratoga_confirm_end(struct saratoga_task *t, enum saratoga_confirm c);

#endif /* TOOLS_SARATOGA_CONFIRM_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/batch.h
 * @brief Runs transfers, a few at a time, with a progress line and a report.
 */
#ifndef TOOLS_SARATOGA_BATCH_H
#define TOOLS_SARATOGA_BATCH_H

#include <jansson.h>

#include <saratoga/node.h>

#include "tools/common/address.h"
#include "tools/saratoga/bar.h"
#include "tools/saratoga/options.h"
#include "tools/saratoga/task.h"
#include "tools/saratoga/waiting.h"

struct saratoga_batch;

/** @brief Whether a listed file is wanted; the task gives its destination. */
typedef bool (*saratoga_batch_want_fn)(struct saratoga_batch *b,
                                       const struct saratoga_task *t);

/** @brief Handles a finished task. */
typedef void (*saratoga_batch_fn)(struct saratoga_batch *b,
                                  const struct saratoga_task *t,
                                  const saratoga_node_event *ev);

/** @brief The queue. */
struct saratoga_batch {
    const struct saratoga_args *args;
    saratoga_node *node;
    struct hostport group; /**< of saratoga_args::group */
    struct saratoga_waiting waiting;
    bool told_many;                /**< that too many tasks wait was reported */
    struct saratoga_task *running; /**< newest first */
    unsigned n_running;
    struct saratoga_progress over; /**< sum over finished transfers */
    struct saratoga_bar bar;
    saratoga_batch_fn on_done;        /**< NULL: only count */
    saratoga_batch_want_fn is_wanted; /**< NULL: files that are not here yet */
    saratoga_batch_fn on_peer;        /**< beacons; the task is NULL */
    void *user;
    json_t *reports; /**< array with an object per transfer */
    unsigned done;
    unsigned failed;
    uint64_t srtt_ns;  /**< longest round trip of finished transfers */
    bool repaired;     /**< data was lost and repaired */
    bool unreachable;  /**< the last task had no answer */
    unsigned silences; /**< number of successive tasks without an answer, with
                            nothing else running */
    bool hushed;       /**< the outage is known and not reported again */
    bool told_silence; /**< a silent peer was reported, or none is */
    bool told_mtu;     /**< packets too large for the link were reported */
    bool logs;         /**< each end is logged with the time of day */
};

/**
 * @brief Opens a node for a client.
 * @param[out] b  batch @param a  command line @param service  local port; NULL:
 * any @param hear  receives beacons
 * @return TOOL_OK or an exit code
 */
int saratoga_batch_open(struct saratoga_batch *b, const struct saratoga_args *a,
                        const char *service, bool hear);
/** @brief Adds a task, and frees it. If too many wait, it is counted as
 * failed. @param b  batch @param t  task */
void saratoga_batch_add(struct saratoga_batch *b, struct saratoga_task *t);
/** @brief Drops the waiting tasks. @param b batch @return their number */
unsigned saratoga_batch_drop(struct saratoga_batch *b);
/** @brief Runs all tasks, including those that on_done adds, until a signal
 * requests the end. A few run at a time, so that the link is busy while one
 * waits for an answer. @param b  batch */
void saratoga_batch_run(struct saratoga_batch *b);
/** @brief Waits, and passes beacons on. @param b  batch @param ns  duration
 * @param stop  ends the wait once it is true; or NULL */
void saratoga_batch_wait(struct saratoga_batch *b, uint64_t ns,
                         const bool *stop);
/** @brief Closes the node after answering stray packets for a moment.
 * @param b  batch @param rc  exit code so far @return the exit code, including
 *           failed tasks */
int saratoga_batch_close(struct saratoga_batch *b, int rc);
/** @brief Writes the report if one is wanted. @param b  batch
 * @return TOOL_OK or TOOL_FAILED */
int saratoga_batch_report(struct saratoga_batch *b);

#endif /* TOOLS_SARATOGA_BATCH_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/batch.h
 * @brief Transfers, a few at a time, with a progress line and a report.
 */
#ifndef TOOLS_SARATOGA_BATCH_H
#define TOOLS_SARATOGA_BATCH_H

#include <jansson.h>

#include <saratoga/node.h>

#include "tools/common/address.h"
#include "tools/saratoga/bar.h"
#include "tools/saratoga/options.h"

/** @brief One transfer, listing or deletion. */
struct saratoga_task {
    struct saratoga_task *next;
    uint32_t type; /**< saratoga_request_type */
    char host[256];
    char port[32];
    char path[SARATOGA_PATH_MAX]; /**< at the peer */
    char folder[4096];            /**< here */
    char file[SARATOGA_PATH_MAX]; /**< in it; "": by the peer */
    bool resume;
    bool overwrite;
    bool stream;        /**< of standard input, or to standard output */
    uint64_t id;        /**< of the transfer, once it runs */
    uint64_t size;      /**< mirror: as listed */
    int64_t mtime;      /**< mirror: likewise, POSIX seconds */
    uint64_t start_at;  /**< not before, by saratoga_batch_now() */
    unsigned questions; /**< so often the peer was asked whether it is gone */
    saratoga_node_event *taken; /**< how the take ended that is confirmed now;
                                     from malloc() */
};

struct saratoga_batch;

/** @brief Whether a file that is listed is wanted; the task says where it would
 * go. */
typedef bool (*saratoga_batch_want_fn)(struct saratoga_batch *b,
                                       const struct saratoga_task *t);

/** @brief What becomes of a finished task. */
typedef void (*saratoga_batch_fn)(struct saratoga_batch *b,
                                  const struct saratoga_task *t,
                                  const saratoga_node_event *ev);

/** @brief The queue. */
struct saratoga_batch {
    const struct saratoga_args *args;
    saratoga_node *node;
    struct hostport group;       /**< of saratoga_args::group */
    struct saratoga_task *first; /**< those that wait */
    struct saratoga_task *last;
    struct saratoga_task *running; /**< newest first */
    unsigned n_running;
    struct saratoga_progress over; /**< of transfers that are over, added up */
    struct saratoga_bar bar;
    saratoga_batch_fn on_done;        /**< NULL: nothing beyond counting */
    saratoga_batch_want_fn is_wanted; /**< NULL: what is not here yet */
    saratoga_batch_fn on_peer;        /**< beacons; the task is NULL */
    void *user;
    json_t *reports; /**< array, an object per transfer */
    unsigned done;
    unsigned failed;
    uint64_t srtt_ns;  /**< longest round trip of those that are over */
    bool repaired;     /**< something was lost on the way */
    bool unreachable;  /**< the last one failed for want of an answer */
    unsigned silences; /**< so many in a row, with nothing else under way */
    bool hushed;       /**< which is known and not said again */
    bool told_mtu;     /**< that packets are too large here */
    bool logs;         /**< each end is a line with the time of day */
};

/**
 * @brief Opens a node for a client.
 * @param[out] b  batch @param a  command line @param service  local port;
 * NULL: a free one @param hear  hears beacons
 * @return TOOL_OK or an exit code
 */
int saratoga_batch_open(struct saratoga_batch *b, const struct saratoga_args *a,
                        const char *service, bool hear);
/** @brief A new task, zeroed; the caller fills it in and adds it.
 * @return NULL when memory is short */
struct saratoga_task *saratoga_task_new(void);
/** @brief Frees a task. @param t  task or NULL */
void saratoga_task_free(struct saratoga_task *t);
/** @brief Adds a task, which the batch then owns. @param b  batch @param t
 * task */
void saratoga_batch_add(struct saratoga_batch *b, struct saratoga_task *t);
/** @brief Drops the tasks that wait. @param b  batch @return how many */
unsigned saratoga_batch_drop(struct saratoga_batch *b);
/** @brief Does all tasks, those that on_done adds included; less when a signal
 * asks for the end.  A few run at a time, so that the link is busy while one
 * waits for an answer. @param b  batch */
void saratoga_batch_run(struct saratoga_batch *b);
/** @brief Waits, passing beacons on. @param b  batch @param ns  how long
 * @param stop  ends earlier once it is true; or NULL */
void saratoga_batch_wait(struct saratoga_batch *b, uint64_t ns,
                         const bool *stop);
/** @brief Ends the node: answers stray packets for a moment, first.
 * @param b  batch @param rc  exit code so far @return it, or one for what
 * failed */
int saratoga_batch_close(struct saratoga_batch *b, int rc);
/** @brief Writes the report, when one is wanted. @param b  batch
 * @return TOOL_OK or TOOL_FAILED */
int saratoga_batch_report(struct saratoga_batch *b);

#endif /* TOOLS_SARATOGA_BATCH_H */

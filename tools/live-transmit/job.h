/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/job.h
 * @brief A stream from the input to the output; shared by the files that
 * transmit it.
 */
#ifndef TOOLS_TRANSMIT_JOB_H
#define TOOLS_TRANSMIT_JOB_H

#include <signal.h>

#include "tools/common/metrics.h"
#include "tools/common/privileges.h"
#include "tools/live-transmit/link.h"
#include "tools/live-transmit/out.h"
#include "tools/live-transmit/pace.h"
#include "tools/live-transmit/release.h"
#include "tools/live-transmit/stats.h"
#include "tools/live-transmit/viewer.h"

/** For messages. */
#define TOOL "tltcp-live-transmit"
/** Time at the end for sent data to arrive. */
#define LINGER_MS 2000
/** Time for receivers to write and close, beside the latency. */
#define CONFIRM_MS 5000

/** @brief The state of the program. */
struct job {
    const struct transmit_options *o;
    uint64_t start;
    int status;       /* exit status; -1: continue */
    bool over;        /* the input has ended */
    uint64_t stop_at; /* after a signal; 0: there was none */
    uint64_t end_by;  /* when to stop waiting for the receivers' end; 0: data is
                         on its way */
    int in_fd;
    struct out out;      /* unless the output is TLTCP */
    char out_error[100]; /* why it cannot be written; or "" */

    struct link source; /* input by TLTCP */
    tltcp_live *from;   /* its connection */
    bool ended;         /* it has ended; it stays until its data is written */
    bool replaceable;   /* or until another caller comes */
    char source_id[TLTCP_STREAM_ID_MAX + 1]; /* that it asked for */
    bool described;      /* the peer sends a transport stream */
    uint32_t latency_ms; /* the sender's */
    char why[200];       /* why its data cannot be used; or "" */
    struct release release;

    struct link target; /* output by TLTCP */
    struct viewers viewers;
    tltcp_live_stream *stream;
    struct pace pace; /* of a file or pipe */

    struct transmit_totals totals;
    tltcp_stats last; /* of the newest connection, at its end */
    uint64_t stats_next;
    FILE *stats;
    bool stats_begun;
    struct metrics *metrics;
    struct privileges_dropped rights;
    bool rights_reported;
    struct pollfd *fds;
    sigset_t during_wait;
    uint8_t buffer[65536];
};

/** @brief Whether the output is a connection. */
bool job_sends(const struct job *j);

/** @brief Whether the input is a connection. */
bool job_receives(const struct job *j);

/** @brief Ends the program unless it is already ending. @param j  job
 * @param status  exit status */
void job_end(struct job *j, int status);

/** @brief Ends the program: out of memory. @param j  job */
void job_no_memory(struct job *j);

/** @brief Ends the program if the output could not be written. @param j  job
 * @param ok  false: errno gives the cause */
void job_check_written(struct job *j, bool ok);

/** @brief Passes on bytes of the input. @param j  job @param data  bytes
 * @param len  how many @param now  arrival or due time */
void job_deliver(struct job *j, const uint8_t *data, size_t len, uint64_t now);

/** @brief Handles the end of the input. @param j  job */
void job_end_input(struct job *j);

#endif /* TOOLS_TRANSMIT_JOB_H */

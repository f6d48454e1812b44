/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/live_impl.h
 * @brief Shared by the files of ::tltcp_live.
 */
#ifndef TLTCP_LIVE_IMPL_H
#define TLTCP_LIVE_IMPL_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "libtltcp/live/section.h"

/** The clock of condition variables; Apple's support only this one. */
#ifdef __APPLE__
#define LIVE_CLOCK CLOCK_REALTIME
#else
#define LIVE_CLOCK CLOCK_MONOTONIC
#endif

/** Maximum number of streams of a sender or receiver. */
#define LIVE_STREAMS 256

/** A queued event. */
struct live_event {
    struct live_event *next;
    tltcp_live_event ev;
};

/** Events, with their own lock. */
struct live_events {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct live_event *first;
    struct live_event *last;
    size_t count;
};

/** A received format. */
struct live_format {
    tltcp_live_format format; /* its pointers refer to text */
    uint8_t *text;
    size_t bytes; /* of text */
};

/** The sending side. */
struct live_output {
    pthread_t thread;
    bool running;  /* the thread exists */
    bool stopping; /* it must end */
    bool begun;    /* a frame was written */
    bool finished; /* the end was written */
    int error;     /* why there will be no other connection */
    tltcp_live_stream *stream[LIVE_STREAMS];
    tltcp_live_sender **sender;
    size_t senders;
    tltcp_live_event connected; /* of the newest connection; used only by the
                                   thread */
    uint64_t estimated_bps;     /* of the fastest connection */
    uint64_t target_bps;        /* likewise */
};

/** The receiving side. */
struct live_input {
    tltcp_socket *socket;
    tltcp_live_receiver *receiver;
    bool ended;      /* the sender announced the end */
    bool described;  /* the sender sends a transport stream */
    bool over;       /* there will be no other connection; that of the last
                        stream is open until the application closes it */
    tltcp_time when; /* to read again at the latest */
    struct live_format *format[LIVE_STREAMS];
    tltcp_live_received section; /* the newest */
    const uint8_t *rest;         /* of its data, for tltcp_live_read_ts() */
    size_t rest_len;
};

struct tltcp_live {
    int direction;
    tltcp_live_options *options;
    tltcp_live_link *link;
    int wake[2]; /* a pipe: readable when there is something to do */
    atomic_bool interrupted;
    atomic_bool busy; /* the one connection is open */
    struct live_events events;
    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t changed;
    tltcp_live_stats departed; /* of ended connections */
    tltcp_stats last;          /* of the connection that ended last */
    bool has_last;
    uint64_t connections;
    struct live_output out;
    struct live_input in;
};

/** @brief Keeps the statistics of a connection that is about to be freed.
 * Requires the lock. @param socket  its socket, or NULL */
void tltcp__live_keep_last(tltcp_live *l, const tltcp_socket *socket);

/** @brief Queues an event. No lock is needed. */
void tltcp__live_post(tltcp_live *l, const tltcp_live_event *ev);

/** @brief Wakes a polling application. */
void tltcp__live_wake(tltcp_live *l);

/** @brief Empties the pipe. */
void tltcp__live_woken(tltcp_live *l);

/** @brief The settings. */
const tltcp_live_settings *tltcp__live_settings(const tltcp_live *l);

/** @brief A point in time on the clock of condition variables.
 * @param ms  from now */
struct timespec tltcp__live_until(uint64_t ms);

/** @brief When to look again at what no descriptor tells of.
 * @param when  latest time @return the earlier one */
tltcp_time tltcp__live_soon(tltcp_time when);

/** @brief Waits until a descriptor is ready. If one is negative, because the
 * process has none left, the wait is short. @param until  its latest end */
void tltcp__live_poll(struct pollfd *fds, nfds_t n, tltcp_time until);

/** @brief Starts the sender's thread. @param socket  the call takes ownership;
 * or NULL
 * @return 0 or TLTCP_ERR_NOMEM */
int tltcp__live_output_start(tltcp_live *l, tltcp_socket *socket);

/** @brief Reads from a connection. @param socket  the call takes ownership
 * @return 0 or TLTCP_ERR_NOMEM */
int tltcp__live_input_start(tltcp_live *l, tltcp_socket *socket);

/** @brief Ends the sender's thread and closes its connections. */
void tltcp__live_output_stop(tltcp_live *l, int linger_ms);

/** @brief Aborts the receiver's connection. @param reason  or NULL */
void tltcp__live_input_abort(tltcp_live *l, const char *reason);

/** @brief Closes the receiver's connection and frees its formats. */
void tltcp__live_input_stop(tltcp_live *l, int linger_ms);

#endif /* TLTCP_LIVE_IMPL_H */

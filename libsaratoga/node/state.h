/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_STATE_H
#define LIBSARATOGA_NODE_STATE_H

#include <saratoga/engine.h>
#include <saratoga/node.h>

#include <limits.h>
#include <stdatomic.h>

#include "internal/net/route.h"
#include "internal/net/udp.h"
#include "libsaratoga/node/hash.h"
#include "libsaratoga/node/loop.h"
#include "libsaratoga/node/op_queue.h"
#include "libsaratoga/node/part.h"
#include "libsaratoga/node/places.h"

/*
 * What a node and its transfers consist of, by what the parts are for.
 *
 * Everything runs on the loop's thread except operations on blocks of files
 * (worker.c) and jobs (opening, listing, hashing, closing), which run on the
 * thread pool.  A job returns its result; only its `done` function, which runs
 * on the loop, changes what the loop reads.
 *
 * Each transfer of the engine has a saratoga__file, which is its `user`.  It
 * lives until the transfer has ended and no thread works on it.
 */

typedef struct saratoga__file saratoga__file;
struct saratoga__secure;
struct saratoga__event;

/* --- A transfer ---------------------------------------------------------- */

enum saratoga__phase {
    SARATOGA__RUNNING,
    SARATOGA__CANCELLED, /* by the application; the end follows */
    SARATOGA__ENDED,     /* the engine has ended it; threads may not have */
    SARATOGA__CLOSING    /* its last job is under way */
};

/* What it is read from or written to. */
enum saratoga__medium {
    SARATOGA__UNOPENED,
    SARATOGA__MEMORY,   /* a directory record */
    SARATOGA__SOURCE,   /* a file that is sent */
    SARATOGA__PART,     /* a partial file */
    SARATOGA__EXISTING, /* a file that what comes is compared with */
    SARATOGA__OUTPUT    /* a stream is received */
};

struct saratoga__peer {
    net__route route;
    uint64_t host; /* token of its address */
    uint64_t path; /* with its port; 0: a transfer that the peer began */
    char name[256];
    char service[32];
    uint32_t descriptor; /* widest that it takes */
    int rejection;       /* saratoga_error: it refuses our sealed sessions */
    bool proven;         /* it receives at its address */
    uint64_t waits_from; /* for proof of that; 0: does not wait */
    saratoga__place_key place;
};

struct saratoga__group {
    char name[64]; /* where the answer may go; "": only here */
    char service[32];
    net__addr address;
    bool heard;     /* `address` is to be heard */
    bool addressed; /* the file is sent to the node's group */
};

struct saratoga__local {
    saratoga__root own_root; /* of a transfer of ours */
    const saratoga__root *root;
    char folder[PATH_MAX];
    char name[SARATOGA_PATH_MAX]; /* below root; "": by the peer's METADATA */
    struct stat st;
    int fd; /* of a source, or of what is compared with; -1: none */
    enum saratoga__medium medium;
    uint8_t *memory;
    size_t memory_len;
    size_t memory_cap;
};

struct saratoga__send {
    saratoga_source source;
    bool digest_due;   /* its checksum is computed while it is sent */
    uint64_t digested; /* bytes at the last tick */
    uint64_t read_end; /* behind the newest block read */
    uint64_t rate;     /* its share; 0: has none yet */
    unsigned weight;   /* in the sharing; 0: needs nothing now */
    bool shares_rate;  /* that of the node */
    bool remove;       /* the source, now that the peer has it */
    void (*then)(saratoga__file *f); /* the checksum is known or put off */
};

enum saratoga__input_phase {
    SARATOGA__INPUT_OPEN,
    SARATOGA__INPUT_OVER,    /* there is no more to read */
    SARATOGA__INPUT_FINISHED /* and the engine knows */
};

/* A stream that is sent. */
struct saratoga__input {
    int fd;         /* -1: it is none */
    uv_poll_t poll; /* of an input that was opened here */
    int error;      /* UV_E... */
    uint8_t *chunk; /* read and not yet with the engine */
    size_t chunk_len;
    size_t chunk_at;
    enum saratoga__input_phase phase;
    bool owned;  /* opened here */
    bool polled; /* `poll` is open */
};

/* A stream that is received. */
struct saratoga__output {
    int fd;                /* -1: it is none */
    uint64_t at;           /* bytes written and skipped */
    atomic_bool cancelled; /* no writer may wait any longer */
};

enum saratoga__verdict {
    SARATOGA__PENDING,   /* what came is kept for a later transfer */
    SARATOGA__COMMITTED, /* the file has its name */
    SARATOGA__REJECTED,  /* the checksum is wrong: the part is removed */
    SARATOGA__UNCHANGED  /* the copy here is up to date: likewise */
};

struct saratoga__receive {
    uint64_t packets;    /* of DATA at the last tick */
    uint64_t active_at;  /* when that grew; 0: not looked at yet */
    uint64_t wait_until; /* for a dead transfer to make way; 0: waits not */
    saratoga__part part;
    saratoga_partial partial; /* what METADATA said; what was held */
    saratoga_range *ranges;   /* of partial, from malloc() */
    enum saratoga__verdict verdict;
    bool overwrite;
    bool resume;
    bool endless;        /* a stream: nothing of it is resumed */
    bool counted;        /* its size is part of the quota used */
    bool described;      /* by METADATA or a map */
    bool resumable;      /* there was a usable map */
    bool updates;        /* the request describes the copy that is here */
    uv_mutex_t map_lock; /* of the part and its map, between pool threads */
    uint8_t *map;
    size_t map_len;
    uint64_t saved;     /* bytes that the saved map names */
    uint64_t next_save; /* by uv_hrtime() */
    uint64_t save_wait; /* between the last save and that */
};

/* A call on the thread pool; one at a time per file. */
struct saratoga__job {
    uv_work_t work;
    int (*run)(saratoga__file *f);               /* in a thread */
    void (*done)(saratoga__file *f, int status); /* on the loop */
    enum saratoga__medium medium;                /* that `run` has opened */
    int input;  /* pipe that `run` has opened; -1: none */
    int status; /* that `run` returned */
    bool busy;
};

struct saratoga__work {
    struct saratoga__hash hash;
    struct saratoga__job job;
    saratoga__op_queue queue;
    saratoga__ops waiting; /* for the file to be open */
    const char *stage;     /* what the job was at */
    int status;            /* first failure: UV_E... or SARATOGA__... */
    unsigned pending;      /* operations of the engine with a thread */
};

struct saratoga__file {
    saratoga_node *u;
    saratoga__file *next;
    saratoga__file *prev;
    saratoga__file *next_check; /* in the node's list of such */
    bool to_check;
    enum saratoga__phase phase;
    uint64_t id;            /* of a transfer of ours; 0: a peer's */
    saratoga_handle handle; /* 0: the engine does not know it (any more) */
    void *user;
    char path[SARATOGA_PATH_MAX]; /* at the responder, as asked for */
    uint32_t request;             /* saratoga_request_type */
    bool has_options;
    saratoga_options options;
    char congestion[32]; /* options.congestion points here */
    saratoga_node_event result;

    struct saratoga__peer peer;
    struct saratoga__group group;
    struct saratoga__local local;
    struct saratoga__send send;
    struct saratoga__input input;
    struct saratoga__receive recv;
    struct saratoga__output output;
    struct saratoga__work work;
};

/* --- A node -------------------------------------------------------------- */

#define SARATOGA__ROUTES 4096u /* a power of two */

struct saratoga__route_entry {
    uint64_t path;
    net__route route;
};

/* Where datagrams go. */
struct saratoga__routes {
    uint8_t key[NET__KEY_LEN];
    struct saratoga__route_entry *entry; /* by path, direct-mapped */
    net__route beacon;
    net__route group; /* where gets are answered, if there is a group */
    saratoga_pktinfo group_info;
};

struct saratoga__sockets {
    net__udp *udp;
    net__udp *lite;      /* UDP-Lite, on the same port; or NULL */
    net__udp *multicast; /* hears a group; or NULL */
    net__addr multicast_at;
    bool multicast_all; /* not only what members say */
    /* Takes what came. */
    void (*deliver)(saratoga_node *u, const net__burst *in, size_t count,
                    uint32_t flags);
};

#define SARATOGA__DIGESTS 64u

struct saratoga__digest_entry {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec mtime;
    struct timespec ctime;
    uint32_t checksum; /* 0: not in use */
    uint8_t digest[SARATOGA_CHECKSUM_MAX];
};

/* Checksums of files that were sent before. */
struct saratoga__digests {
    struct saratoga__digest_entry entry[SARATOGA__DIGESTS];
    unsigned next;
};

/* Events for the application. */
struct saratoga__event_queue {
    struct saratoga__event *first;
    struct saratoga__event *last;
    unsigned count;
    uint8_t *record; /* of the event taken last */
    void (*notify)(void *user);
    void *notify_user;
};

/* What may be spent on peers that have not proven their address. */
struct saratoga__stranger_budget {
    double hashing; /* bytes */
    double begun;   /* requests that wait for proof in vain */
    uint64_t at;    /* when these were last refilled */
};

struct saratoga_node {
    saratoga__loop loop;
    saratoga__completions completions;
    saratoga_node_config config;
    saratoga_config engine_config;
    uint8_t auth_key[SARATOGA_KEY_MAX]; /* engine_config.auth_key, if any */
    saratoga_options options;
    saratoga_engine *engine;
    struct saratoga__sockets net;
    struct saratoga__secure *secure;
    struct saratoga__routes routes;
    saratoga__root root;
    bool has_root;
    uint64_t stored; /* of the quota */
    struct saratoga__places places;
    struct saratoga__stranger_budget strangers;
    struct saratoga__digests digests;
    saratoga__file *files;
    unsigned n_files;
    saratoga__file *to_check; /* whose end may have come */
    uint64_t share_at;        /* when the rate is divided again */
    uint64_t next_id;
    struct saratoga__event_queue events;
};

static inline saratoga_time saratoga__now(void) {
    return uv_hrtime();
}

static inline void saratoga__wake(saratoga_node *u) {
    saratoga__loop_wake(&u->loop);
}

static inline bool saratoga__has_ended(const saratoga__file *f) {
    return f->phase >= SARATOGA__ENDED;
}

#endif /* LIBSARATOGA_NODE_STATE_H */

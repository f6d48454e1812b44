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
 * The parts of a node and its transfers, by purpose.
 *
 * Everything runs on the loop's thread except operations on blocks of files
 * (worker.c) and jobs (opening, listing, hashing, closing), which run on the
 * thread pool.  A job returns its result; only its `done` function, which runs
 * on the loop, changes data that the loop reads.
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
    SARATOGA__CLOSING    /* its last job is running */
};

/* Where the data of a transfer is read from or written to. */
enum saratoga__medium {
    SARATOGA__UNOPENED,
    SARATOGA__MEMORY,   /* a directory record */
    SARATOGA__SOURCE,   /* a file being sent */
    SARATOGA__PART,     /* a partial file */
    SARATOGA__EXISTING, /* a file compared with the received data */
    SARATOGA__OUTPUT    /* a stream being received */
};

struct saratoga__peer {
    net__route route;
    uint64_t host; /* token of the peer's address */
    uint64_t path; /* token with its port; 0: not known yet */
    char name[256];
    char service[32];
    uint32_t descriptor; /* widest that it accepts */
    int rejection;       /* saratoga_error if it refuses our sealed sessions */
    bool proven;         /* it has proven its address */
    uint64_t waits_from; /* since when it waits for that proof; 0: does not
                            wait */
    saratoga__place_key place;
};

struct saratoga__group {
    char name[64]; /* group for the answer; "": only this node */
    char service[32];
    net__addr address;
    bool heard;     /* `address` must be joined */
    bool addressed; /* the file is sent to the node's group */
};

struct saratoga__local {
    saratoga__root own_root; /* of a transfer of this side */
    const saratoga__root *root;
    char folder[PATH_MAX];
    char name[SARATOGA_PATH_MAX]; /* below root; "": from the peer's METADATA */
    struct stat st;
    int fd; /* of a source, or of the file compared with; -1: none */
    enum saratoga__medium medium;
    uint8_t *memory;
    size_t memory_len;
    size_t memory_cap;
};

struct saratoga__send {
    saratoga_source source;
    bool digest_due;   /* its checksum is computed while the file is sent */
    uint64_t digested; /* bytes at the last tick */
    uint64_t read_end; /* end of the newest block read */
    uint64_t rate;     /* its share; 0: none yet */
    unsigned weight;   /* weight of its share; 0: needs none now */
    bool shares_rate;  /* uses the node's rate */
    bool remove;       /* remove the source once the peer has it */
    void (*then)(saratoga__file *f); /* called when the checksum is known or
                                        deferred */
};

enum saratoga__input_phase {
    SARATOGA__INPUT_OPEN,
    SARATOGA__INPUT_OVER,    /* nothing more to read */
    SARATOGA__INPUT_FINISHED /* and the engine was informed */
};

/* A stream being sent. */
struct saratoga__input {
    int fd;         /* -1: not a stream */
    uv_poll_t poll; /* of an input that the node
                       opened */
    int error;      /* UV_E... */
    uint8_t *chunk; /* read and not yet passed to the engine */
    size_t chunk_len;
    size_t chunk_at;
    enum saratoga__input_phase phase;
    bool owned;  /* opened by the node */
    bool polled; /* `poll` is open */
};

/* A stream being received. */
struct saratoga__output {
    int fd;                /* -1: not a stream */
    uint64_t at;           /* bytes written and skipped */
    atomic_bool cancelled; /* writers must not wait any longer */
};

enum saratoga__verdict {
    SARATOGA__PENDING,   /* received data is kept for a later transfer */
    SARATOGA__COMMITTED, /* the file has its final name */
    SARATOGA__REJECTED,  /* wrong checksum: the part is removed */
    SARATOGA__UNCHANGED  /* the local copy is up to date: likewise */
};

struct saratoga__receive {
    uint64_t packets;    /* DATA packets at the last tick */
    uint64_t active_at;  /* when packets last grew; 0: not checked yet */
    uint64_t wait_until; /* waits until then for a dead transfer to end; 0: does
                            not wait */
    saratoga__part part;
    saratoga_partial partial; /* from METADATA, and the ranges held */
    saratoga_range *ranges;   /* ranges of partial, from malloc() */
    enum saratoga__verdict verdict;
    bool overwrite;
    bool resume;
    bool endless;        /* a stream: cannot be resumed */
    bool counted;        /* what it lacks counts against the quota: */
    uint64_t charged;    /* bytes of it that do */
    uint64_t resumed;    /* bytes of it that an earlier transfer brought */
    bool kept;           /* the part stays for a later transfer */
    bool described;      /* METADATA or a map was read */
    bool resumable;      /* there was a usable map */
    bool updates;        /* the request describes the local copy */
    bool superseded;     /* another transfer has taken it over */
    uv_mutex_t map_lock; /* protects the part and its map between pool
                            threads */
    uint8_t *map;
    size_t map_len;
    uint64_t saved;     /* bytes covered by the saved map */
    uint64_t next_save; /* time of the next save, by uv_hrtime() */
    uint64_t save_wait; /* interval to the next save */
};

/* A call on the thread pool; one at a time per file. */
struct saratoga__job {
    uv_work_t work;
    int (*run)(saratoga__file *f);               /* in a thread */
    void (*done)(saratoga__file *f, int status); /* on the loop */
    enum saratoga__medium medium;                /* that `run` opened */
    int input;  /* pipe that `run` opened; -1: none */
    int status; /* result of `run` */
    bool busy;
};

struct saratoga__work {
    struct saratoga__hash hash;
    struct saratoga__job job;
    saratoga__op_queue queue;
    saratoga__ops waiting; /* waiting until the file is open */
    const char *stage;     /* current step of the job */
    int status;            /* first failure: UV_E... or SARATOGA__... */
    unsigned pending;      /* operations of the engine being run by threads */
};

struct saratoga__file {
    saratoga_node *u;
    saratoga__file *next;
    saratoga__file *prev;
    saratoga__file *next_check; /* in the node's list of files to check */
    bool to_check;
    enum saratoga__phase phase;
    uint64_t id;            /* of a transfer of this side; 0: a peer's */
    saratoga_handle handle; /* 0: not (or no longer) known to the engine */
    void *user;
    char path[SARATOGA_PATH_MAX]; /* path at the responder, as requested */
    uint32_t request;             /* saratoga_request_type */
    bool has_options;
    saratoga_options options;
    void *strings; /* of options */
    saratoga_node_event result;
    struct saratoga__event *done; /* room for it; NULL: a served transfer */

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

/* Destinations of datagrams. */
struct saratoga__routes {
    uint8_t key[NET__KEY_LEN];
    struct saratoga__route_entry *entry; /* by path, direct-mapped */
    net__route beacon;
    net__route group; /* group to which gets are answered, if any */
    saratoga_pktinfo group_info;
};

struct saratoga__sockets {
    net__udp *udp;
    net__udp *lite;      /* UDP-Lite, on the same port; or NULL */
    net__udp *multicast; /* joined to a group; or NULL */
    net__addr multicast_at;
    bool multicast_all; /* delivers everything, not only members' reports */
    /* Receives datagrams. */
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

/* Checksums of files sent before. */
struct saratoga__digests {
    struct saratoga__digest_entry entry[SARATOGA__DIGESTS];
    unsigned next;
};

/* Events for the application. */
struct saratoga__event_queue {
    struct saratoga__event *first;
    struct saratoga__event *last;
    unsigned count;
    uint8_t *record; /* record of the event taken last */
    void (*notify)(void *user);
    void *notify_user;
};

/* Budget for peers that have not proven their address. */
struct saratoga__stranger_budget {
    double hashing; /* bytes */
    double begun;   /* requests whose proof never came */
    uint64_t at;    /* when these were last refilled */
};

struct saratoga_node {
    saratoga__loop loop;
    saratoga__completions completions;
    saratoga_node_config config;
    void *config_strings; /* of config */
    saratoga_config engine_config;
    uint8_t auth_key[SARATOGA_KEY_MAX]; /* engine_config.auth_key, if any */
    saratoga_options options;
    void *strings; /* of options */
    saratoga_engine *engine;
    struct saratoga__sockets net;
    struct saratoga__secure *secure;
    struct saratoga__routes routes;
    saratoga__root root;
    bool has_root;
    uint64_t stored; /* bytes counted against the quota */
    struct saratoga__places places;
    struct saratoga__stranger_budget strangers;
    struct saratoga__digests digests;
    uint64_t rejected; /* requests and callers without the key */
    net__addr rejected_from;
    saratoga__file *files;
    unsigned n_files;
    saratoga__file *to_check; /* files that may have ended */
    uint64_t share_at;        /* when to divide the rate again */
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

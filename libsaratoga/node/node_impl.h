/* SPDX-License-Identifier: MPL-2.0 */
#ifndef DRIVERS_UV_SARATOGA_IMPL_H
#define DRIVERS_UV_SARATOGA_IMPL_H

#include <saratoga/engine.h>
#include <saratoga/node.h>

#include <stdatomic.h>

#include "internal/net/route.h"
#include "internal/net/timer.h"
#include "internal/net/udp.h"
#include "libsaratoga/node/file_io.h"
#include "libsaratoga/node/hash.h"
#include "libsaratoga/node/part.h"
#include "libsaratoga/node/secure.h"
#include "libsaratoga/node/work_line.h"

/*
 * The node around the engine.  Everything runs on the loop's thread but what
 * the files of this node hand to the thread pool: saratoga_work.c (blocks of
 * files) and saratoga_job.c (opening, listing, digests, ends).
 *
 * Each transfer of the engine has a saratoga__file of ours, which is its
 * `user`.  It lives until the transfer has ended and no thread is at work on
 * it.
 */

/* --- Where datagrams go --------------------------------------------------- */

#define SARATOGA__ROUTES 4096u /* a power of two */

struct saratoga__routes {
    uint8_t key[NET__KEY_LEN];
    struct saratoga__route_entry {
        uint64_t path;
        net__route route;
    } * entry; /* by path, direct-mapped */
};

/* --- Checksums of files that were sent before ----------------------------- */

#define SARATOGA__SUMS 64u

struct saratoga__sum {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec mtime;
    struct timespec ctime;
    uint32_t checksum; /* 0: not in use */
    uint8_t digest[SARATOGA_CHECKSUM_MAX];
};

/* --- Files ------------------------------------------------------------------
 */

typedef struct saratoga__file saratoga__file;

/* A call on the thread pool; one at a time per file. */
struct saratoga__job {
    uv_work_t work;
    void (*run)(saratoga__file *f);  /* in a thread */
    void (*done)(saratoga__file *f); /* on the loop */
    bool busy;
};

struct saratoga__file {
    saratoga_node *u;
    saratoga__file *next;
    saratoga__file *prev;
    uint64_t id;            /* of a transfer of ours; 0: a peer's */
    saratoga_handle handle; /* 0: the engine does not know it (any more) */
    void *user;
    net__route peer;
    uint64_t host;       /* token of the peer */
    uint64_t path_token; /* with its port; 0: a peer's transfer */
    char host_name[256];
    char service[32];
    char path[SARATOGA_PATH_MAX]; /* at the responder, as asked for */
    saratoga_options options;
    char congestion[32]; /* options.congestion points here */
    uint32_t request;    /* saratoga_request_type */
    uint32_t widest;     /* descriptor that the peer takes */

    /* The file here. */
    saratoga__root own_root; /* of a transfer of ours */
    const saratoga__root *root;
    char folder[PATH_MAX];
    char name[SARATOGA_PATH_MAX]; /* below root; "": by the peer's METADATA */
    struct stat st;
    saratoga__part part;
    uv_mutex_t map_lock; /* a map must not be saved behind the end's back */
    uint8_t *memory;
    size_t memory_len;
    size_t memory_cap;

    /* Being sent. */
    saratoga_source source;
    uint64_t sum_told; /* how far it was at the last tick */
    uint64_t read_end; /* behind the newest block read */
    uint64_t rate;     /* its share; 0: has none yet */
    unsigned weight;   /* in the sharing; 0: needs nothing now */
    void (*after_sum)(saratoga__file *f);
    int input;       /* of a stream; -1: it is none */
    uv_poll_t watch; /* of an input of ours */
    int input_error; /* UV_E... */
    uint8_t *piece;  /* of the stream, read and not yet with the engine */
    size_t piece_len;
    size_t piece_at;

    /* Being received. */
    int output;          /* of a stream, should it be one; -1: a file */
    uint64_t output_at;  /* how far it is there */
    atomic_bool cut;     /* nobody waits for the output any more */
    char group_host[64]; /* where the answer may go; "": only here */
    char group_service[32];
    net__addr group;
    saratoga_partial partial; /* what METADATA said; what was held */
    saratoga_range *ranges;   /* of partial, from malloc() */

    struct saratoga__hash hash;

    /* Work under way. */
    struct saratoga__job job;
    struct saratoga__line line;
    saratoga__ops waiting; /* for the file to be open */
    const char *stage;     /* what the job was at */
    uint8_t *map;
    size_t map_len;
    uint64_t saved;     /* bytes that the saved map names */
    uint64_t next_save; /* by uv_hrtime() */
    uint64_t save_wait; /* between the last save and that */

    int fd;           /* of a source, or of what is compared with; -1: none */
    int status;       /* of the job: UV_E... or SARATOGA__... */
    int sum_status;   /* of the checksum of a source */
    unsigned pending; /* works of the engine with a thread */

    bool owns_input; /* opened here */
    bool watched;    /* there is a `watch` */
    bool to_output;  /* it is a stream, and goes there */
    bool to_group;   /* it is sent to the node's */
    bool in_group;   /* `group` is to be heard */
    bool sum_due;    /* its checksum is computed while it is sent */
    bool sum_ended;  /* it is known */
    bool input_over; /* there is no more to read */
    bool finished;   /* and the engine knows */
    bool endless;    /* a stream is received: nothing of it is resumed */
    bool has_options;
    bool shares_rate; /* that of the node */
    bool overwrite;
    bool resume;
    bool has_part;
    bool in_memory;
    bool exists;    /* what is received is compared with what is there */
    bool described; /* METADATA came, or a map told */
    bool counted;   /* its size is part of the quota used */
    bool cancelled; /* by the application, before the engine knew it */
    bool ended;
    bool closing;   /* its last job is under way */
    bool committed; /* the file has its name */
    bool bad_sum;
    bool resumable; /* there was a map of use */
    bool updates;   /* the peer hears of the copy that is here */
    bool unchanged; /* it has the same: nothing comes of what was begun */
    bool remove;    /* the source, the peer having it */
    int kept_out;   /* saratoga_error: the peer takes no calls of ours */
    saratoga_node_event result;
};

struct saratoga__event {
    struct saratoga__event *next;
    uint8_t *memory; /* of a record */
    saratoga_node_event ev;
};

struct saratoga_node {
    uv_loop_t own_loop;
    uv_loop_t *loop;
    saratoga_node_config config;
    saratoga_config engine;
    uint8_t auth_key[SARATOGA_KEY_MAX]; /* engine.auth_key, if any */
    saratoga_options options;
    saratoga_engine *node;
    net__udp *udp;
    net__udp *lite; /* UDP-Lite, on the same port; or NULL */
    net__udp *ear;  /* hears a group; or NULL */
    net__addr ear_at;
    net__timer alarm;
    struct saratoga__done done;
    uv_prepare_t before;
    uv_check_t turn;
    uv_idle_t again;
    uv_timer_t tick;
    uv_timer_t patience; /* of saratoga_node_run() */
    bool has_handles;
    bool has_alarm;
    bool has_done;
    bool dirty;
    bool closing;
    bool ear_takes_all; /* not only what members say */

    struct saratoga__secure *secure;
    struct saratoga__routes routes;
    net__route beacon_route;
    net__route group_route; /* where gets are answered, if there is a group */
    saratoga_pktinfo group;
    saratoga__root root;
    bool has_root;
    uint64_t taken; /* of the quota */
    struct saratoga__sum sum[SARATOGA__SUMS];
    unsigned next_sum;

    saratoga__file *files;
    unsigned n_files;
    uint64_t share_at; /* when the rate is divided again */
    uint64_t next_id;

    struct saratoga__event *first;
    struct saratoga__event *last;
    unsigned waiting; /* events */
    uint8_t *record;  /* of the event taken last */
    void (*on_events)(void *user);
    void *on_events_user;
};

/* Room for what is received into memory: directory records. */
#define SARATOGA__MEMORY_MAX ((size_t)16 * 1024 * 1024)

/* Beside UV_E..., SARATOGA__EXISTS and SARATOGA__CHANGED. */
#define SARATOGA__BAD_SUM (-20003)    /* its checksum is wrong */
#define SARATOGA__OVER_QUOTA (-20004) /* peers may store no more */

static inline saratoga_time saratoga__now(void) {
    return uv_hrtime();
}

/* saratoga_node.c */
void saratoga__kick(saratoga_node *u);

/* saratoga_group.c */
bool saratoga__is_group(const net__addr *a);
/* The group that a datagram came to, as a place to send to; false: to none. */
bool saratoga__group_of(const saratoga_node *u, const net__route *r,
                        net__route *group);
void saratoga__groups_join(saratoga_node *u);
/* Hears what members of a group say that this node sends to; `all`: and what is
 * sent to them.  Returns 0 or UV_E...; UV_EBUSY: another group is heard. */
int saratoga__ear_open(saratoga_node *u, const net__addr *group, bool all);
void saratoga__ear_close(saratoga_node *u);
/* The group to which gets are answered, if there is one.  Returns 0 or
 * UV_E... */
int saratoga__group_open(saratoga_node *u, char *why);
/* Answers a get to the group; false: it is answered to who asked. */
bool saratoga__group_give(saratoga__file *f, saratoga_answer *a);

/* saratoga_net.c: the socket and addresses. */
int saratoga__net_open(saratoga_node *u, char *why);
void saratoga__net_close(saratoga_node *u);
/* What sockets of a node have in common. */
net__udp_options saratoga__net_options(saratoga_node *u, const net__addr *at,
                                       const net__udp_ops *ops);
/* Hands datagrams to the engine. */
void saratoga__net_take(saratoga_node *u, const net__burst *in, size_t count,
                        uint32_t flags);
/* Sends what the engine has; true: there is more, later. */
bool saratoga__net_send(saratoga_node *u);
void saratoga__pktinfo(saratoga_node *u, const net__route *r,
                       saratoga_pktinfo *info);
/* The two halves of it: what the engine calls a place, and which place is meant
 * when it says so. */
void saratoga__place(const saratoga_node *u, const net__route *r,
                     saratoga_pktinfo *info);
void saratoga__remember(saratoga_node *u, uint64_t path, const net__route *r);
/* Room for a burst, or NULL when the socket is full. */
uint8_t *saratoga__net_room(saratoga_node *u);
/* Where a datagram came from or is to go; NULL: not known any more. */
const net__route *saratoga__route_of(saratoga_node *u,
                                     const saratoga_pktinfo *to);
const net__route *saratoga__route_of_path(saratoga_node *u, uint64_t path);
void saratoga__address_text(const net__addr *a, char *text);
/* Resolves; blocks.  Returns 0 or UV_E... */
int saratoga__resolve(const char *host, const char *service, bool passive,
                      net__addr *a);

/* saratoga_file.c: the life of a file. */
saratoga__file *saratoga__file_new(saratoga_node *u);
/* Frees one that nobody has heard of. */
void saratoga__file_free(saratoga__file *f);
/* Starts a job; `done` is called in any case. */
void saratoga__file_job(saratoga__file *f, void (*run)(saratoga__file *),
                        void (*done)(saratoga__file *));
/* Ends once nothing is under way: keeps or removes what came, tells. */
void saratoga__file_settle(saratoga__file *f);
/* Ends before the engine knew of it. */
void saratoga__file_fail(saratoga__file *f, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Saves the map when it is time to. */
void saratoga__file_tick(saratoga__file *f, uint64_t now);
/* Whether a file of that name below the root is in use. */
bool saratoga__file_in_use(const saratoga_node *u, const char *name);
saratoga__file *saratoga__file_find(saratoga_node *u, uint64_t id);

/* saratoga_source.c: files to send; most of it blocks. */
int saratoga__source_open(saratoga__file *f);
/* Whether it is not what it was; blocks. */
bool saratoga__source_changed(const saratoga__file *f);
/* Looks up or computes the checksum of a file, or puts it off
 * (source.digest_later); then calls `then`, with f->status. */
void saratoga__source_sum(saratoga__file *f, void (*then)(saratoga__file *f));
/* Computes what was put off while the file is read, and tells the engine. */
void saratoga__source_sum_later(saratoga__file *f);
/* A block was read that ends there. */
void saratoga__source_read(saratoga__file *f, uint64_t end);
/* Goes ahead with the checksum when the reads are slower than it. */
void saratoga__source_tick(saratoga__file *f);
/* The checksum of what is in memory; blocks. */
void saratoga__source_sum_memory(saratoga__file *f);

/* saratoga_stream.c: streams that are sent. */
bool saratoga__is_stream(const saratoga__file *f);
int saratoga__stream_describe(saratoga__file *f);
/* A named pipe that a peer may get; blocks.  Returns 0 or UV_E... */
int saratoga__stream_open(saratoga__file *f);
/* The same, on the loop: what comes out of it will be seen. */
int saratoga__stream_watch(saratoga__file *f);
/* Nothing is to be seen any more; false: not yet, the file is settled then. */
bool saratoga__stream_unwatch(saratoga__file *f);
/* Into a pipe, in a thread; 0 or UV_E... */
int64_t saratoga__stream_write(saratoga__file *f, const saratoga_work *w);
/* Hands on what was read, reads more; nothing when that is under way. */
void saratoga__stream_go_on(saratoga__file *f);

/* saratoga_list.c; both block.  A directory record, or any file. */
int saratoga__source_list(saratoga__file *f, uint32_t widest);
int saratoga__source_pick(saratoga__file *f);

/* saratoga_sink.c: what is received.  Opening blocks. */
int saratoga__sink_open(saratoga__file *f);
void saratoga__sink_metadata(saratoga__file *f, const saratoga_event *ev);

/* saratoga_work.c: blocks. */
void saratoga__work_start(saratoga_node *u, const saratoga_work *w);
/* Does, or fails with UV_E..., what waits for the file to be open. */
void saratoga__work_release(saratoga__file *f, int status);

/* saratoga_serve.c: requests of peers. */
void saratoga__serve_request(saratoga_node *u, const saratoga_event *ev);
/* The code on the wire for an error. */
unsigned saratoga__status_of(int error, unsigned otherwise);
/* What to say of an error. */
const char *saratoga__error_text(int error);
/* As a saratoga_error. */
int saratoga__error_of(int error);

/* saratoga_ask.c: transfers of ours.  Ends one, whoever asked for it. */
void saratoga__file_cancel(saratoga__file *f);

/* saratoga_close.c: goes on closing, when there is nothing left to wait for. */
void saratoga__close_step(saratoga_node *u);

/* saratoga_share.c: divides the rate anew when it has to be; and the same for
 * those who call it all the time. */
void saratoga__share_rate(saratoga_node *u);
void saratoga__share_rate_now_and_then(saratoga_node *u);

/* saratoga_events.c */
void saratoga__on_event(saratoga_node *u, const saratoga_event *ev);
/* Queues an event; takes `memory`. */
void saratoga__tell(saratoga_node *u, const saratoga_node_event *ev,
                    uint8_t *memory);
void saratoga__forget_events(saratoga_node *u);

#endif /* DRIVERS_UV_SARATOGA_IMPL_H */

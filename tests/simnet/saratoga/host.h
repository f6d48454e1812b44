/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_SIMNET_SARATOGA_HOST_H
#define TESTS_SIMNET_SARATOGA_HOST_H

#include <saratoga/engine.h>

#include "sim/saratoga_host.h"

/* A Saratoga node with a disk in memory on a host of the virtual network. */

#define SEC UINT64_C(1000000000)
#define MSEC UINT64_C(1000000)

struct disk_file {
    struct disk_file *next;
    char name[64];
    uint8_t *data;
    uint64_t size;
    uint64_t cap;
    bool visible; /* under its final name */
};

struct host;

/* One transfer as the driver sees it; stays until the host goes. */
struct xfer {
    struct xfer *next;
    struct host *host;
    saratoga_handle handle;
    uint32_t request;
    bool sends;
    bool done;
    bool released;
    uint64_t done_at;
    saratoga_event end;      /* DONE */
    saratoga_event metadata; /* newest METADATA */
    bool has_metadata;
    bool purged;
    bool accepted;
    struct disk_file *file; /* read from or written to */
    saratoga_digest *digest;
    uint64_t digested;
    bool committed;
    saratoga_stats stats; /* at the end */
};

struct pending_work {
    saratoga_work work;
    int64_t result;
};

#define PENDING_MAX 256

struct host {
    struct sim_saratoga sim; /* the node on the network */
    struct sim_timer disk_timer;
    struct sim_random luck;
    struct disk_file *files;
    struct xfer *xfers;
    struct pending_work pending[PENDING_MAX];
    size_t n_pending;
    uint64_t disk_delay; /* 0: work is done at once */
    /* policy */
    bool refuse;
    uint32_t refuse_status;
    const saratoga_options *answer_options;
    const saratoga_pktinfo *answer_group; /* gets are answered there */
    uint32_t checksum;                    /* of files it sends */
    uint32_t mtime;       /* and ctime of files it sends, as on the wire */
    bool digest_later;    /* the checksum is told once METADATA may have left */
    bool digest_kept;     /* and not by the host, but by the test */
    bool stream;          /* what it sends is a stream, written by the test */
    bool keep_handles;    /* do not release after DONE */
    bool full;            /* writes fail */
    bool commit_kept;     /* commits wait for host_commit() */
    saratoga_work commit; /* the one that waits */
    bool shrunk;          /* reads come short */
    saratoga_partial *partial; /* offered when it receives */
    struct disk_file *partial_file;
    uint64_t group; /* address of the multicast group, or 0 */
    /* what was seen */
    uint64_t beacons;
    saratoga_event beacon;
    saratoga_event request;
    uint64_t requests;
    uint64_t read_bytes; /* of its files */
    void (*tap)(void *user, struct host *h, const saratoga_pktinfo *to,
                const uint8_t *dgram, size_t len);
    void *tap_user;
};

/* cfg: NULL for the defaults. */
struct host *host_new(struct sim_net *net, const saratoga_config *cfg,
                      uint64_t seed);
void host_free(struct host *h);
uint64_t host_now(const struct host *h);
saratoga_pktinfo host_address(const struct host *h);
/* Made up from a number, so that it can be checked without a copy. */
struct disk_file *host_make_file(struct host *h, const char *name,
                                 uint64_t size, uint64_t seed);
struct disk_file *host_find_file(struct host *h, const char *name);
void host_pump(struct host *h);
/* Does the commit that waits. */
void host_commit(struct host *h);
void host_digest(const struct disk_file *f, uint32_t type, uint8_t *out);
/* Starts a transfer; name is the file at the peer and here. */
struct xfer *host_start(struct host *h, const struct host *peer, uint32_t type,
                        const char *name, const saratoga_options *opt,
                        saratoga_partial *partial);
/* The same, to any address. */
struct xfer *host_start_to(struct host *h, saratoga_pktinfo to, uint32_t type,
                           const char *name, const saratoga_options *opt);
struct xfer *host_start_request(struct host *h, saratoga_request *q,
                                const char *name);
saratoga_stats host_stats(const struct host *h, const struct xfer *x);
bool host_same(const struct disk_file *a, const struct disk_file *b);

#endif /* TESTS_SIMNET_SARATOGA_HOST_H */

#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""Writes the C source of the extension module perigee._native.

usage: build_native.py FILE

Structures end in '...': the compiler knows their layout, and fields that the
package has no use for may come and go.
"""
import sys

import cffi

DECLARATIONS = """
typedef uint64_t tltcp_time;
typedef ... tltcp_socket;
typedef int... socklen_t;

struct iovec { void *iov_base; size_t iov_len; ...; };
struct tltcp_meta {
    uint32_t section_class; uint32_t stream; uint32_t depends; tltcp_time due;
    uint64_t tag; ...;
};
typedef struct {
    const struct iovec *data; size_t count; tltcp_time deadline;
    struct tltcp_meta meta; ...;
} tltcp_section;
typedef struct {
    uint32_t latency_ms; bool report_fates; size_t send_buffer;
    size_t recv_buffer; const char *stream_id; ...;
} tltcp_config;
typedef struct {
    uint32_t type; int32_t error; uint32_t fate; uint64_t section; uint64_t tag;
    uint64_t bytes; uint64_t acked; uint32_t cause; uint32_t section_class;
    uint32_t stream; uint64_t estimated_bps; uint64_t target_bps; ...;
} tltcp_event;
typedef struct {
    uint64_t sections_offered; uint64_t sections_delivered;
    uint64_t sections_partial; uint64_t sections_expired;
    uint64_t bytes_offered; uint64_t bytes_delivered; uint64_t bytes_expired;
    uint64_t bytes_sent; uint64_t bytes_retransmitted; uint64_t bytes_queued;
    uint64_t packets_sent; uint64_t packets_received; uint64_t packets_lost;
    uint64_t bytes_received; uint64_t bytes_read; uint64_t gaps;
    uint64_t gap_bytes; uint64_t sections_complete; uint64_t sections_cut;
    uint64_t cwnd_bytes; uint64_t bytes_in_flight; uint64_t estimated_bps;
    uint64_t target_bps; uint64_t delivery_delay_ns; uint64_t srtt_ns;
    uint64_t min_rtt_ns; uint64_t latest_rtt_ns; double loss_rate;
    char congestion[24]; ...;
} tltcp_stats;

#define TLTCP_ERR_AGAIN ...
#define TLTCP_ERR_INVAL ...
#define TLTCP_ERR_NOMEM ...
#define TLTCP_ERR_STATE ...
#define TLTCP_ERR_TOO_BIG ...
#define TLTCP_ERR_CLOSED ...
#define TLTCP_ERR_TIMEOUT ...
#define TLTCP_ERR_REFUSED ...
#define TLTCP_ERR_VERSION ...
#define TLTCP_ERR_PROTOCOL ...
#define TLTCP_ERR_LIMIT ...
#define TLTCP_ERR_ADDRESS ...
#define TLTCP_ERR_IN_USE ...
#define TLTCP_ERR_IO ...
#define TLTCP_ERR_ALGORITHM ...
#define TLTCP_ERR_AUTH ...
#define TLTCP_ERR_UNSUPPORTED ...
#define TLTCP_ERR_ABORTED ...
#define TLTCP_EVENT_FATE ...
#define TLTCP_EVENT_CLOSED ...
#define TLTCP_EVENT_RATE ...
#define TLTCP_LIVE_SEND ...
#define TLTCP_LIVE_RECEIVE ...
#define TLTCP_LIVE_WHY_MAX ...
#define TLTCP_REASON_MAX ...

const char *tltcp_version(void);
const char *tltcp_strerror(int error);
tltcp_time tltcp_now(void);
int tltcp_listen(tltcp_socket **s, const char *host, const char *service,
                 const tltcp_config *c);
int tltcp_accept(tltcp_socket *listener, tltcp_socket **s, int timeout_ms);
int tltcp_reject(tltcp_socket *s, const char *reason);
int tltcp_connect(tltcp_socket **s, const char *host, const char *service,
                  const tltcp_config *c, int timeout_ms);
int tltcp_wait_connected(tltcp_socket *s, int timeout_ms);
ssize_t tltcp_send(tltcp_socket *s, const tltcp_section *sections, size_t count,
                   int flags);
int tltcp_fd(const tltcp_socket *s);
int tltcp_writable_fd(const tltcp_socket *s);
int tltcp_event_fd(const tltcp_socket *s);
int tltcp_next_event(tltcp_socket *s, tltcp_event *ev, int timeout_ms);
const char *tltcp_stream_id(const tltcp_socket *s);
int tltcp_socket_error(const tltcp_socket *s, char *reason);
int tltcp_shutdown(tltcp_socket *s);
int tltcp_close(tltcp_socket *s, int linger_ms);

typedef ... tltcp_live_options;
typedef ... tltcp_live;
typedef ... tltcp_live_receiver;
typedef struct {
    const char *host; const char *service; bool listens; bool reconnect;
    uint32_t latency_ms; uint32_t deadline_mode; ...;
} tltcp_live_settings;
typedef struct {
    uint64_t number; uint64_t seq; uint8_t *data; size_t len; size_t missing;
    bool complete; bool begins; struct tltcp_meta meta; ...;
} tltcp_live_received;

tltcp_live_options *tltcp_live_options_new(void);
void tltcp_live_options_free(tltcp_live_options *o);
int tltcp_live_options_set_url(tltcp_live_options *o, const char *url,
                               char *why);
int tltcp_live_options_set(tltcp_live_options *o, const char *key,
                           const char *value, char *why);
tltcp_live_settings *tltcp_live_options_settings(tltcp_live_options *o);
tltcp_config *tltcp_live_options_config(tltcp_live_options *o);
int tltcp_live_options_check(tltcp_live_options *o, char *why);
tltcp_live_receiver *tltcp_live_receiver_new(tltcp_socket *s);
void tltcp_live_receiver_free(tltcp_live_receiver *r);
int tltcp_live_receiver_next(tltcp_live_receiver *r, tltcp_live_received *out,
                             int flags);
int tltcp_live_open(tltcp_live **l, int direction, tltcp_live_options *o,
                    char *why);
int tltcp_live_write_ts(tltcp_live *l, const void *data, size_t len,
                        int timeout_ms);
ssize_t tltcp_live_read_ts(tltcp_live *l, void *data, size_t len,
                           int timeout_ms);
int tltcp_live_finish(tltcp_live *l, int timeout_ms);
size_t tltcp_live_stats_json(tltcp_live *l, char *buf, size_t cap);
void tltcp_live_close(tltcp_live *l, int linger_ms);

typedef struct { uint64_t rate_bps; const char *congestion; uint32_t checksum;
                 uint64_t uplink_bps; ...; } saratoga_options;
typedef struct { const saratoga_options *transfer; ...; } saratoga_config;
typedef ... saratoga_node;
typedef struct {
    const saratoga_config *engine; const char *host; const char *service;
    const char *root; bool may_read; bool may_write; bool may_delete;
    bool overwrite; const char *passphrase; ...;
} saratoga_node_config;
typedef struct {
    uint32_t type; bool resume; bool overwrite; const char *host;
    const char *service; const char *path; const char *folder; const char *file;
    ...;
} saratoga_node_transfer;
typedef struct {
    uint64_t size_bytes; uint64_t resumed_bytes; uint64_t bytes;
    uint64_t data_packets; uint64_t retransmitted_packets; uint64_t srtt_ns;
    uint64_t rate_bps; double loss_rate; uint64_t since; uint64_t now; ...;
} saratoga_stats;
typedef struct {
    uint64_t size; uint32_t mtime; bool directory; bool special; char path[...];
    ...;
} saratoga_entry;
typedef struct {
    uint32_t type; int32_t error; uint64_t id; uint32_t request;
    uint32_t status; bool verified; bool already; uint32_t checksum;
    saratoga_stats stats; saratoga_entry entry; const uint8_t *record;
    size_t record_len; char address[...]; char path[...]; char text[...]; ...;
} saratoga_node_event;

#define SARATOGA_NODE_TEXT ...
#define SARATOGA_NODE_ADDRESS ...
#define SARATOGA_NODE_DONE ...
#define SARATOGA_NODE_SERVED ...
#define SARATOGA_GET ...
#define SARATOGA_PUT ...
#define SARATOGA_TAKE ...
#define SARATOGA_GIVE ...
#define SARATOGA_DELETE ...
#define SARATOGA_GETDIR ...
#define SARATOGA_NONE ...
#define SARATOGA_CRC32C ...
#define SARATOGA_MD5 ...
#define SARATOGA_SHA1 ...
#define SARATOGA_SHA256 ...
#define SARATOGA_WHY_MAX ...
#define SARATOGA_ERR_INVAL ...
#define SARATOGA_ERR_NOMEM ...
#define SARATOGA_ERR_TIMEOUT ...
#define SARATOGA_ERR_REFUSED ...
#define SARATOGA_ERR_AUTH ...
#define SARATOGA_ERR_CANCELLED ...
#define SARATOGA_ERR_CHECKSUM ...
#define SARATOGA_ERR_ALGORITHM ...
#define SARATOGA_SIZE_UNKNOWN ...

const char *saratoga_strerror(int error);
int saratoga_options_check(const saratoga_options *o, char *why);
int saratoga_node_open(saratoga_node **u, const saratoga_node_config *c,
                       char *why);
void saratoga_node_close(saratoga_node *u);
void saratoga_node_run(saratoga_node *u, unsigned timeout_ms);
int saratoga_node_next_event(saratoga_node *u, saratoga_node_event *ev);
int saratoga_node_start(saratoga_node *u, const saratoga_node_transfer *t,
                        uint64_t *id);
int saratoga_node_cancel(saratoga_node *u, uint64_t id);
int saratoga_node_get_stats(saratoga_node *u, uint64_t id, saratoga_stats *st);
int saratoga_node_local_address(const saratoga_node *u, char *text);
size_t saratoga_entry_read(const void *buf, size_t len, saratoga_entry *e);
int64_t saratoga_time_to_posix(uint32_t wire, bool plain);

void free(void *ptr);
int native_stats(const tltcp_socket *s, tltcp_stats *st);
#define NATIVE_FRAMES ...
typedef struct {
    uint64_t number, missing, tag;
    uint32_t section_class, stream;
    uint64_t end;
    bool complete, gap; ...;
} native_frame;
typedef struct {
    native_frame frames[...]; size_t count; uint8_t *data; int code; ...;
} native_batch;
native_batch *native_batch_new(tltcp_live_receiver *r);
void native_batch_free(native_batch *b);
void native_receive(native_batch *b);
ssize_t native_send(tltcp_socket *s, const void *data, const uint64_t *lens,
                    size_t count, int64_t wait, uint32_t klass, uint32_t stream,
                    uint32_t depends, uint64_t tag);
int native_address(const tltcp_socket *s, bool peer, char *host, char *service);
void native_init_options(saratoga_options *o);
void native_init_config(saratoga_config *c);
void native_init_node(saratoga_node_config *c);
void native_init_transfer(saratoga_node_transfer *t);
void native_init_transfer_stats(saratoga_stats *st);
"""

SOURCE = """
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <tltcp/live.h>
#include <tltcp/live_parts.h>
#include <saratoga/node.h>

static int native_stats(const tltcp_socket *s, tltcp_stats *st) {
    tltcp_stats_init(st);
    return tltcp_get_stats(s, st);
}

/* Frames that one call brings, at most. */
#define NATIVE_FRAMES 64
#define NATIVE_ROOM ((size_t)256 << 10)

typedef struct {
    uint64_t number, missing, tag;
    uint32_t section_class, stream;
    uint64_t end; /* in the data; of a frame begins where the one before ends */
    bool complete, gap;
} native_frame;

typedef struct {
    native_frame frames[NATIVE_FRAMES];
    size_t count;
    uint8_t *data; /* of all frames, in a row */
    size_t room;
    int code; /* what ended the batch: 1 if it is full */
    tltcp_live_receiver *receiver;
    tltcp_live_received rest; /* did not fit; NULL: nothing */
} native_batch;

static native_batch *native_batch_new(tltcp_live_receiver *r) {
    native_batch *b = calloc(1, sizeof(*b));
    if (b != NULL) {
        b->receiver = r;
        b->room = NATIVE_ROOM;
        b->data = malloc(b->room);
    }
    if (b != NULL && b->data == NULL) {
        free(b);
        b = NULL;
    }
    return b;
}

static void native_batch_free(native_batch *b) {
    if (b != NULL) {
        tltcp_live_receiver_free(b->receiver);
        free(b->rest.data);
        free(b->data);
        free(b);
    }
}

/* Takes what is in rest; false: it does not fit. */
static bool native_add(native_batch *b) {
    const tltcp_live_received *r = &b->rest;
    size_t at = b->count > 0 ? b->frames[b->count - 1].end : 0;
    bool gap = r->data == NULL;
    size_t len = gap ? 0 : r->len;
    if (len > b->room && b->count == 0) { /* one that is larger than all room */
        free(b->data);
        b->data = r->data;
        b->room = len;
    } else if (len > b->room - at) {
        return false;
    } else if (!gap) {
        memcpy(b->data + at, r->data, len);
        free(r->data);
    }
    b->frames[b->count++] =
        (native_frame){.number = r->number,
                       .missing = gap ? r->len : r->missing,
                       .tag = r->meta.tag,
                       .section_class = r->meta.section_class,
                       .stream = r->meta.stream,
                       .end = at + len,
                       .complete = r->complete,
                       .gap = gap};
    b->rest = (tltcp_live_received){.data = NULL};
    return true;
}

/* Takes all that is there, as far as it fits. */
static void native_receive(native_batch *b) {
    b->count = 0;
    b->code = 1;
    if (b->rest.data != NULL) {
        (void)native_add(b);
    }
    while (b->count < NATIVE_FRAMES && b->code == 1) {
        b->code =
            tltcp_live_receiver_next(b->receiver, &b->rest, MSG_DONTWAIT);
        if (b->code == 1 && !native_add(b)) {
            return;
        }
    }
}

/* Sends sections that lie in a row. wait: until the deadline, ns; -1: the
 * latency of the connection; INT64_MAX: for ever. Returns how many were taken,
 * or why none was. */
static ssize_t native_send(tltcp_socket *s, const void *data,
                           const uint64_t *lens, size_t count, int64_t wait,
                           uint32_t klass, uint32_t stream, uint32_t depends,
                           uint64_t tag) {
    struct iovec part[NATIVE_FRAMES];
    tltcp_section section[NATIVE_FRAMES];
    char *at = (char *)(size_t)data;
    ssize_t bytes;
    size_t n = 0;
    count = count < NATIVE_FRAMES ? count : NATIVE_FRAMES;
    memset(section, 0, count * sizeof(*section));
    for (size_t i = 0; i < count; at += lens[i++]) {
        part[i] = (struct iovec){at, (size_t)lens[i]};
        section[i].data = &part[i];
        section[i].count = 1;
        section[i].deadline = wait == INT64_MAX ? TLTCP_TIME_NEVER
                              : wait >= 0 ? tltcp_now() + (uint64_t)wait
                                          : 0;
        section[i].meta.section_class = klass;
        section[i].meta.stream = stream;
        section[i].meta.depends = depends;
        section[i].meta.tag = tag;
    }
    bytes = tltcp_send(s, section, count, MSG_DONTWAIT);
    if (bytes < 0) {
        return bytes;
    }
    for (uint64_t sum = 0; n < count && sum < (uint64_t)bytes; n++) {
        sum += lens[n];
    }
    return (ssize_t)n;
}

/* Room of NI_MAXHOST and NI_MAXSERV. */
static int native_address(const tltcp_socket *s, bool peer, char *host,
                          char *service) {
    struct sockaddr_storage at;
    socklen_t len = sizeof(at);
    int rc = peer ? tltcp_peer_address(s, (struct sockaddr *)&at, &len)
                  : tltcp_local_address(s, (struct sockaddr *)&at, &len);
    if (rc == 0 && getnameinfo((struct sockaddr *)&at, len, host, 1025, service,
                               32, NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        rc = TLTCP_ERR_ADDRESS;
    }
    return rc;
}

static void native_init_options(saratoga_options *o) {
    saratoga_options_init(o);
}
static void native_init_config(saratoga_config *c) { saratoga_config_init(c); }
static void native_init_node(saratoga_node_config *c) {
    saratoga_node_config_init(c);
}
static void native_init_transfer(saratoga_node_transfer *t) {
    saratoga_node_transfer_init(t);
}
static void native_init_transfer_stats(saratoga_stats *st) {
    saratoga_stats_init(st);
}
"""


def main():
    ffi = cffi.FFI()
    ffi.cdef(DECLARATIONS)
    ffi.set_source("perigee._native", SOURCE)
    ffi.emit_c_code(sys.argv[1])


main()

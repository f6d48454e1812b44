/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_CONN_H
#define LIBTLTCP_CONN_H

#include <congestion/tfrc.h>
#include <tltcp/conn.h>

#include "internal/secure/hello.h"
#include "internal/secure/packet.h"
#include "internal/secure/secret.h"
#include "libtltcp/engine/acks.h"
#include "libtltcp/engine/budget.h"
#include "libtltcp/engine/chunk.h"
#include "libtltcp/engine/fec_receiver.h"
#include "libtltcp/engine/ids.h"
#include "libtltcp/engine/mtu.h"
#include "libtltcp/engine/params.h"
#include "libtltcp/engine/reasm.h"
#include "libtltcp/engine/sender.h"

/* A connection: owns all its parts and their order of work. Only conn*.c and
 * tests use this header.
 *
 *   client                      server
 *   CALLING --ANSWER--> OPEN    CALLED --accept--> ANSWERED --SHORT--> OPEN
 *
 *   OPEN --all settled--> CLOSING --echo or tries--> CLOSED
 *   any --abort, error, CLOSE--> DYING --CLOSE sent--> CLOSED
 *   any --silence--> CLOSED
 *
 * Timers (conn_timers.c):
 *   name     armed when                      does
 *   sender   something in flight, or live    loss, probes, lifetime
 *            sections with a deadline
 *   data     data waits for the pacer        sends it
 *   ack      an ACK is owed                  sends it
 *   report   the peer asked for REPORTs      sends one
 *   idle     OPEN and later                  CLOSED, silently; sooner where
 *                                            nothing followed an ANSWER
 *   ping     client, OPEN, keep-alive        PING
 *   connect  CALLING, CALLED, ANSWERED       CLOSED, silently
 *   linger   tltcp_conn_close()              DYING, or CLOSED when all arrived
 *   close    CLOSING                         CLOSE again
 *   path     a candidate path                CHALLENGE again
 *   mtu      search not over                 a probe
 *   dummy    the controller wants some       a dummy (Peach) */

/* In chronological order, which comparisons rely on. */
enum tltcp__conn_state {
    TLTCP__CONN_CALLING,
    TLTCP__CONN_CALLED,
    TLTCP__CONN_ANSWERED,
    TLTCP__CONN_OPEN,
    TLTCP__CONN_CLOSING,
    TLTCP__CONN_DYING,
    TLTCP__CONN_CLOSED
};

/* What to send as soon as possible. */
#define TLTCP__WANT_HELLO 0x01u /* INITIAL or ANSWER */
#define TLTCP__WANT_ACK 0x02u   /* even if no ACK is due */
#define TLTCP__WANT_PING 0x04u
#define TLTCP__WANT_FIN 0x08u
#define TLTCP__WANT_WINDOW 0x10u
#define TLTCP__WANT_RESPONSE 0x20u
#define TLTCP__WANT_CHALLENGE 0x40u
#define TLTCP__WANT_CLOSE 0x80u
#define TLTCP__WANT_IDS 0x100u /* NEW_ID, RETIRE_ID */

/* A RETRY, token and body, whose key is being derived. */
typedef struct tltcp__held_offer {
    bool asked; /* the driver has the key job */
    uint8_t salt[SEC__SALT_LEN];
    size_t token_len;
    size_t body_len;
    uint8_t bytes[];
} tltcp__held_offer;

/* The handshake. Freed once it is complete. */
typedef struct tltcp__handshake {
    sec__hello *hello;        /* secured: the message, and the future keys */
    sec__caller *keys;        /* secured client: keys for calls */
    tltcp__held_offer *offer; /* client: waits for its key; or NULL */
    uint8_t *token;           /* client: to be returned */
    tltcp_time until;         /* gives up at this time */
    uint64_t proof;      /* of being on the peer's machine, to send; 0: none */
    uint64_t peer_proof; /* client: expected; server: received; 0: none */
    uint32_t token_len;
    uint8_t retries;  /* client: number of RETRYs followed */
    bool defers_keys; /* the driver derives keys from passphrases */
    bool has_params;  /* the peer's PARAMS were processed */
} tltcp__handshake;

/* Server: the connection's entries in the endpoint's tables and limits. */
typedef struct tltcp__caller {
    tltcp_conn *next_by_caller; /* in the endpoint's table */
    uint64_t id;                /* the client's, for repeated INITIALs */
    uint64_t path;
    sec__origin origin; /* the caller's location for limits */
    size_t charged;     /* bytes held because of the peer's packets */
} tltcp__caller;

/* An address that the peer may have moved to. */
typedef struct tltcp__candidate {
    uint64_t path; /* 0: none */
    uint64_t nonce;
    uint64_t received; /* bytes, for the amplification limit */
    uint64_t sent;
    tltcp_time at; /* next CHALLENGE */
    unsigned tries;
    uint32_t number; /* of the peer's id that is used there */
} tltcp__candidate;

/* Paths to the peer (conn_path.c). */
typedef struct tltcp__paths {
    uint64_t current;
    uint64_t left; /* previous path; 0: none, or the peer has returned to it */
    tltcp__candidate candidate;
    uint64_t response;      /* to the newest CHALLENGE ... */
    uint64_t response_path; /* ... which came from there */
    uint64_t received;      /* bytes received before the peer's address was
                               proven */
    uint64_t sent;
    bool proven;         /* the peer's address is proven */
    bool may_have_moved; /* the peer may have moved, and may miss the CLOSE */
} tltcp__paths;

/* The end of the connection. */
typedef struct tltcp__closing {
    char *reason;            /* NULL: none */
    tltcp_time linger_until; /* aborts at this time */
    tltcp_time at;           /* time of the next CLOSE */
    unsigned tries;          /* CLOSEs sent */
    int error;               /* 0, or why the connection is over */
    uint32_t code;           /* of CLOSE */
    uint8_t flags;           /* likewise, TLTCP__CLOSE_* */
    bool requested;          /* tltcp_conn_close() was called */
    bool known;              /* the connection is over, and `error` is set */
} tltcp__closing;

/* The fate of a section, queued for the application. */
typedef struct tltcp__fate_record {
    uint64_t section, tag, bytes, acked;
    tltcp_time written, deadline, now;
    int fate;
    uint8_t cause, cls, stream;
} tltcp__fate_record;

/* Events not yet taken by the application (conn_app.c). */
typedef struct tltcp__events {
    cmn__ring fates; /* of tltcp__fate_record */
    uint64_t rate;   /* bit/s as last reported */
    uint64_t target; /* likewise */
    tltcp_time rate_at;
    tltcp_time target_checked_at;
    bool report_fates;
    bool path_due;
    bool rate_due;
    bool connected_given;
    bool closed_given;
} tltcp__events;

/* Options from the config and the handshake. */
typedef struct tltcp__conn_options {
    tltcp_time idle;       /* idle timeout; 0: none */
    tltcp_time confirm;    /* patience with a peer that has answered a call, but
                              nothing since */
    tltcp_time keep_alive; /* NEVER: none */
    uint64_t rekey_packets;
    uint32_t max_datagram;
    uint8_t ack_every; /* our request to the peer */
    uint8_t dscp;      /* of sent packets */
    bool ecn;
    bool fec; /* the peer understands REPAIRs */
    bool ids; /* the peer understands NEW_ID and RETIRE_ID */
} tltcp__conn_options;

struct tltcp_conn {
    /* Its parts. */
    cmn__mem mem;
    tltcp__sender sender;
    tltcp__reasm reasm;
    tltcp__acks acks;
    tltcp__mtu mtu;
    tltcp__fec_receiver *fec_receiver;  /* NULL: no REPAIR arrived yet */
    struct cong_tfrc_receiver *measure; /* NULL: no reports requested */
    sec__seal *seal;                    /* secured: of SHORT packets */
    tltcp__ids *ids;                    /* secured: spare ids; or NULL */
    sec__secret secret;
    tltcp__counters stats;
    tltcp_time since; /* it was made */

    /* Its state. */
    enum tltcp__conn_state state;
    bool finished;  /* the application has finished */
    bool fin_acked; /* the peer knows */
    bool may_probe_mtu;
    bool confirmed; /* the peer has received what followed its answer */
    bool blocked;   /* the transport takes nothing now */
    bool rests;     /* the peer's packets come seldom: memory is given back */
    bool local;     /* the peer is on this machine: no checksums */
    uint16_t want;  /* TLTCP__WANT_* */
    uint32_t full;  /* bytes of a packet that is full */
    uint32_t first_seq;      /* wire number of the peer's stream offset 0 */
    uint32_t skip_number_in; /* packets until a number is skipped */
    uint64_t luck;           /* the rest of an unpredictable number */
    tltcp_time now;          /* of the last call */
    tltcp_time heard_at;
    tltcp_time unanswered; /* since when packets wait for any ACK; or NEVER */
    tltcp_time ping_at;
    tltcp__handshake handshake;
    tltcp__paths paths;
    tltcp__closing close;
    tltcp__conn_options opt;

    /* Identity, and the recipients of reports. */
    tltcp_endpoint *ep;  /* NULL: client */
    tltcp__id own;       /* our id of the handshake */
    tltcp__peer_id peer; /* to which ordinary packets go */
    char *stream_id;
    uint8_t *identity; /* the peer's static public key; NULL: none */
    tltcp__caller caller;
    void *user;
    tltcp__events events;
    struct {
        tltcp_trace_fn fn; /* NULL: none */
        void *user;
    } trace;
};

static inline bool tltcp__conn_is_client(const tltcp_conn *c) {
    return c->ep == NULL;
}

/* Time never runs backwards. */
static inline void tltcp__conn_tick(tltcp_conn *c, tltcp_time now) {
    if (now > c->now) {
        c->now = now;
    }
}

static inline bool tltcp__conn_wants(const tltcp_conn *c, unsigned what) {
    return (c->want & what) != 0;
}

/* Whether ordinary packets may leave. */
static inline bool tltcp__conn_flows(const tltcp_conn *c) {
    return c->state == TLTCP__CONN_OPEN || c->state == TLTCP__CONN_CLOSING;
}

/* Whether an MTU probe may leave: the first flight is for data. */
static inline bool tltcp__conn_spares_mtu_probe(const tltcp_conn *c) {
    return c->sender.peer_cum > 0 || !tltcp__sender_would_send(&c->sender);
}

/* conn.c */
const char *tltcp__conn_reason(const tltcp_conn *c);
/* Allocates a reason of len bytes and a zero; NULL without memory. */
char *tltcp__conn_new_reason(tltcp_conn *c, size_t len);
/* peer: its static public key, or NULL.  Returns 0 or TLTCP_ERR_NOMEM. */
int tltcp__conn_set_identity(tltcp_conn *c, const uint8_t *peer);
int tltcp__conn_make(tltcp_conn **conn, const tltcp_config *cfg,
                     const uint8_t *seed, uint64_t path, tltcp_time now);
tltcp__params tltcp__conn_params(const tltcp_conn *c);
/* Applies the peer's parameters. False when unusable. */
bool tltcp__conn_on_params(tltcp_conn *c, const tltcp__params *p);
/* Changes the state along one of the arrows above. */
void tltcp__conn_enter(tltcp_conn *c, enum tltcp__conn_state state);
void tltcp__conn_open(tltcp_conn *c, tltcp_time now);
/* Ends the connection with a reason; sends CLOSE if the peer knows us. */
void tltcp__conn_fail(tltcp_conn *c, int error, const char *reason);
/* Ends the connection without sending anything. */
void tltcp__conn_terminate(tltcp_conn *c, int error);
/* The peer has closed: echoes its CLOSE, then terminates. */
void tltcp__conn_echo_close(tltcp_conn *c, int error);
/* Switches to another path and restarts its measurements. */
void tltcp__conn_move(tltcp_conn *c, uint64_t path, tltcp_time now);
/* Frees the memory of empty buffers. */
void tltcp__conn_trim(tltcp_conn *c);
void tltcp__conn_on_result(tltcp_conn *c, const tltcp__feedback_result *result,
                           tltcp_time now);
/* Whether the listener's limits allow so much more memory because of the
 * peer. */
bool tltcp__conn_may_hold(const tltcp_conn *c, size_t more);
/* Updates the count of memory held because of the peer. */
void tltcp__conn_charge(tltcp_conn *c);
/* Queues an event when the estimated or the target bitrate changed. */
void tltcp__conn_check_rate(tltcp_conn *c, tltcp_time now);
/* Starts the CLOSE exchange once everything is settled. */
void tltcp__conn_check_closing(tltcp_conn *c, tltcp_time now);
/* Bytes that may still go to an unproven address. */
size_t tltcp__conn_allowance(const tltcp_conn *c);
/* For tests of wrapping numbers, before anything is sent: sets the first packet
 * number and the wire number of stream offset 0. */
void tltcp__conn_set_first(tltcp_conn *c, uint64_t pn, uint32_t seq);

/* When to send the peer a REPORT; NEVER: none requested. */
tltcp_time tltcp__conn_report_at(const tltcp_conn *c);

/* conn_hello.c, the secured handshake: makes the message to send unless it
 * exists, with CLOSE instead of PARAMS when refusing. */
bool tltcp__conn_make_hello(tltcp_conn *c);
/* Client: keeps a RETRY whose key the driver must derive first. False: it can
 * be followed now. */
bool tltcp__conn_hold(tltcp_conn *c, const sec__packet *p);
/* Client: makes its message in answer to a RETRY. False if that RETRY must not
 * be followed. */
bool tltcp__conn_follow(tltcp_conn *c, const sec__packet *p);
/* Opens the listener's answer; *plain has room for SEC__HELLO_MAX bytes and
 * becomes the body of *p. */
bool tltcp__conn_open_answer(tltcp_conn *c, sec__packet *p, uint8_t *plain);

/* conn_path.c: processes CHALLENGE and RESPONSE chunks from a path; 0 or
 * TLTCP_ERR_PROTOCOL. */
int tltcp__conn_on_challenge(tltcp_conn *c, const tltcp__chunk *k,
                             uint64_t path);
int tltcp__conn_on_response(tltcp_conn *c, const tltcp__chunk *k, uint64_t path,
                            tltcp_time now);
/* A packet of `len` bytes from another path: the peer's address may have
 * changed. */
void tltcp__conn_on_other_path(tltcp_conn *c, uint64_t path, size_t len,
                               tltcp_time now);

/* conn_ids.c: connection ids of sealed connections whose peer supports them.
 * Issues the first ids. */
void tltcp__conn_start_ids(tltcp_conn *c);
/* Our id with these bits; NULL: not active. */
tltcp__id *tltcp__conn_own_id(tltcp_conn *c, uint64_t id);
/* The peer's id of that number, or the current one. */
const tltcp__peer_id *tltcp__conn_peer_id(const tltcp_conn *c, uint32_t number);
/* The number of a peer's id for a path that was not in use. */
uint32_t tltcp__conn_id_for_new_path(tltcp_conn *c);
/* Changes the peer's id in use to the one of that number. */
void tltcp__conn_use_id(tltcp_conn *c, uint32_t number);
/* The peer uses our id of that number on that path: changes to one of the
 * peer's ids that is as new. */
void tltcp__conn_follow_id(tltcp_conn *c, uint32_t number, uint64_t path);
/* The packet numbered pn was acknowledged. */
void tltcp__conn_ids_on_acked(tltcp_conn *c, uint64_t pn);
/* The candidate path was given up without an answer. */
void tltcp__conn_ids_on_no_answer(tltcp_conn *c, uint32_t number);
int tltcp__conn_on_new_id(tltcp_conn *c, const tltcp__chunk *k);
int tltcp__conn_on_retire_id(tltcp_conn *c, const tltcp__chunk *k);
void tltcp__conn_free_ids(tltcp_conn *c);

/* conn_close.c: processes a CLOSE; 0 or TLTCP_ERR_PROTOCOL. */
int tltcp__conn_on_close(tltcp_conn *c, const tltcp__chunk *k);

/* conn_local.c: the peer's proof. */
void tltcp__conn_on_local(tltcp_conn *c, uint64_t proof);
/* Appends what stands in place of a tag. */
void tltcp__conn_put_check(const tltcp_conn *c, cmn__writer *w,
                           const uint8_t *packet);
/* Whether an unsealed SHORT packet is not damaged. */
bool tltcp__conn_is_intact(const tltcp_conn *c, const uint8_t *dgram,
                           size_t len);

/* conn_in.c: processes a datagram for c; processes a held RETRY. */
void tltcp__conn_on_retry(tltcp_conn *c, const sec__packet *p, tltcp_time now);
void tltcp__conn_take(tltcp_conn *c, const tltcp_pktinfo *info,
                      const sec__packet *p, size_t len, tltcp_time now);
/* Opens a sealed packet to our id of that number, in place if `own` is dgram
 * and not NULL. False: it was dropped. */
bool tltcp__conn_unseal(tltcp_conn *c, const uint8_t *dgram, uint8_t *own,
                        size_t len, sec__packet *p, uint32_t *number);
/* Processes it. */
void tltcp__conn_take_unsealed(tltcp_conn *c, const tltcp_pktinfo *info,
                               const sec__packet *p, uint32_t number,
                               size_t len, tltcp_time now);

/* conn_trace.c */
void tltcp__trace_packet(const tltcp_conn *c, bool sent, uint64_t pn,
                         size_t size, tltcp_time now);
/* Traces a dropped packet. */
void tltcp__trace_dropped(const tltcp_conn *c, const char *why);
void tltcp__trace_metrics(const tltcp_conn *c, tltcp_time now);
void tltcp__trace_losses(const tltcp_conn *c, uint64_t before, tltcp_time now);
void tltcp__trace_fate(const tltcp_conn *c, const tltcp__fate_record *t);
void tltcp__trace_state(const tltcp_conn *c, const char *what, tltcp_time now);

/* endpoint_table.c: enters another id of a connection; removes it, if it is
 * there. */
void tltcp__endpoint_add_id(tltcp_endpoint *ep, tltcp__id *id);
void tltcp__endpoint_remove_id(tltcp_endpoint *ep, const tltcp__id *id);
void tltcp__endpoint_on_free(tltcp_endpoint *ep, tltcp_conn *c);
/* Changes a random id so that it leads to this endpoint of its group; 0 is
 * possible. */
uint64_t tltcp__endpoint_own_id(const tltcp_endpoint *ep, uint64_t id);
/* endpoint_shared.c */
void tltcp__endpoint_on_proven(tltcp_endpoint *ep, tltcp_conn *c);
/* Whether the peer's data may occupy this much more memory. */
bool tltcp__endpoint_allows(tltcp_endpoint *ep, const tltcp_conn *c,
                            size_t more);
/* Reports the memory it holds now. */
void tltcp__endpoint_charge(tltcp_endpoint *ep, tltcp_conn *c, size_t held);
/* endpoint.c, for tests: as tltcp__conn_set_first() for every connection made
 * later. */
void tltcp__endpoint_set_first(tltcp_endpoint *ep, uint64_t pn, uint32_t seq);

#endif /* LIBTLTCP_CONN_H */

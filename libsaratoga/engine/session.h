/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_SESSION_H
#define LIBSARATOGA_SESSION_H

#include <congestion/rtt.h>
#include <saratoga/digest.h>
#include <saratoga/transfer.h>

#include "internal/common/ranges.h"
#include "internal/common/ring.h"
#include "libsaratoga/engine/context.h"
#include "libsaratoga/engine/multimap.h"
#include "libsaratoga/engine/pace.h"
#include "libsaratoga/engine/packet.h"
#include "libsaratoga/engine/pre_accept.h"
#include "libsaratoga/engine/sentlog.h"
#include "libsaratoga/engine/sink.h"
#include "libsaratoga/engine/source.h"

/*
 * A session: one transfer with one peer.
 *
 *   responder: EXPECTING -> ASKED -> OPEN -> LINGER -> OVER
 *   initiator:             ASKING -> OPEN -> LINGER -> OVER
 *
 * EXPECTING: DATA of an unknown Id arrived, or METADATA that announce a
 * REQUEST; its purpose is not yet known. ASKED: the application must answer.
 * LINGER: a finished receiver answers late DATA. A session ends in OVER,
 * perhaps with one last STATUS to send, and is freed when the application has
 * released it.
 */
enum saratoga__state {
    SARATOGA__EXPECTING,
    SARATOGA__ASKED,
    SARATOGA__ASKING,
    SARATOGA__OPEN,
    SARATOGA__LINGER,
    SARATOGA__OVER
};

#define SARATOGA__SUM_MAX 60
/* Extra polls sent soon after the last byte, in case one is lost. */
#define SARATOGA__QUICK_POLLS 2
/* Fewer DATA packets in a row may be lost on a bad link. */
#define SARATOGA__NO_PROGRESS_PACKETS 64u
/* When verifying takes longer than this, the last octet is reported missing, so
 * that the sender neither finishes nor gives up: again after twice as long, at
 * most after the longest patience. */
#define SARATOGA__VERIFY_PATIENCE SARATOGA_S
#define SARATOGA__VERIFY_PATIENCE_MAX (4 * SARATOGA_S)

typedef struct saratoga__sender {
    /* Data to send, and data sent. */
    cmn__ranges todo; /* to be sent: repairs lie below new data */
    cmn__ranges tail; /* repairs of the end, sent since the last STATUS */
    saratoga__source source;
    saratoga__sentlog log;
    saratoga__pace pace;
    uint64_t size; /* SARATOGA_SIZE_UNKNOWN: an open stream */
    uint64_t next; /* behind the highest byte sent */
    uint64_t last_timestamp;
    saratoga_time sent_at; /* the newest transmission */
    size_t payload;
    uint32_t copies;
    uint32_t passes;
    bool starved; /* waits for reads */
    bool lite;    /* DATA go by UDP-Lite */
    bool meta_sent;
    bool digest_pending;
    bool eod_sent;
    saratoga_time eod_at;  /* EOD was first sent */
    saratoga_time meta_at; /* METADATA left; or repeat then (one-way) */

    /* Streams only. */
    cmn__bytes window;
    uint64_t base;   /* first byte in the window */
    bool finished;   /* no more will be written */
    bool wants_room; /* somebody waits for the window */

    /* Progress of the receiver. */
    bool confirmed;        /* the peer answered */
    bool begins_anew;      /* the controller, once the peer is proven */
    cmn__ranges miss;      /* what the hole list being read reports */
    uint64_t proven;       /* everything below is held by the receiver */
    uint64_t held;         /* bytes that it holds */
    uint64_t most_held;    /* highest value of held */
    uint64_t resumed;      /* bytes that it held before anything was sent */
    uint64_t resumed_edge; /* holes below are from before that */
    uint64_t resumed_sent; /* of them those below have been sent */
    uint64_t status_d;     /* transmission that the newest STATUS answered */
    uint64_t group_d;      /* the incomplete hole list in `miss` answers this */
    uint64_t group_irt;
    size_t group_holes; /* in its newest packet */

    /* Answers, and the uplink that they come by. */
    size_t answer_len;  /* octets of the newest answer, headers included, */
    size_t answer_last; /* and of the one before it; a long list has parts */
    size_t train_len;   /* octets of a long list after its first part, ... */
    uint64_t train_d;   /* ... transmission that it answers, ... */
    saratoga_time train_time; /* ... time from its first part to its last */
    saratoga_time part_gap;   /* between the last two parts */
    saratoga_time answer_at;  /* the newest answer, or part of one, came */

    /* When to ask. */
    saratoga_time ask_at;
    saratoga_time asked_at;
    saratoga_time awaited; /* when the oldest unanswered one left; or NEVER */
    saratoga_time unanswered; /* since when requests are; NEVER: none */
    uint32_t overdue;   /* asked in spite of that, since the last answer */
    uint32_t since_ask; /* DATA since the last request */

    /* Polls and silence. */
    saratoga_time poll_at;
    saratoga_time poll_wait;
    saratoga_time rto_at;
    saratoga_time unacked_since; /* the first of unacked_packets left */
    uint32_t unacked_packets;    /* DATA sent since the receiver gained any */
    uint32_t timeouts;
    uint32_t quick_polls; /* left to be sent at the end */
    bool poll_due;
    bool stalled; /* nothing is heard: polls only */
    bool patient; /* answers say nothing new: retransmissions wait */
} saratoga__sender;

typedef struct saratoga__answer_due {
    uint64_t irt;
    uint8_t timestamp[SARATOGA__TIMESTAMP_LEN];
    bool has_timestamp;
    bool due;
} saratoga__answer_due;

typedef struct saratoga__receiver {
    /* Data that arrived. */
    cmn__ranges got;
    saratoga__sink sink;
    uint64_t size;    /* SARATOGA_SIZE_UNKNOWN */
    uint64_t highest; /* behind the highest byte */
    uint64_t resumed;
    saratoga_time data_at;    /* the newest came */
    saratoga_partial partial; /* ranges are a copy */
    bool has_partial;
    bool has_data;
    bool has_metadata;
    bool eod;

    /* Streams only. */
    cmn__bytes window;  /* reliable streams */
    uint64_t delivered; /* handed over */

    /* The end. */
    bool whole; /* all bytes are here */
    bool complete;
    bool verified;
    bool unverifiable; /* METADATA never came; go on without */
    saratoga_time whole_at;
    saratoga_time patient_until; /* no STATUS before, while verifying */
    saratoga_time patience;      /* from the newest one to that time */
    saratoga_time linger_until;

    /* STATUS that is owed. */
    saratoga__answer_due asked; /* requested STATUS */
    saratoga__answer_due highest_echo;
    saratoga__answer_due group; /* hole list under way */
    uint64_t group_at;          /* its next hole starts here or later */
    uint64_t group_progress;
    uint32_t group_left; /* packets left for it */
    bool group_voluntary;
    bool volunteer;
    bool resume_untold; /* the sender may not know what was held before */
    bool reported_first;
    uint32_t quiet_rounds;
    saratoga_time quiet_at;
    saratoga_time ask_seen;
    saratoga_time spacing;
    saratoga_time hold_until; /* multicast: STATUS waits */
} saratoga__receiver;

/* Address validation of the peer, and the send limit before it. */
typedef struct saratoga__proof {
    uint64_t received; /* UDP payload */
    uint64_t sent;
    uint64_t packets_in;
    uint64_t packets_out;
    uint64_t end;        /* of the last DATA of random length */
    unsigned drawn;      /* random bits of the next end */
    unsigned end_bits;   /* bits to guess for `end`; 0: already answered */
    unsigned bits;       /* guessed or known so far */
    uint32_t slot;       /* slot among the unproven; SARATOGA__NO_SLOT: none */
    uint32_t challenges; /* answered as initiator */
    bool awaited; /* the application waits for the proof before it answers */
    bool proven;
} saratoga__proof;

#define SARATOGA__NO_SLOT UINT32_MAX

typedef struct saratoga__session {
    /* Identity. */
    saratoga__context *ctx;
    saratoga_handle handle;
    void *user;
    uint64_t
        host; /* lookup key: the peer, or the group until a member answers */
    uint32_t id;
    uint32_t type; /* saratoga_request_type */
    enum saratoga__state state;
    bool sends;
    bool initiator;
    bool down;      /* the link is */
    bool unchanged; /* update check: the copies are the same */
    bool of_group;  /* a REQUEST to a group began it */
    saratoga_options opt;
    void *opt_block; /* what opt points to */

    /* The peer. */
    saratoga_pktinfo to;
    saratoga__proof proof;
    struct cong_rtt rtt;
    uint32_t overhead; /* of IP and UDP */
    uint32_t peer_abilities;
    uint32_t peer_descriptor;
    saratoga_time born;
    saratoga_time heard;

    /* The request. */
    char path[SARATOGA_PATH_MAX];
    uint8_t *asked_packet; /* with an authentication field; until answered */
    uint8_t *auth;         /* own */
    size_t auth_len;
    saratoga_time asked_at;
    saratoga_time retry_at;
    saratoga_time retry_wait;
    uint32_t tries;
    bool accepted;        /* initiator: success STATUS came */
    bool announced;       /* the peer sent METADATA before the REQUEST */
    bool metadata_wanted; /* so its sender was answered */

    /* From METADATA. */
    bool has_entry;
    bool ended; /* METADATA says so */
    uint32_t kind;
    uint32_t descriptor;
    saratoga_entry entry;
    uint32_t sum_type; /* on the wire */
    size_t sum_len;
    uint8_t sum[SARATOGA__SUM_MAX];

    /* Packets that are due. */
    bool send_request;
    bool send_metadata;
    bool send_reply; /* success STATUS of acceptance, or of delete */
    bool send_error; /* last STATUS */
    bool announce;   /* update check: METADATA before the REQUEST */

    /* The end. */
    bool done_reported;
    bool done_pending; /* found no memory, though */
    bool released;
    bool remote;
    int error;
    uint32_t status; /* with a denial */
    saratoga_time ended_at;

    /* Its parts. */
    saratoga__sender out;
    saratoga__receiver in;
    saratoga__pre_accept pre_accept;
    saratoga_stats st;

    /* The engine's. */
    uint32_t index;
    uint32_t timer_slot;
    struct saratoga__session *ready_next;
    struct saratoga__session *ready_prev;
    struct saratoga__session *status_next;
    struct saratoga__session *linger_next;
    struct saratoga__session *linger_prev;
    saratoga__link by_role; /* group_index.c */
    saratoga__link by_path; /* likewise */
    bool is_ready;
    bool in_status_queue;
    bool lingers; /* may be evicted */
} saratoga__session;

/* session_end.c: events and the end of a session */
bool saratoga__session_event(saratoga__session *s, uint32_t type,
                             saratoga_event *ev);
/* Gives the DONE event that could not be queued before. False: there is
 * none. */
bool saratoga__session_pending_done(saratoga__session *s, saratoga_event *ev);
/* Ends the session.  `notify_peer`: a last STATUS carries `status`. */
void saratoga__session_end(saratoga__session *s, int error, uint32_t status,
                           bool remote, bool notify_peer, saratoga_time now);
/* Ends with a local error: the application gets the error, the peer its status
 * code. */
void saratoga__session_fail(saratoga__session *s, int error, saratoga_time now);

/* session.c: what both roles share */
int saratoga__session_init(saratoga__session *s, saratoga__context *ctx,
                           const saratoga_options *opt, saratoga_time now);
void saratoga__session_free(saratoga__session *s);
/* Sets descriptor, METADATA and sum of a source.  Returns 0 or an error. */
int saratoga__session_describe(saratoga__session *s, const saratoga_source *src,
                               uint32_t widest);
/* Raises the REQUEST event; q as received, or NULL. */
void saratoga__session_ask(saratoga__session *s, const saratoga__request *q);
void saratoga__session_open(saratoga__session *s, saratoga_time now);
/* Processes the DATA that arrived before the session was open. */
void saratoga__session_replay(saratoga__session *s, saratoga_time now);
void saratoga__session_on_data(saratoga__session *s, const saratoga__data *d,
                               saratoga_time now);
void saratoga__session_on_metadata(saratoga__session *s,
                                   const saratoga__metadata *m,
                                   saratoga_time now);
void saratoga__session_on_status(saratoga__session *s,
                                 const saratoga__status_pkt *p, size_t len,
                                 saratoga_time now);
void saratoga__session_on_work(saratoga__session *s, saratoga__work_item *work,
                               int64_t result, saratoga_time now);
/* Runs due timers; and the time of the next call. */
void saratoga__session_on_timeout(saratoga__session *s, saratoga_time now);
saratoga_time saratoga__session_wake(const saratoga__session *s,
                                     saratoga_time now);
/* Whether a receiver wants to send a STATUS. */
bool saratoga__session_wants_status(const saratoga__session *s,
                                    saratoga_time now);
static inline bool saratoga__session_lives(const saratoga__session *s) {
    return s->state < SARATOGA__LINGER;
}
/* a or b, whichever comes first; a + b that stays below NEVER. */
static inline saratoga_time saratoga__sooner(saratoga_time a, saratoga_time b) {
    return a < b ? a : b;
}
static inline saratoga_time saratoga__later(saratoga_time a, saratoga_time d) {
    return d >= SARATOGA_TIME_NEVER - a ? SARATOGA_TIME_NEVER : a + d;
}

/* Whether the sender deletes its copy at the end. */
static inline bool saratoga__moves(const saratoga__session *s) {
    return s->type == SARATOGA_TAKE || s->type == SARATOGA_GIVE;
}

/* The receiver signs that it holds the file. */
static inline bool saratoga__end_is_signed(const saratoga__session *s) {
    return saratoga__moves(s) && s->ctx->auth.key_len > 0;
}

/* proof.c */
/* Whether the peer is unproven and not exempt. */
bool saratoga__proof_is_missing(const saratoga__session *s);
/* Maximum octets of the next datagram; SIZE_MAX: any. The limit holds both with
 * and without the headers of IP and UDP. */
size_t saratoga__proof_room(const saratoga__session *s);
/* Counts datagrams; len without IP and UDP headers. */
void saratoga__proof_on_received(saratoga__session *s, size_t len);
void saratoga__proof_on_sent(saratoga__session *s, size_t len, size_t packets);
/* Makes a timestamp unguessable. */
void saratoga__proof_seal(const saratoga__session *s, uint8_t *timestamp);
/* Whether an echo is expected: until it arrives, only empty packets that
 * request it leave. */
bool saratoga__proof_by_echo(const saratoga__session *s);
/* Peers that echo no timestamps prove their address by reporting the ends of
 * DATA of random length. Gives the end of the next, at most r.end. */
bool saratoga__proof_by_length(const saratoga__session *s);
uint64_t saratoga__proof_draw_end(saratoga__session *s, cmn__range r);
void saratoga__proof_on_data(saratoga__session *s, uint64_t end);
bool saratoga__proof_awaits_answer(const saratoga__session *s);
/* Whether a STATUS proves the address. */
bool saratoga__proof_in_status(saratoga__session *s,
                               const saratoga__status_pkt *p);

/* session_send.c: packets that both roles send */
/* Writes datagrams other than a receiver's STATUS; 0: none now. */
size_t saratoga__session_write(saratoga__session *s, uint8_t *buf, size_t cap,
                               size_t *segment, uint32_t *flags,
                               saratoga_time now);
/* If there is a key, adds the authentication field with the time. It covers
 * `len` octets of the packet. */
void saratoga__sign(saratoga__context *e, cmn__writer *w, const uint8_t *packet,
                    size_t len, saratoga_time now);
/* A STATUS without holes, with 16-bit zero offsets. */
size_t saratoga__write_plain_status(uint32_t id, uint32_t code, uint8_t *buf,
                                    size_t cap);

/* sender.c */
int saratoga__sender_open(saratoga__session *s, saratoga_time now);
void saratoga__sender_free(saratoga__session *s);
size_t saratoga__sender_write(saratoga__session *s, uint8_t *buf, size_t cap,
                              size_t *segment, uint32_t *flags,
                              saratoga_time now);
void saratoga__sender_plan(saratoga__session *s);
/* Restarts the controller with only the RTT. */
void saratoga__sender_restart_pace(saratoga__session *s, saratoga_time now);
/* Whether everything is sent and the end is known. */
bool saratoga__sender_is_drained(const saratoga__session *s);
void saratoga__sender_restart_poll(saratoga__session *s, saratoga_time now);
/* Whether there are no answers: no return path, or too many receivers. */
bool saratoga__sender_is_one_way(const saratoga__session *s);
/* Whether something other than the pacer prevents sending. */
bool saratoga__sender_is_held_up(const saratoga__session *s);
/* Whether the window blocks DATA, so that an empty packet must request the
 * STATUS. */
bool saratoga__sender_is_window_shut(const saratoga__session *s);
/* When the next STATUS may be requested; and the arrival of an answer to
 * transmission d. */
saratoga_time saratoga__sender_next_ask(const saratoga__session *s);
void saratoga__sender_on_answer(saratoga__session *s, uint64_t d, size_t len,
                                bool part, saratoga_time now);
/* Time from the last packet to the first poll. */
saratoga_time saratoga__sender_first_wait(const saratoga__session *s);

/* sender_timer.c */
saratoga_time saratoga__sender_wake(const saratoga__session *s,
                                    saratoga_time now);
void saratoga__sender_on_timeout(saratoga__session *s, saratoga_time now);

/* sender_status.c */
void saratoga__sender_on_status(saratoga__session *s,
                                const saratoga__status_pkt *p, size_t len,
                                saratoga_time now);

/* receiver.c */
int saratoga__receiver_open(saratoga__session *s, saratoga_time now);
int saratoga__receiver_keep(saratoga__session *s, const saratoga_partial *p);
void saratoga__receiver_free(saratoga__session *s);
void saratoga__receiver_on_data(saratoga__session *s, const saratoga__data *d,
                                saratoga_time now);
void saratoga__receiver_on_work(saratoga__session *s, saratoga__work_item *work,
                                int64_t result, saratoga_time now);
void saratoga__receiver_on_timeout(saratoga__session *s, saratoga_time now);
saratoga_time saratoga__receiver_wake(const saratoga__session *s,
                                      saratoga_time now);

/* receiver_finish.c: from the last byte to the completed STATUS */
/* The checksum to compute over the file. */
uint32_t saratoga__receiver_checksum(const saratoga__session *s);
/* Whether METADATA and the announced checksum have arrived. */
bool saratoga__receiver_has_checksum(const saratoga__session *s);
/* Delays the STATUS of a group member by a random time. */
void saratoga__receiver_hold_status(saratoga__session *s, saratoga_time now);
/* Writes, digests and commits received data as far as possible. */
void saratoga__receiver_advance(saratoga__session *s, saratoga_time now);

/* receiver_metadata.c */
void saratoga__receiver_on_metadata(saratoga__session *s,
                                    const saratoga__metadata *m,
                                    saratoga_time now);

/* receiver_status.c */
bool saratoga__receiver_wants_status(const saratoga__session *s,
                                     saratoga_time now);
size_t saratoga__receiver_write_status(saratoga__session *s, uint8_t *buf,
                                       size_t cap, saratoga_time now);
/* Another member of the group reported holes. */
void saratoga__receiver_on_other(saratoga__session *s,
                                 const saratoga__status_pkt *p);

#endif /* LIBSARATOGA_SESSION_H */

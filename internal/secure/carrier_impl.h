/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_CARRIER_IMPL_H
#define SECURE_CARRIER_IMPL_H

#include "internal/secure/carrier.h"
#include "internal/secure/hello.h"
#include "internal/secure/replay.h"

/* Each file calls only those before it: carrier_table.c stores the sessions,
 * carrier_session.c seals, opens and ends them, carrier_call.c sets them up,
 * carrier.c coordinates. */

#define SEC__CHAINS 1024u /* a power of two */
#define SEC__REFUSALS 16u
/* Datagrams queued before a session opens; the first second of a slow link. */
#define SEC__KEPT_MAX 32u
#define SEC__KEPT_BYTES ((size_t)48 * 1024)

enum sec__session_state {
    SEC__CALLING,
    SEC__REFUSED_CALL, /* kept for a while, so that the peer is not called
                          repeatedly */
    SEC__HALF_OPEN,    /* answered; not yet confirmed */
    SEC__OPEN
};

enum sec__want {
    SEC__WANT_CALL = 1,
    SEC__WANT_ANSWER = 2,
    SEC__WANT_CHALLENGE = 4,
    SEC__WANT_RESPONSE = 8,
    SEC__WANT_BYE = 16
};

enum sec__kind {
    SEC__KIND_CARGO = 1,
    SEC__KIND_CHALLENGE = 2,
    SEC__KIND_RESPONSE = 3,
    SEC__KIND_BYE = 4
};

typedef struct sec__kept {
    struct sec__kept *next;
    size_t len;
    uint8_t data[];
} sec__kept;

typedef struct sec__session {
    struct sec__session *next; /* list of all */
    struct sec__session *prev;
    struct sec__session *next_id; /* hash chains */
    struct sec__session *next_path;
    struct sec__session *next_ready; /* queue of those with data to send */
    bool ready;
    bool caller;
    bool admitted; /* counts against the limits */
    bool replaced; /* by a newer one: only receives */
    bool over;
    bool awaits_key; /* calls anew once a key was made */
    uint8_t state;
    uint8_t want;
    uint64_t id;
    uint64_t peer_id;
    sec__place peer;        /* as known to the protocol above */
    uint64_t at;            /* current path */
    uint64_t due;           /* time of its timer */
    uint64_t heard;         /* when the peer was last heard */
    uint64_t unheard_since; /* since when data was sent without an answer; 0:
                               none */

    /* The handshake. */
    sec__hello *hello;
    uint8_t token[SEC__TOKEN_MAX];
    size_t token_len;
    unsigned tries;
    unsigned retries;
    uint64_t begun;
    sec__kept *kept;
    sec__kept **kept_end;
    unsigned n_kept;
    size_t kept_bytes;

    /* Open. */
    sec__seal *seal;
    uint64_t pn;
    uint64_t forged;
    sec__replay replay;
    uint64_t challenge; /* 0: none in progress */
    uint64_t challenge_path;
    uint64_t challenge_pn; /* of its first packet */
    uint64_t challenge_at;
    uint64_t response;
    uint64_t response_path;
} sec__session;

struct sec__carrier {
    cmn__mem mem;
    sec__secret secret;
    sec__admission admission;
    sec__key *keys; /* keys accepted from callers */
    int n_keys;
    sec__caller *own; /* with which it calls; NULL: it cannot */
    bool defers_keys;
    bool wants_key; /* for the salt; not asked for by the driver yet */
    bool makes_key; /* the driver does */
    uint8_t salt_wanted[SEC__SALT_LEN];
    uint32_t version;
    size_t max_datagram;
    uint64_t rekey_packets;
    uint8_t *plain;
    uint64_t salt; /* keeps attackers from choosing the chain */
    sec__session *all;
    sec__session *by_id[SEC__CHAINS];
    sec__session *by_path[SEC__CHAINS]; /* newest first */
    sec__session *ready;
    sec__session *ready_last;
    uint64_t wake; /* earliest timer */
    sec__refused refused[SEC__REFUSALS];
    unsigned n_refused;
    sec__carrier_stats stats;
};

/* carrier_table.c */
sec__session *sec__session_new(sec__carrier *c, const sec__place *peer,
                               uint64_t now);
void sec__session_free(sec__carrier *c, sec__session *s);
sec__session *sec__session_of_id(const sec__carrier *c, uint64_t id);
/* The newest session with that path and state, or NULL. */
sec__session *sec__session_of_path(const sec__carrier *c, uint64_t path,
                                   enum sec__session_state state);
/* The session of a repeated call, or NULL. */
sec__session *sec__session_of_caller(const sec__carrier *c, uint64_t path,
                                     uint64_t peer_id);
/* One of those half-open, drawn by a random number; NULL: there is none. */
sec__session *sec__session_half_open(const sec__carrier *c, uint64_t random);
/* Makes this the session to send with. */
void sec__session_to_front(sec__carrier *c, sec__session *s);
void sec__session_ready(sec__carrier *c, sec__session *s);
void sec__session_unready(sec__carrier *c, sec__session *s);
void sec__session_arm(sec__carrier *c, sec__session *s, uint64_t due);
/* Queues a datagram until the session is open, or drops it without room. */
void sec__session_keep(sec__carrier *c, sec__session *s, const uint8_t *dgram,
                       size_t len);
void sec__session_drop_kept(sec__carrier *c, sec__session *s);

/* carrier_session.c */
void sec__session_open(sec__carrier *c, sec__session *s, uint64_t now);
size_t sec__session_seal(sec__carrier *c, sec__session *s, uint8_t kind,
                         const uint8_t *text, size_t len, uint8_t *buf);
/* *path changes if the packet goes to another path than the session's. */
size_t sec__session_put(sec__carrier *c, sec__session *s, uint8_t *buf,
                        size_t cap, uint64_t *path, uint64_t now);
enum sec__carried sec__session_take(sec__carrier *c, const sec__place *from,
                                    const uint8_t *dgram, size_t len,
                                    sec__delivery *out, uint64_t now);
/* Called when data is sent. True: the peer seems to have lost the session and
 * should be called again. */
bool sec__session_on_use(sec__carrier *c, sec__session *s, uint64_t now);
void sec__session_on_timeout(sec__carrier *c, sec__session *s, uint64_t now);

/* carrier_call.c */
/* Begins a call, or returns the one in progress; NULL without memory or key. */
sec__session *sec__call(sec__carrier *c, const sec__place *to, uint64_t at,
                        uint64_t now);
size_t sec__call_put(sec__carrier *c, sec__session *s, uint8_t *buf,
                     uint64_t now);
enum sec__carried sec__call_take(sec__carrier *c, const sec__place *from,
                                 const uint8_t *dgram, size_t len,
                                 sec__delivery *out, uint64_t now);
void sec__call_on_timeout(sec__carrier *c, sec__session *s, uint64_t now);

#endif /* SECURE_CARRIER_IMPL_H */

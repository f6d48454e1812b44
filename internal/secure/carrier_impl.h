/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_CARRIER_IMPL_H
#define SECURE_CARRIER_IMPL_H

#include "internal/secure/carrier.h"
#include "internal/secure/hello.h"
#include "internal/secure/replay.h"

/* Each file calls only those before it: carrier_table.c keeps the sessions,
 * carrier_session.c seals, opens and ends them, carrier_call.c sets them up,
 * carrier.c orders things. */

#define SEC__CHAINS 1024u /* a power of two */
#define SEC__REFUSALS 16u
/* Of a session that is not open yet; a slow link's first second. */
#define SEC__KEPT_MAX 32u
#define SEC__KEPT_BYTES ((size_t)48 * 1024)

enum sec__session_state {
    SEC__CALLING,
    SEC__REFUSED_CALL, /* stays a while so that nobody is pestered */
    SEC__HALF_OPEN,    /* answered; whether it was heard is not known */
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
    struct sec__session *next; /* of all */
    struct sec__session *prev;
    struct sec__session *next_id; /* in its chains */
    struct sec__session *next_path;
    struct sec__session *next_ready; /* to send */
    bool ready;
    bool caller;
    bool admitted; /* counts in the limits */
    bool replaced; /* by a newer one: is only listened to */
    bool over;
    bool awaits_key; /* calls anew once a key was made */
    uint8_t state;
    uint8_t want;
    uint64_t id;
    uint64_t peer_id;
    sec__place peer;        /* as it is known above */
    uint64_t at;            /* the path to where it is now */
    uint64_t due;           /* its timer */
    uint64_t heard;         /* when the peer was heard last */
    uint64_t unheard_since; /* sent so long without hearing; 0: not */

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
    uint64_t challenge; /* 0: none under way */
    uint64_t challenge_path;
    uint64_t challenge_pn; /* that carried it first */
    uint64_t challenge_at;
    uint64_t response;
    uint64_t response_path;
} sec__session;

struct sec__carrier {
    cmn__mem mem;
    sec__secret secret;
    sec__admission admission;
    sec__key *keys; /* with which it may be called */
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
    uint64_t salt; /* keeps strangers from choosing the chain */
    sec__session *all;
    sec__session *by_id[SEC__CHAINS];
    sec__session *by_path[SEC__CHAINS]; /* newest first */
    sec__session *ready;
    sec__session *ready_last;
    uint64_t wake; /* no timer is due before */
    sec__refused refused[SEC__REFUSALS];
    unsigned n_refused;
    sec__carrier_stats stats;
};

/* carrier_table.c */
sec__session *sec__session_new(sec__carrier *c, const sec__place *peer,
                               uint64_t now);
void sec__session_free(sec__carrier *c, sec__session *s);
sec__session *sec__session_of_id(const sec__carrier *c, uint64_t id);
/* The newest session with that path in that state, or NULL. */
sec__session *sec__session_of_path(const sec__carrier *c, uint64_t path,
                                   enum sec__session_state state);
/* The session of a call that is repeated, or NULL. */
sec__session *sec__session_of_caller(const sec__carrier *c, uint64_t path,
                                     uint64_t peer_id);
/* One of those half-open, drawn by a random number; NULL: there is none. */
sec__session *sec__session_half_open(const sec__carrier *c, uint64_t random);
/* Makes this the session to send with. */
void sec__session_to_front(sec__carrier *c, sec__session *s);
void sec__session_ready(sec__carrier *c, sec__session *s);
void sec__session_unready(sec__carrier *c, sec__session *s);
void sec__session_arm(sec__carrier *c, sec__session *s, uint64_t due);
/* Keeps a datagram until the session is open, or drops it for want of room. */
void sec__session_keep(sec__carrier *c, sec__session *s, const uint8_t *dgram,
                       size_t len);
void sec__session_drop_kept(sec__carrier *c, sec__session *s);

/* carrier_session.c */
void sec__session_open(sec__carrier *c, sec__session *s, uint64_t now);
size_t sec__session_seal(sec__carrier *c, sec__session *s, uint8_t kind,
                         const uint8_t *text, size_t len, uint8_t *buf);
/* *path changes where the packet goes elsewhere than the session. */
size_t sec__session_put(sec__carrier *c, sec__session *s, uint8_t *buf,
                        size_t cap, uint64_t *path, uint64_t now);
enum sec__carried sec__session_take(sec__carrier *c, const sec__place *from,
                                    const uint8_t *dgram, size_t len,
                                    sec__delivery *out, uint64_t now);
/* Something is sent.  True: the peer seems to have forgotten the session, so it
 * should be called again. */
bool sec__session_on_use(sec__carrier *c, sec__session *s, uint64_t now);
void sec__session_on_timeout(sec__carrier *c, sec__session *s, uint64_t now);

/* carrier_call.c */
/* Begins a call, or returns the one under way; NULL without memory or key. */
sec__session *sec__call(sec__carrier *c, const sec__place *to, uint64_t at,
                        uint64_t now);
size_t sec__call_put(sec__carrier *c, sec__session *s, uint8_t *buf,
                     uint64_t now);
enum sec__carried sec__call_take(sec__carrier *c, const sec__place *from,
                                 const uint8_t *dgram, size_t len,
                                 sec__delivery *out, uint64_t now);
void sec__call_on_timeout(sec__carrier *c, sec__session *s, uint64_t now);

#endif /* SECURE_CARRIER_IMPL_H */

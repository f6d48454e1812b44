/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_SEAL_H
#define SECURE_SEAL_H

#include "internal/common/mem.h"
#include "internal/secure/packet_key.h"

/* Seals SHORT packets: AEAD with the header as associated data, the packet
 * number as nonce, and keys that are replaced before the cipher's limits.
 *
 * A packet announces its keys' phase by one bit.  Whoever sees the other one on
 * a packet that its next keys open goes over to them, and renews its own, too.
 * Nobody goes on before the peer has opened a packet of the present keys: it
 * could not tell the ones after the next from those before. */

/* RFC 9001, 6.6: the AEAD bears so many guesses; half of the lower limit. */
#define SEC__FORGED_MAX (UINT64_C(1) << 35)

/* So many packets are sealed in a row: a train of them. */
#define SEC__SEAL_BATCH 48u

/* A packet that is to be sealed. */
typedef struct sec__unsealed {
    uint64_t pn;
    uint8_t *packet;
    size_t len; /* of what stands behind its header */
} sec__unsealed;

typedef struct sec__seal {
    sec__packet_key *tx;
    sec__packet_key *rx;
    sec__packet_key *rx_old;  /* for what was overtaken; or NULL */
    sec__packet_key *rx_next; /* NULL: no packet asked for it yet */
    const cmn__mem *mem;
    size_t room_len;
    uint8_t *room;  /* `plain` with what goes before it, or NULL */
    uint8_t *plain; /* room for a packet that is opened, or NULL */
    uint8_t tx_key[SEC__KEY_LEN];
    uint8_t rx_key[SEC__KEY_LEN]; /* of rx_next, else of rx */
    uint64_t rx_from;             /* lowest number seen with rx */
    uint64_t tx_from;             /* lowest number sealed with tx */
    uint64_t sealed;              /* packets sealed with tx */
    uint64_t limit;               /* after so many new keys are due */
    sec__unsealed *waiting;       /* SEC__SEAL_BATCH of them, or NULL */
    unsigned waits;               /* of them */
    uint32_t tx_phase;
    uint32_t rx_phase;
    uint8_t suite;
    bool confirmed; /* the peer has opened a packet sealed with tx */
    bool failed;    /* a packet that waited could not be sealed */
} sec__seal;

/* room: of `plain`; 0: there is none.  mem must outlast it. */
sec__seal *sec__seal_new(const cmn__mem *mem, uint8_t suite,
                         const uint8_t *tx_key, const uint8_t *rx_key,
                         size_t room, uint64_t limit);
void sec__seal_free(sec__seal *s, const cmn__mem *mem);
/* s->plain, made again if it was given back; NULL without memory. */
uint8_t *sec__seal_plain(sec__seal *s);
/* Gives back memory that only packets on their way need. */
void sec__seal_trim(sec__seal *s);

/* How long a full packet of at most cap bytes is best: where the last bytes
 * would cost out of proportion, it goes without them. */
size_t sec__seal_packet(const sec__seal *s, size_t cap);
/* The phase bit for the next packet; renews the keys when that is due. */
uint8_t sec__seal_phase(sec__seal *s);
/* Seals len bytes at text, in place, with SEC__TAG_LEN bytes of room behind
 * them.  Costs least when the text stands behind the header. */
bool sec__seal_close(sec__seal *s, uint64_t pn, const uint8_t *header,
                     size_t header_len, uint8_t *text, size_t len);
/* The same for a packet, SEC__SHORT_LEN bytes of header and len bytes of text,
 * which must stay where it is until it is sealed: by sec__seal_flush() at the
 * latest.  Costs less where there are several, for the cipher's instructions
 * stay in the processor's cache. */
bool sec__seal_put(sec__seal *s, uint64_t pn, uint8_t *packet, size_t len);
/* False when any packet since the beginning could not be sealed: then none of
 * those that were put must leave. */
bool sec__seal_flush(sec__seal *s);
/* Opens len bytes, tag included, into `plain`.  False when forged.  Costs least
 * when it is s->plain. */
bool sec__seal_open(sec__seal *s, uint8_t phase, uint64_t pn,
                    const uint8_t *header, size_t header_len,
                    const uint8_t *text, size_t len, uint8_t *plain);
/* New keys are due and wait for the peer to confirm the present ones. */
bool sec__seal_waits(const sec__seal *s);
/* The peer has opened the packet numbered pn. */
void sec__seal_on_acked(sec__seal *s, uint64_t pn);
/* New keys as soon as the peer has confirmed the present ones. */
void sec__seal_renew(sec__seal *s);

#endif /* SECURE_SEAL_H */

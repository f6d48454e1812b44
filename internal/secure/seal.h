/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SECURE_SEAL_H
#define SECURE_SEAL_H

#include "internal/common/mem.h"
#include "internal/secure/packet_key.h"

/* Seals SHORT packets: AEAD with the header as associated data, the packet
 * number as nonce, and keys that are replaced before the cipher's limits.
 *
 * One bit of a packet gives its key phase. A side that sees the other phase on
 * a packet that its next keys open switches to them, and renews its own, too.
 * No side switches again before the peer has opened a packet of the current
 * keys: one bit cannot distinguish keys two phases apart. */

/* RFC 9001 section 6.6: limit of forgeries; half of the lower one. */
#define SEC__FORGED_MAX (UINT64_C(1) << 35)

/* Packets sealed in one batch. */
#define SEC__SEAL_BATCH 48u

/* A packet to be sealed. */
typedef struct sec__unsealed {
    uint64_t pn;
    uint8_t *packet;
    size_t len; /* of the text after its header */
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
    uint8_t rx_key[SEC__KEY_LEN]; /* key of rx_next, else of rx */
    uint64_t rx_from;             /* lowest number seen with rx */
    uint64_t tx_from;             /* lowest number sealed with tx */
    uint64_t sealed;              /* packets sealed with tx */
    uint64_t limit;               /* packets after which new keys are due */
    sec__unsealed *waiting;       /* SEC__SEAL_BATCH of them, or NULL */
    unsigned waits;               /* of them */
    uint32_t tx_phase;
    uint32_t rx_phase;
    uint8_t suite;
    bool confirmed; /* the peer has opened a packet sealed with tx */
    bool failed;    /* a waiting packet could not be sealed */
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

/* Best length of a full packet of at most cap bytes: omits last bytes that
 * would cost disproportionately. */
size_t sec__seal_packet(const sec__seal *s, size_t cap);
/* The phase bit for the next packet; renews the keys when due. */
uint8_t sec__seal_phase(sec__seal *s);
/* Seals len bytes at text in place, with SEC__TAG_LEN bytes of room after them.
 * Cheapest if the text follows the header. */
bool sec__seal_close(sec__seal *s, uint64_t pn, const uint8_t *header,
                     size_t header_len, uint8_t *text, size_t len);
/* The same for a packet, SEC__SHORT_LEN bytes of header and len bytes of text,
 * which must not move until sec__seal_flush(). Several packets are sealed in a
 * row where that is cheaper; see sec__packet_key_batches(). */
bool sec__seal_put(sec__seal *s, uint64_t pn, uint8_t *packet, size_t len);
/* Whether sec__seal_put_from() is available. */
bool sec__seal_puts_from(const sec__seal *s);
/* Seals a packet at once. The header is in the packet; the text lies elsewhere
 * and is sealed into the packet, which saves a copy. */
bool sec__seal_put_from(sec__seal *s, uint64_t pn, uint8_t *packet,
                        const uint8_t *text, size_t len);
/* Seals the waiting packets. False if any packet ever could not be sealed: then
 * none of the waiting ones may be sent. */
bool sec__seal_flush(sec__seal *s);
/* Opens len bytes including the tag into `plain`. False: forged. Cheapest if
 * `plain` is s->plain. */
bool sec__seal_open(sec__seal *s, uint8_t phase, uint64_t pn,
                    const uint8_t *header, size_t header_len,
                    const uint8_t *text, size_t len, uint8_t *plain);
/* Opens a packet in place: SEC__SHORT_LEN bytes of header, then len bytes of
 * text. The header is destroyed. */
bool sec__seal_open_packet(sec__seal *s, uint8_t phase, uint64_t pn,
                           uint8_t *packet, size_t len);
/* Whether new keys are due and wait for the peer to confirm the current
 * ones. */
bool sec__seal_waits(const sec__seal *s);
/* The peer has opened the packet numbered pn. */
void sec__seal_on_acked(sec__seal *s, uint64_t pn);
/* Requests new keys as soon as the peer has confirmed the current ones. */
void sec__seal_renew(sec__seal *s);

#endif /* SECURE_SEAL_H */

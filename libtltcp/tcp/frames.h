/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_TCP_FRAMES_H
#define TLTCP_TCP_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Datagrams in a byte stream (docs/protocols/tltcp.md, section 16): the caller
 * begins with a preface; then, in both directions, each datagram follows its
 * length in two bytes, as in RFC 4571.
 */

#define TLTCP__PREFACE_LEN 8
extern const uint8_t tltcp__preface[TLTCP__PREFACE_LEN];

#define TLTCP__FRAME_HEAD 2
/* No datagram of TLTCP is shorter. */
#define TLTCP__FRAME_MIN 17

/* Writes a burst as frames and returns their length. The burst is datagrams of
 * `segment` bytes back to back, the last may be shorter. `out` needs
 * tltcp__frames_size() bytes. */
size_t tltcp__frames_put(uint8_t *out, const uint8_t *burst, size_t len,
                         size_t segment);
size_t tltcp__frames_size(size_t len, size_t segment);

/* Finds the datagrams in a byte stream. Keeps at most one incomplete datagram,
 * and no memory between two datagrams. */
typedef struct tltcp__deframer {
    const uint8_t *in; /* input not looked at yet; the caller's */
    size_t left;
    size_t max;      /* longest datagram */
    uint8_t *kept;   /* an incomplete datagram, or one just returned; or NULL */
    size_t kept_len; /* its length */
    size_t have;     /* bytes of it */
    uint8_t head[TLTCP__FRAME_HEAD];
    uint8_t n_head;
    uint8_t preface; /* bytes of the preface still to come */
} tltcp__deframer;

enum tltcp__deframed {
    TLTCP__DEFRAMED_NOMEM = -2,
    TLTCP__DEFRAMED_BAD = -1, /* not frames: the stream is of no use */
    TLTCP__DEFRAMED_NONE = 0, /* more input is needed */
    TLTCP__DEFRAMED_ONE = 1
};

/* `preface`: the stream begins with one. */
void tltcp__deframer_init(tltcp__deframer *d, size_t max, bool preface);
void tltcp__deframer_free(tltcp__deframer *d);
/* Gives it input, which must stay in place until all of it was taken. */
void tltcp__deframer_put(tltcp__deframer *d, const uint8_t *in, size_t len);
/* Takes the next datagram, valid until the next call. Returns a
 * tltcp__deframed. */
int tltcp__deframer_next(tltcp__deframer *d, const uint8_t **dgram,
                         size_t *len);

#endif /* TLTCP_TCP_FRAMES_H */

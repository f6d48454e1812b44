/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_PACKET_H
#define LIBSARATOGA_PACKET_H

#include <saratoga/entry.h>
#include <saratoga/event.h>
#include <saratoga/types.h>

#include "libsaratoga/engine/descriptor.h"

/* The packets of draft-wood-tsvwg-saratoga-22, sections 4 and 5.  Parsed
 * structs point into the datagram. */

#define SARATOGA__TIMESTAMP_LEN ((size_t)16)

enum saratoga__type {
    SARATOGA__BEACON = 0,
    SARATOGA__REQUEST = 1,
    SARATOGA__METADATA = 2,
    SARATOGA__DATA = 3,
    SARATOGA__STATUS = 4
};

/* Checksum types on the wire. */
#define SARATOGA__WIRE_SHA256 15
/* One word: the type of the checksum that later METADATA will carry. */
#define SARATOGA__WIRE_FOLLOWS 14

static inline bool saratoga__sum_follows(uint32_t type, size_t len) {
    return type == SARATOGA__WIRE_FOLLOWS && len == 4;
}

typedef struct saratoga__head {
    uint32_t word;
    uint32_t type;
    uint32_t id; /* not in BEACON */
} saratoga__head;

/* Parses version, type and, if present, Id. False: not version 1, or too
 * short. */
bool saratoga__head_parse(const void *dgram, size_t len, saratoga__head *h);

typedef struct saratoga__beacon {
    uint32_t abilities;
    uint32_t descriptor;
    uint32_t free_width; /* descriptor of the free space; narrowest that fits
                            when written with SARATOGA_DESCRIPTOR_FIT */
    uint64_t free_kib;   /* UINT64_MAX: more than fits */
    const uint8_t *eid;
    size_t eid_len;
} saratoga__beacon;

bool saratoga__beacon_parse(const void *dgram, size_t len, saratoga__beacon *b);
void saratoga__beacon_write(cmn__writer *w, const saratoga__beacon *b);

typedef struct saratoga__request {
    uint32_t abilities; /* without SARATOGA_FREE_SPACE; 0: not stated */
    uint32_t descriptor;
    uint32_t type;
    uint32_t id;
    const char *path; /* zero-terminated */
    size_t path_len;
    const uint8_t *auth;
    size_t auth_len;
} saratoga__request;

bool saratoga__request_parse(const void *dgram, size_t len,
                             saratoga__request *q);
void saratoga__request_write(cmn__writer *w, const saratoga__request *q);

typedef struct saratoga__metadata {
    uint32_t descriptor;
    uint32_t kind;
    bool ended;
    bool lite;
    uint32_t id;
    uint32_t sum_type; /* on the wire, 0 to 15 */
    size_t sum_len;    /* octets, 0 to 60, a multiple of 4 */
    const uint8_t *sum;
    saratoga_entry entry;
} saratoga__metadata;

bool saratoga__metadata_parse(const void *dgram, size_t len,
                              saratoga__metadata *m);
void saratoga__metadata_write(cmn__writer *w, const saratoga__metadata *m);

typedef struct saratoga__data {
    uint32_t descriptor;
    uint32_t kind;
    bool asks;
    bool eod;
    uint32_t id;
    const uint8_t *timestamp; /* NULL: none */
    saratoga__wide offset;
    const uint8_t *bytes;
    size_t len;
} saratoga__data;

bool saratoga__data_parse(const void *dgram, size_t len, saratoga__data *d);
/* Everything except the payload. */
void saratoga__data_write_head(cmn__writer *w, const saratoga__data *d);

typedef struct saratoga__status_pkt {
    uint32_t descriptor;
    bool no_metadata;
    bool incomplete;
    bool voluntary;
    bool bare; /* parsed: too short for Progress and In-Response-To */
    uint32_t code;
    uint32_t denial; /* saratoga_denial, if the code is that; 0: none */
    uint32_t id;
    const uint8_t *timestamp; /* NULL: none */
    saratoga__wide progress;
    saratoga__wide irt;
    const uint8_t *holes;
    size_t hole_count;
    const uint8_t *head; /* parsed: everything before the holes */
    size_t head_len;
    bool is_signed; /* an authentication field takes the place of the holes */
} saratoga__status_pkt;

bool saratoga__status_parse(const void *dgram, size_t len,
                            saratoga__status_pkt *s);
/* Everything except the holes. */
void saratoga__status_write_head(cmn__writer *w, const saratoga__status_pkt *s);
/* Start and end of hole i, as on the wire. */
void saratoga__status_hole(const saratoga__status_pkt *s, size_t i,
                           saratoga__wide *start, saratoga__wide *end);

/* A directory entry at the reader, padding not included. */
bool saratoga__entry_get(cmn__reader *r, saratoga_entry *e);
void saratoga__entry_put(cmn__writer *w, const saratoga_entry *e);

#endif /* LIBSARATOGA_PACKET_H */

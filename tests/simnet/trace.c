/* SPDX-License-Identifier: MPL-2.0 */
/* With SIMNET_TRACE in the environment, a seed or nothing for all worlds: every
 * datagram in a line, to see what led to a fault.  With SIMNET_CORPUS, a
 * folder: every kind of packet as a file there, for a fuzzer to start from. */
#include <inttypes.h>
#include <stdlib.h>

#include "libtltcp/engine/chunk.h"
#include "libtltcp/engine/conn.h"
#include "tests/simnet/world.h"

static void print_ack(const tltcp__chunk *c) {
    tltcp__ack a;
    uint32_t pn;
    if (!tltcp__ack_parse(c, &a)) {
        return;
    }
    (void)printf(" ACK[%u-%u", a.largest - a.first, a.largest);
    pn = a.largest - a.first;
    while (cmn__reader_left(&a.ranges) > 0) {
        uint32_t hi = pn - cmn__get32(&a.ranges) - 2;
        pn = hi - cmn__get32(&a.ranges);
        (void)printf(" %u-%u", pn, hi);
    }
    (void)printf("] cum %u win %u,%u", a.cumulative, a.window.seq,
                 a.window.section);
}

static void print_chunk(const tltcp__chunk *c) {
    static const char *const names[] = {
        "PADDING", "DATA",   "UPDATE",    "SKIP",     "ACK",
        "WINDOW",  "PING",   "CHALLENGE", "RESPONSE", "FIN",
        "CLOSE",   "REPORT", "RTT",       "REPAIR",   "REBUILT",
    };
    tltcp__data d;
    tltcp__skip s;
    tltcp__position p;
    if (c->type == TLTCP__ACK) {
        print_ack(c);
    } else if (c->type == TLTCP__DATA && tltcp__data_parse(c, &d)) {
        (void)printf(" DATA %u+%zu s%u f%u", d.seq, d.len, d.section, c->flags);
    } else if (c->type == TLTCP__SKIP && tltcp__skip_parse(c, &s)) {
        (void)printf(" SKIP %u-%u s%u", s.start, s.end, s.section);
    } else if (c->len == 8 && tltcp__position_parse(c, &p)) {
        (void)printf(" %s %u,%u", c->type < 15 ? names[c->type] : "?", p.seq,
                     p.section);
    } else {
        (void)printf(" %s+%zu", c->type < 15 ? names[c->type] : "?", c->len);
    }
}

/* One file for each list of chunks. */
static void keep_as_seed(const char *folder, const uint8_t *dgram, size_t len) {
    char name[4096];
    uint32_t kind = 0;
    sec__packet p;
    tltcp__chunk c;
    cmn__reader r;
    FILE *f;
    if (!sec__packet_parse(dgram, len, &p)) {
        return;
    }
    r = cmn__reader_of(p.body, p.body_len);
    while (p.type != SEC__VERSIONS && tltcp__chunk_next(&r, &c)) {
        kind = kind * 31 + c.type * 8u + (c.flags & 7u);
    }
    (void)snprintf(name, sizeof(name), "%s/packet-%02x-%08x", folder, p.type,
                   kind);
    f = fopen(name, "wbx"); /* only the first of its kind */
    if (f != NULL) {
        (void)fwrite(dgram, 1, len, f);
        (void)fclose(f);
    }
}

static bool wanted(const struct world *w) {
    const char *seed = getenv("SIMNET_TRACE");
    return seed != NULL &&
           (*seed == '\0' || strtoull(seed, NULL, 10) == w->plan.seed);
}

void trace_note(struct world *w, const char *what) {
    if (wanted(w)) {
        (void)printf("%.6f %s\n", (double)world_now(w) * 1e-9, what);
    }
}

void trace_datagram(struct end *e, const char *what, const void *dgram,
                    size_t len) {
    tltcp_stats st = end_stats(e);
    sec__packet p;
    tltcp__chunk c;
    cmn__reader r;
    if (getenv("SIMNET_CORPUS") != NULL) {
        keep_as_seed(getenv("SIMNET_CORPUS"), dgram, len);
    }
    if (!wanted(e->world)) {
        return;
    }
    (void)printf("%.6f %d %s %zu ", (double)world_now(e->world) * 1e-9,
                 (int)(e - e->world->end), what, len);
    if (!sec__packet_parse(dgram, len, &p)) {
        (void)printf(world_is_sealed(e->world) ? "sealed\n" : "damaged\n");
        return;
    }
    (void)printf("type %x pn %u flight %" PRIu64 " cwnd %" PRIu64 ":", p.type,
                 p.pn, st.bytes_in_flight, st.cwnd_bytes);
    r = cmn__reader_of(p.body, p.body_len);
    while (p.type != SEC__VERSIONS && tltcp__chunk_next(&r, &c)) {
        print_chunk(&c);
    }
    (void)printf("\n");
}

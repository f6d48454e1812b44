/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_COUNTERS_H
#define LIBTLTCP_COUNTERS_H

#include <tltcp/stats.h>

/* Counters of a connection: the fields of tltcp_stats that are not computed on
 * request. */
#define TLTCP__COUNTERS(X)    \
    X(sections_offered)       \
    X(sections_delivered)     \
    X(sections_partial)       \
    X(sections_expired)       \
    X(bytes_offered)          \
    X(bytes_delivered)        \
    X(bytes_expired)          \
    X(bytes_sent)             \
    X(bytes_retransmitted)    \
    X(packets_sent)           \
    X(packets_received)       \
    X(packets_lost)           \
    X(packets_lost_obsolete)  \
    X(packets_spurious)       \
    X(packets_dropped)        \
    X(wire_bytes_sent)        \
    X(wire_bytes_received)    \
    X(pseudo_retransmissions) \
    X(seq_updates_sent)       \
    X(probes_sent)            \
    X(rto_count)              \
    X(ecn_ce)                 \
    X(congestion_events)      \
    X(bytes_received)         \
    X(bytes_read)             \
    X(gaps)                   \
    X(gap_bytes)              \
    X(sections_complete)      \
    X(sections_cut)           \
    X(packets_forged)         \
    X(sections_dependent)     \
    X(sections_yielded)       \
    X(repair_bytes_sent)      \
    X(bytes_rebuilt)

#define TLTCP__COUNTER(name) uint64_t name;
typedef struct tltcp__counters {
    TLTCP__COUNTERS(TLTCP__COUNTER)
} tltcp__counters;
#undef TLTCP__COUNTER

/* Copies the counters and leaves the rest of st unchanged. */
static inline void tltcp__counters_get(const tltcp__counters *c,
                                       tltcp_stats *st) {
#define TLTCP__COPY(name) st->name = c->name;
    TLTCP__COUNTERS(TLTCP__COPY)
#undef TLTCP__COPY
}

#endif /* LIBTLTCP_COUNTERS_H */

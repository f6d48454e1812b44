/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/socket/stats.h"

#include <string.h>

#define AT(field) offsetof(tltcp_stats, field)

static const size_t counters[] = {
    AT(sections_offered),
    AT(sections_delivered),
    AT(sections_partial),
    AT(sections_expired),
    AT(bytes_offered),
    AT(bytes_delivered),
    AT(bytes_expired),
    AT(bytes_sent),
    AT(bytes_retransmitted),
    AT(packets_sent),
    AT(packets_received),
    AT(packets_lost),
    AT(packets_lost_obsolete),
    AT(packets_spurious),
    AT(packets_dropped),
    AT(wire_bytes_sent),
    AT(wire_bytes_received),
    AT(pseudo_retransmissions),
    AT(seq_updates_sent),
    AT(probes_sent),
    AT(rto_count),
    AT(ecn_ce),
    AT(congestion_events),
    AT(bytes_received),
    AT(bytes_read),
    AT(gaps),
    AT(gap_bytes),
    AT(sections_complete),
    AT(sections_cut),
    AT(packets_forged),
};

void tltcp__stats_add(tltcp_stats *sum, const tltcp_stats *one) {
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        uint64_t a;
        uint64_t b;

        memcpy(&a, (const char *)sum + counters[i], sizeof(a));
        memcpy(&b, (const char *)one + counters[i], sizeof(b));
        a += b;
        memcpy((char *)sum + counters[i], &a, sizeof(a));
    }
}

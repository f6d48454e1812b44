/* SPDX-License-Identifier: MPL-2.0 */
/* tltcp_get_stats(). */
#include "libtltcp/socket/stats.h"

#include <string.h>

#include "internal/common/sized.h"

#define AT(field) offsetof(tltcp_stats, field)

static const size_t stats_counters[] = {
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
    AT(sections_dependent),
    AT(sections_yielded),
    AT(repair_bytes_sent),
    AT(bytes_rebuilt),
};

void tltcp__stats_add(tltcp_stats *sum, const tltcp_stats *one) {
    for (size_t i = 0; i < sizeof(stats_counters) / sizeof(stats_counters[0]);
         i++) {
        uint64_t a;
        uint64_t b;

        memcpy(&a, (const char *)sum + stats_counters[i], sizeof(a));
        memcpy(&b, (const char *)one + stats_counters[i], sizeof(b));
        a += b;
        memcpy((char *)sum + stats_counters[i], &a, sizeof(a));
    }
}

/* Adds the counters of a port. The caller holds the mutex of its thread. */
static void stats_add_port(struct tltcp__port *port, tltcp_stats *sum) {
    const struct tltcp__listening *g = port->listening;
    tltcp_stats one;

    tltcp__stats_add(sum, &g->past);
    (void)tltcp_endpoint_get_stats(g->endpoint, sum);
    for (tltcp_socket *s = port->all; s != NULL; s = s->next) {
        tltcp_stats_init(&one);
        if (tltcp_conn_get_stats(tltcp__engine(s), &one, tltcp_now()) == 0) {
            tltcp__stats_add(sum, &one);
            sum->bytes_queued += one.bytes_queued;
            sum->bytes_unread += one.bytes_unread;
            sum->bytes_in_flight += one.bytes_in_flight;
        }
    }
}

/* Sums up all ports. The endpoints share their counters of callers; those that
 * yielded before they called are of TCP, which only the first port has. */
static void stats_sum(const struct tltcp__listener *l, tltcp_stats *sum) {
    uint64_t yielded = 0;

    for (unsigned i = 0; i < l->count; i++) {
        struct tltcp__port *port = l->ports[i];

        uv_mutex_lock(&port->io->mx);
        stats_add_port(port, sum);
        yielded += port->listening->past.callers_turned_away;
        uv_mutex_unlock(&port->io->mx);
    }
    sum->callers_turned_away += yielded;
    sum->now = tltcp_now();
    if (sum->packets_sent > 0) {
        sum->loss_rate = (double)sum->packets_lost / (double)sum->packets_sent;
    }
}

static int stats_of_listener(const tltcp_socket *s, tltcp_stats *st) {
    tltcp_stats sum;

    if (!cmn__sized_is_set(st)) {
        return TLTCP_ERR_INVAL;
    }
    tltcp_stats_init(&sum);
    stats_sum(s->port->listening->listener, &sum);
    cmn__sized_give(st, &sum, sizeof(sum));
    return 0;
}

int tltcp_get_stats(const tltcp_socket *s, tltcp_stats *st) {
    tltcp_socket *own = (tltcp_socket *)s;
    int rv;

    if (s == NULL || st == NULL) {
        return TLTCP_ERR_INVAL;
    }
    if (s->listener) {
        return stats_of_listener(s, st);
    }
    uv_mutex_lock(tltcp__mutex(s));
    rv = tltcp_conn_get_stats(tltcp__engine(own), st, tltcp_now());
    uv_mutex_unlock(tltcp__mutex(s));
    return rv;
}

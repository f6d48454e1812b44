/* SPDX-License-Identifier: MPL-2.0 */
#include "media/linkstate.h"

#include "media/plan.h"

/* Headers of packets and chunks: the estimate counts sections only, the window
 * counts all. */
#define PAYLOAD_PERCENT 96

/* How long the estimate takes to settle. */
#define SETTLE_NS (2 * TLTCP_S)

static uint64_t rate_by_window(const tltcp_stats *st) {
    if (!st->srtt_ns || !st->cwnd_bytes || st->cwnd_bytes > UINT32_MAX) {
        return 0;
    }
    uint64_t us = st->srtt_ns / 1000;
    return us ? st->cwnd_bytes * 8 * 10000 * PAYLOAD_PERCENT / us : 0;
}

/* How long the queue of the path is now: what is in flight beyond the path's
 * own content; the RTT tells it late. */
static int64_t queue_delay(const tltcp_stats *st, uint64_t rate_bps) {
    int64_t rtt = (int64_t)st->min_rtt_ns;
    int64_t full = 0;
    if (rate_bps) {
        full = media__leave_time((size_t)st->bytes_in_flight, rate_bps);
    }
    return rtt > 0 && full > rtt ? full - rtt : 0;
}

/* In slow start the window says what was tried, not what is possible; and the
 * estimate takes its time to settle, unless the path has shown its limit. */
static bool is_growing(const tltcp_stats *st) {
    bool slow_start =
        st->cwnd_bytes != UINT64_MAX && st->cwnd_bytes < st->ssthresh_bytes;
    bool young = st->now - st->since < SETTLE_NS && !st->congestion_events;
    return slow_start || young;
}

media_link media__link_state(const tltcp_stats *st) {
    media_link link = {.rate_bps = st->estimated_bps};

    if (st->bytes_queued > st->bytes_in_flight) {
        link.unsent = (size_t)(st->bytes_queued - st->bytes_in_flight);
    }
    if (!link.rate_bps) {
        link.rate_bps = rate_by_window(st);
    }
    link.growing = is_growing(st);
    link.delay = queue_delay(st, link.rate_bps);
    return link;
}

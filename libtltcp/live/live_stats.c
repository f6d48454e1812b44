/* SPDX-License-Identifier: MPL-2.0 */
/* Statistics of live connections, as structs and JSON. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal/common/sized.h"
#include "libtltcp/live/live_impl.h"

static tltcp_socket *live_socket_at(tltcp_live *l, size_t index) {
    if (l->direction == TLTCP_LIVE_RECEIVE) {
        return index == 0 ? l->in.socket : NULL;
    }
    return index < l->out.senders
               ? tltcp_live_sender_socket(l->out.sender[index])
               : NULL;
}

int tltcp_live_get_connection_stats(tltcp_live *l, size_t index,
                                    tltcp_stats *s) {
    tltcp_socket *socket;
    int rc;
    (void)pthread_mutex_lock(&l->lock);
    socket = live_socket_at(l, index);
    rc = socket ? tltcp_get_stats(socket, s) : TLTCP_ERR_INVAL;
    if (!socket && index == 0 && l->has_last && cmn__sized_is_set(s)) {
        cmn__sized_give(s, &l->last, sizeof(l->last));
        rc = 0;
    }
    (void)pthread_mutex_unlock(&l->lock);
    return rc;
}

/* Requires the lock. */
static tltcp_live_stats live_sum(const tltcp_live *l) {
    tltcp_live_stats sum = l->departed;
    sum.connections = l->connections;
    sum.connected = l->direction == TLTCP_LIVE_RECEIVE
                        ? l->in.socket && !l->in.over
                        : l->out.senders;
    for (size_t i = 0; i < l->out.senders; i++) {
        tltcp_live_sender_add_stats(l->out.sender[i], &sum);
    }
    if (l->in.receiver) {
        tltcp_live_receiver_add_stats(l->in.receiver, &sum);
    }
    return sum;
}

int tltcp_live_get_stats(tltcp_live *l, tltcp_live_stats *s) {
    tltcp_live_stats sum;
    if (!cmn__sized_is_set(s)) {
        return TLTCP_ERR_INVAL;
    }
    (void)pthread_mutex_lock(&l->lock);
    sum = live_sum(l);
    (void)pthread_mutex_unlock(&l->lock);
    cmn__sized_give(s, &sum, sizeof(sum));
    return 0;
}

/* ---- JSON ---- */

/* Text that may be longer than its buffer. */
struct live_text {
    char *buf;
    size_t cap;
    size_t len;
};

static void live_print(struct live_text *t, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static void live_print(struct live_text *t, const char *format, ...) {
    size_t left = t->len < t->cap ? t->cap - t->len : 0;
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(left ? t->buf + t->len : NULL, left, format, args);
    va_end(args);
    t->len += n > 0 ? (size_t)n : 0;
}

static void live_print_count(struct live_text *t, const char *name,
                             const tltcp_live_count *c, const char *comma) {
    live_print(t,
               "\"%s\":{\"offered\":%" PRIu64 ",\"delivered\":%" PRIu64
               ",\"partial\":%" PRIu64 ",\"expired\":%" PRIu64
               ",\"dropped\":%" PRIu64 ",\"abandoned\":%" PRIu64 "}%s",
               name, c->offered, c->delivered, c->partial, c->expired,
               c->dropped, c->abandoned, comma);
}

static void live_print_sent(struct live_text *t, const tltcp_live_stats *s) {
    live_print_count(t, "sections", &s->sections, ",\"frames\":{");
    for (unsigned i = 0; i < TLTCP_LIVE_KIND_COUNT; i++) {
        live_print_count(t, tltcp_live_kind_name(i), &s->kinds[i],
                         i + 1 < TLTCP_LIVE_KIND_COUNT ? "," : "},");
    }
    live_print(t, "\"dropped\":{");
    for (unsigned i = 1; i < TLTCP_LIVE_CAUSE_COUNT; i++) {
        live_print(t, "%s\"%s\":%" PRIu64, i > 1 ? "," : "",
                   tltcp_live_cause_name(i), s->dropped[i]);
    }
    live_print(t,
               "},\"bytes_offered\":%" PRIu64 ",\"bytes_dropped\":%" PRIu64
               ",\"keys_wanted\":%" PRIu64 ",\"queued_sections\":%" PRIu64
               ",\"queued_bytes\":%" PRIu64,
               s->bytes_offered, s->bytes_dropped, s->keys_wanted,
               s->queued_sections, s->queued_bytes);
}

static void live_print_received(struct live_text *t,
                                const tltcp_live_stats *s) {
    live_print(t,
               "\"sections_complete\":%" PRIu64 ",\"sections_cut\":%" PRIu64
               ",\"bytes_received\":%" PRIu64 ",\"gaps\":%" PRIu64
               ",\"gap_bytes\":%" PRIu64,
               s->sections_complete, s->sections_cut, s->bytes_received,
               s->gaps, s->gap_bytes);
}

static void live_print_peer(struct live_text *t, const tltcp_stats *s) {
    live_print(t,
               "{\"rtt_ms\":%.3f,\"min_rtt_ms\":%.3f,\"loss_rate\":%.6f,"
               "\"cwnd_bytes\":%" PRIu64 ",\"estimated_bps\":%" PRIu64
               ",\"target_bps\":%" PRIu64 ",\"bytes_sent\":%" PRIu64
               ",\"bytes_retransmitted\":%" PRIu64
               ",\"bytes_delivered\":%" PRIu64 ",\"bytes_received\":%" PRIu64
               ",\"repair_bytes_sent\":%" PRIu64 ",\"bytes_rebuilt\":%" PRIu64
               ",\"congestion\":\"%s\",\"transport\":\"%s\"}",
               (double)s->srtt_ns / 1e6, (double)s->min_rtt_ns / 1e6,
               s->loss_rate, s->cwnd_bytes == UINT64_MAX ? 0 : s->cwnd_bytes,
               s->estimated_bps, s->target_bps, s->bytes_sent,
               s->bytes_retransmitted, s->bytes_delivered, s->bytes_received,
               s->repair_bytes_sent, s->bytes_rebuilt, s->congestion,
               s->transport);
}

size_t tltcp_live_stats_json(tltcp_live *l, char *buf, size_t cap) {
    struct live_text t = {.cap = cap};
    tltcp_live_stats s;
    tltcp_stats peer;
    tltcp_live_stats_init(&s);
    t.buf = buf;
    (void)tltcp_live_get_stats(l, &s);
    live_print(&t, "{\"connections\":%" PRIu64 ",\"connected\":%" PRIu64 ",",
               s.connections, s.connected);
    if (l->direction == TLTCP_LIVE_SEND) {
        live_print_sent(&t, &s);
    } else {
        live_print_received(&t, &s);
    }
    live_print(&t, ",\"peers\":[");
    for (size_t i = 0;; i++) {
        tltcp_stats_init(&peer);
        if (tltcp_live_get_connection_stats(l, i, &peer) < 0) {
            break;
        }
        live_print(&t, "%s", i ? "," : "");
        live_print_peer(&t, &peer);
    }
    live_print(&t, "]}");
    return t.len;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Path MTU discovery (RFC 8899). */
#include "libtltcp/engine/mtu.h"

#define TRIES 3u      /* MAX_PROBES, RFC 8899, 5.1.2 */
#define FINE 16u      /* bytes: smaller steps are not worth a probe */
#define BLACK_HOLE 6u /* big packets lost in a row */
#define SILENCE 3u    /* probe timeouts in a row */
#define RAISE_AFTER (600 * TLTCP_S) /* PMTU_RAISE_TIMER */
#define RETRY_AFTER_HOLE (60 * TLTCP_S)

void tltcp__mtu_init(tltcp__mtu *m, uint32_t base, uint32_t limit,
                     bool enabled) {
    *m = (tltcp__mtu){.current = base,
                      .base = base,
                      .limit = limit,
                      .high = limit,
                      .enabled = enabled};
}

void tltcp__mtu_cap(tltcp__mtu *m, uint32_t limit) {
    if (limit < m->limit) {
        tltcp__mtu_init(m, m->base < limit ? m->base : limit, limit,
                        m->enabled);
    }
}

void tltcp__mtu_restart(tltcp__mtu *m, tltcp_time now) {
    tltcp__mtu_init(m, m->base, m->limit, m->enabled);
    m->next = now;
}

void tltcp__mtu_fix(tltcp__mtu *m) {
    tltcp__mtu_init(m, m->limit, m->limit, false);
}

tltcp_time tltcp__mtu_due(const tltcp__mtu *m) {
    if (!m->enabled || m->probe != 0 || m->current >= m->limit) {
        return TLTCP_TIME_NEVER;
    }
    return m->next;
}

uint32_t tltcp__mtu_start(tltcp__mtu *m) {
    if (m->high <= m->current) { /* the raise timer fired */
        m->high = m->limit;
    }
    m->probe = m->high == m->limit
                   ? m->limit
                   : m->current + (m->high - m->current + 1) / 2;
    return m->probe;
}

static void search_on(tltcp__mtu *m, tltcp_time now) {
    m->probe = 0;
    m->tries = 0;
    m->next = now;
    if (m->high < m->current + FINE) {
        m->high = m->current;
        m->next = now + RAISE_AFTER;
    }
}

void tltcp__mtu_on_probe_acked(tltcp__mtu *m, uint32_t size, tltcp_time now) {
    if (size != m->probe || size <= m->current) {
        return;
    }
    m->current = size;
    m->big_lost = 0;
    search_on(m, now);
}

void tltcp__mtu_on_probe_lost(tltcp__mtu *m, uint32_t size, tltcp_time now) {
    if (size != m->probe) {
        return;
    }
    m->probe = 0;
    m->next = now;
    if (++m->tries >= TRIES) {
        m->high = size - 1;
        search_on(m, now);
    }
}

void tltcp__mtu_on_acked(tltcp__mtu *m, uint32_t size) {
    if (size > m->base) {
        m->big_lost = 0;
    }
}

bool tltcp__mtu_on_lost(tltcp__mtu *m, uint32_t size, tltcp_time now) {
    if (size <= m->base || m->current <= m->base ||
        ++m->big_lost < BLACK_HOLE) {
        return false;
    }
    m->high = m->current - 1;
    m->current = m->base;
    m->probe = 0;
    m->big_lost = 0;
    m->tries = 0;
    m->next = now + RETRY_AFTER_HOLE;
    return true;
}

bool tltcp__mtu_on_silence(tltcp__mtu *m, unsigned timeouts, tltcp_time now) {
    bool falls = timeouts >= SILENCE && m->current > m->base;
    if (falls) {
        tltcp__mtu_restart(m, now);
    }
    return falls;
}

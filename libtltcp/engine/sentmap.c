/* SPDX-License-Identifier: MPL-2.0 */
/* The record of sent packets until they are acknowledged or lost. */
#include "libtltcp/engine/sentmap.h"

#include <assert.h>

#define RECORDS_MIN 65536u

/* Packets that tltcp__sentmap_first_in_flight() skips at most. */
#define LOOK_AT 16u

void tltcp__sentmap_init(tltcp__sentmap *m, const cmn__mem *mem,
                         uint64_t first) {
    *m = (tltcp__sentmap){.oldest = first, .max = RECORDS_MIN};
    cmn__ring_init(&m->packets, mem, sizeof(tltcp__sent), first);
    cmn__ring_init(&m->chunks, mem, sizeof(tltcp__sent_chunk), 0);
    cmn__ranges_init(&m->acked, mem, UINT32_MAX);
}

void tltcp__sentmap_free(tltcp__sentmap *m) {
    cmn__ring_free(&m->packets);
    cmn__ring_free(&m->chunks);
    cmn__ranges_free(&m->acked);
}

tltcp__sent *tltcp__sentmap_get(const tltcp__sentmap *m, uint64_t pn) {
    if (pn < m->packets.head || pn >= m->packets.tail) {
        return NULL;
    }
    return cmn__ring_at(&m->packets, pn);
}

tltcp__sent_chunk *tltcp__sentmap_chunk(const tltcp__sentmap *m,
                                        const tltcp__sent *s, unsigned i) {
    return cmn__ring_at(&m->chunks, s->chunk + i);
}

tltcp__sent *tltcp__sentmap_open(tltcp__sentmap *m) {
    tltcp__sent *s = cmn__ring_push_raw(&m->packets);
    if (s != NULL) {
        *s = (tltcp__sent){.chunk = m->chunks.tail};
        m->silent++;
    }
    return s;
}

tltcp__sent_chunk *tltcp__sentmap_add(tltcp__sentmap *m, tltcp__sent *s) {
    tltcp__sent_chunk *chunk = cmn__ring_push_raw(&m->chunks);
    if (chunk != NULL) {
        s->chunks++;
    }
    return chunk;
}

void tltcp__sentmap_commit(tltcp__sentmap *m, tltcp__sent *s, bool eliciting) {
    assert(s == cmn__ring_at(&m->packets, m->packets.tail - 1));
    if (eliciting) {
        s->state = TLTCP__PACKET_FLYING;
        m->silent--;
        m->bytes += s->size;
        m->flying++;
    } else if (cmn__ring_len(&m->packets) == 1) { /* nothing to remember */
        cmn__ring_pop(&m->packets);
        m->silent--;
        m->oldest = m->packets.head;
    }
}

static void sentmap_land(tltcp__sentmap *m, tltcp__sent *s, uint8_t state) {
    if (s->state == TLTCP__PACKET_FLYING) {
        assert(m->flying > 0 && m->bytes >= s->size);
        m->bytes -= s->size;
        m->flying--;
    } else if (s->state == TLTCP__PACKET_SILENT) {
        m->silent--;
    }
    s->state = state;
}

void tltcp__sentmap_on_acked(tltcp__sentmap *m, tltcp__sent *s) {
    sentmap_land(m, s, TLTCP__PACKET_ACKED);
}

void tltcp__sentmap_on_lost(tltcp__sentmap *m, tltcp__sent *s) {
    sentmap_land(m, s, TLTCP__PACKET_LOST);
}

tltcp__sent *tltcp__sentmap_oldest(tltcp__sentmap *m, uint64_t *pn) {
    for (; m->oldest < m->packets.tail; m->oldest++) {
        tltcp__sent *s = cmn__ring_at(&m->packets, m->oldest);
        if (s->state == TLTCP__PACKET_FLYING) {
            *pn = m->oldest;
            return s;
        }
    }
    return NULL;
}

const tltcp__sent *tltcp__sentmap_first_in_flight(const tltcp__sentmap *m) {
    for (uint64_t pn = m->oldest; pn < m->packets.tail; pn++) {
        const tltcp__sent *s = cmn__ring_at(&m->packets, pn);
        if (s->state == TLTCP__PACKET_FLYING) {
            return s;
        }
        if (pn - m->oldest >= LOOK_AT) {
            break;
        }
    }
    return NULL;
}

void tltcp__sentmap_trim(tltcp__sentmap *m, tltcp_time keep) {
    uint64_t before = m->packets.head;
    while (m->packets.head < m->packets.tail) {
        const tltcp__sent *s = cmn__ring_at(&m->packets, m->packets.head);
        if (s->state == TLTCP__PACKET_FLYING ||
            (s->state == TLTCP__PACKET_LOST && s->at >= keep &&
             cmn__ring_len(&m->packets) <= m->max / 2)) {
            break;
        }
        m->chunks.head = s->chunk + s->chunks;
        m->silent -= s->state == TLTCP__PACKET_SILENT ? 1 : 0;
        cmn__ring_pop(&m->packets);
    }
    if (m->packets.head != before) {
        (void)cmn__ranges_sub(&m->acked, 0, m->packets.head, NULL);
    }
    if (m->oldest < m->packets.head) {
        m->oldest = m->packets.head;
    }
}

size_t tltcp__sentmap_silent_bytes(const tltcp__sentmap *m) {
    /* up to half of the ring is empty */
    size_t held = 2 * (size_t)m->silent * sizeof(tltcp__sent);
    return held - held % TLTCP__SENTMAP_SILENT_LOT;
}

void tltcp__sentmap_give_back(tltcp__sentmap *m) {
    cmn__ring_trim(&m->packets);
    cmn__ring_trim(&m->chunks);
    cmn__ranges_trim(&m->acked);
}

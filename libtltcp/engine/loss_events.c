/* SPDX-License-Identifier: MPL-2.0 */
/* Loss events measured by the sender, for sender-based TFRC. */
#include "libtltcp/engine/loss_events.h"

#include <string.h>

/* Forward delay over RTT: TLTCP has no clock of the peer to estimate it, and a
 * constant ratio changes nothing but the first moments of a new RTT. */
#define SYMMETRY 0.5

bool tltcp__loss_events_needed(const tltcp__cc *cc) {
    return strcmp(cc->cong->ops->name, "stfrc") == 0;
}

tltcp__loss_events *tltcp__loss_events_new(const cmn__mem *mem, double mss) {
    tltcp__loss_events *e = cmn__alloc(mem, sizeof(*e));
    if (e != NULL) {
        *e = (tltcp__loss_events){.stfrc = {.s = mss}};
        tltcp__loss_events_restart(e, 0);
    }
    return e;
}

void tltcp__loss_events_restart(tltcp__loss_events *e, uint64_t pn) {
    double mss = e->stfrc.s;
    *e = (tltcp__loss_events){.next = pn, .cycle = pn};
    cong_stfrc_init(&e->stfrc, mss, SYMMETRY);
}

static void loss_events_report(tltcp__loss_events *e, const tltcp__sent *rec) {
    if (rec->state == TLTCP__PACKET_ACKED) {
        cong_stfrc_received(&e->stfrc, (cong_time)rec->at, rec->size);
    } else if (rec->state == TLTCP__PACKET_LOST &&
               (rec->flags & TLTCP__SENT_MTU_PROBE) == 0) {
        cong_stfrc_lost(&e->stfrc, (cong_time)rec->at);
        e->is_lossy = true;
    } else {
        return;
    }
    e->sent = rec->at;
}

static bool loss_events_end(tltcp__loss_events *e, const tltcp__sentmap *map,
                            tltcp_time now, struct cong_stfrc_report *out) {
    tltcp_time since = e->ended_at > 0 ? now - e->ended_at : 0;
    if (e->stfrc.rtt <= 0 || (e->next <= e->cycle && !e->is_lossy)) {
        return false;
    }
    e->cycle = tltcp__sentmap_next(map);
    e->ended_at = now;
    e->is_lossy = false;
    cong_stfrc_end(&e->stfrc, (cong_time)e->sent, (cong_time)since, out);
    return true;
}

bool tltcp__loss_events_take(tltcp__loss_events *e, tltcp__sentmap *map,
                             cong_time srtt, tltcp_time now,
                             struct cong_stfrc_report *out) {
    uint64_t until = tltcp__sentmap_next(map);
    uint64_t from = e->next > map->packets.head ? e->next : map->packets.head;
    (void)tltcp__sentmap_oldest(map, &until);
    cong_stfrc_set_rtt(&e->stfrc, srtt);
    for (e->next = from; e->next < until; e->next++) {
        loss_events_report(e, tltcp__sentmap_get(map, e->next));
    }
    return loss_events_end(e, map, now, out);
}

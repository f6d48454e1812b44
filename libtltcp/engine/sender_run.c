/* SPDX-License-Identifier: MPL-2.0 */
/* Runs: full packets of one section that leave together. What tltcp__sender
 * decides for each packet holds for all of them, so it is decided once. */
#include "libtltcp/engine/sender.h"

/* Whether nothing but new data in turn is to be sent, and nothing else is
 * written into a packet or noted about it. */
static bool is_only_data(const tltcp__sender *s) {
    return !s->hold && s->dup == NULL && s->pto_count == 0 &&
           s->pto_probes == 0 && !s->cc.cong->repair_only &&
           !tltcp__cc_recovers(&s->cc) &&
           !tltcp__cc_has_feedback_timer(&s->cc) && !s->frequency.due;
}

unsigned tltcp__sender_run_begin(const tltcp__sender *s, size_t len,
                                 uint32_t size, tltcp_time now,
                                 tltcp__run *run) {
    size_t left = s->map.max - cmn__ring_len(&s->map.packets);
    uint64_t n = is_only_data(s) ? tltcp__sections_run(&s->sec, len) : 0;
    uint64_t burst = n > 0 ? tltcp__cc_burst(&s->cc, size, now) : 0;
    *run = (tltcp__run){.section = s->sec.nxt_section,
                        .next = s->sec.nxt,
                        .now = now,
                        .len = (uint32_t)len,
                        .size = size};
    n = n < left ? n : left;
    return (unsigned)(n < burst ? n : burst);
}

bool tltcp__sender_run_may_go_on(const tltcp__sender *s) {
    return tltcp__cc_window_open(&s->cc, (double)s->map.bytes);
}

tltcp__sent *tltcp__sender_run_open(tltcp__sender *s, const tltcp__run *run) {
    tltcp__sent *rec = tltcp__sentmap_open(&s->map);
    tltcp__sent_chunk *chunk =
        rec != NULL ? tltcp__sentmap_add(&s->map, rec) : NULL;
    if (chunk == NULL) {
        return NULL;
    }
    *chunk = (tltcp__sent_chunk){.start = run->next,
                                 .section = run->section,
                                 .len = run->len,
                                 .kind = TLTCP__SENT_CHUNK_DATA};
    rec->at = run->now;
    rec->size = run->size;
    rec->flags = TLTCP__SENT_UPDATE | TLTCP__SENT_DATA;
    return rec;
}

void tltcp__sender_run_sent(tltcp__sender *s, tltcp__run *run,
                            tltcp__sent *rec) {
    if (s->ecn.on) {
        rec->flags |= TLTCP__SENT_ECT;
        s->ecn.sent++;
    }
    cong_rate_on_sent(&s->cc.rate, &rec->snap, (double)s->map.bytes, rec->size,
                      (cong_time)run->now);
    tltcp__sentmap_commit(&s->map, rec, true);
    run->next += run->len;
    run->packets++;
}

void tltcp__sender_run_end(tltcp__sender *s, const tltcp__run *run) {
    if (run->packets > 0) {
        tltcp__sections_on_run_sent(&s->sec, run->packets, run->next);
        tltcp__cc_on_burst_sent(&s->cc, run->size, run->packets, run->now);
        s->update_pn = tltcp__sentmap_next(&s->map);
    }
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Output: runs of full packets of bulk data. */
#include "libtltcp/engine/conn_run.h"

/* The first bytes of a packet of a run: header, UPDATE, and DATA without the
 * data. */
#define HEAD_LEN (SEC__SHORT_LEN + TLTCP__UPDATE_LEN + TLTCP__DATA_LEN)
/* Of these, the bytes that are sealed with the data. */
#define TEXT_AT (HEAD_LEN - SEC__SHORT_LEN)
#define PN_AT (SEC__SHORT_LEN - 4u)
#define SEQ_AT (SEC__SHORT_LEN + TLTCP__UPDATE_LEN + TLTCP__CHUNK_LEN)

static void put_at(uint8_t *p, uint32_t v) {
    cmn__writer w = cmn__writer_of(p, sizeof(v));
    cmn__put32(&w, v);
}

/* Writes what all packets of the run begin with. */
static void put_head(const tltcp_conn *c, const tltcp__run *run,
                     uint8_t head[HEAD_LEN]) {
    const tltcp__sections *sec = &c->sender.sec;
    const sec__packet p = {.type = SEC__SHORT, .dcid = c->peer.id};
    const tltcp__position update = {(uint32_t)sec->update + c->sender.first_seq,
                                    (uint32_t)sec->update_section};
    cmn__writer w = cmn__writer_of(head, HEAD_LEN);
    sec__packet_put(&w, &p);
    tltcp__position_put(&w, TLTCP__UPDATE, update);
    tltcp__data_put(&w, 0, 0, (uint32_t)run->section, run->len);
}

/* Copies the data of the packet from the send queue. Seals the packet, or
 * appends its checksum. */
static bool run_copy(tltcp_conn *c, const tltcp__run *run, uint8_t *buf,
                     uint64_t pn) {
    size_t size = run->size;
    cmn__writer w = {.p = buf + size - SEC__CHECK_LEN, .end = buf + size};
    tltcp__sections_copy(&c->sender.sec, run->next, buf + HEAD_LEN, run->len);
    if (c->seal == NULL) {
        tltcp__conn_put_check(c, &w, buf);
        return true;
    }
    return sec__seal_put(c->seal, pn, buf,
                         size - SEC__SHORT_LEN - SEC__TAG_LEN);
}

/* Where the text of the packet would begin if it lay in the send queue; NULL:
 * its data must be copied. */
static uint8_t *run_text(const tltcp_conn *c, const tltcp__run *run) {
    bool may =
        c->seal != NULL && sec__seal_puts_from(c->seal) && run->next >= TEXT_AT;
    return may ? tltcp__sections_at(&c->sender.sec, run->next - TEXT_AT,
                                    TEXT_AT + run->len)
               : NULL;
}

/* Seals the packet out of the send queue, which saves a copy. The cipher takes
 * the text in one piece, so for that time the chunks' headers take the place of
 * what is queued before the data. */
static bool run_seal(tltcp_conn *c, const tltcp__run *run, uint8_t *text,
                     uint8_t *buf, uint64_t pn) {
    uint8_t before[TEXT_AT];
    bool ok;
    memcpy(before, text, TEXT_AT);
    memcpy(text, buf + SEC__SHORT_LEN, TEXT_AT);
    ok = sec__seal_put_from(c->seal, pn, buf, text, TEXT_AT + run->len);
    memcpy(text, before, TEXT_AT);
    return ok;
}

/* Writes the next packet. Otherwise the connection is over. */
static bool run_put(tltcp_conn *c, tltcp__run *run,
                    const uint8_t head[HEAD_LEN], uint8_t *buf) {
    uint64_t pn = tltcp__sentmap_next(&c->sender.map);
    tltcp__sent *rec = tltcp__sender_run_open(&c->sender, run);
    uint8_t *text = run_text(c, run);
    if (rec == NULL) {
        tltcp__conn_fail(c, TLTCP_ERR_NOMEM, tltcp_strerror(TLTCP_ERR_NOMEM));
        return false;
    }
    memcpy(buf, head, HEAD_LEN);
    if (c->seal != NULL) {
        buf[0] |= sec__seal_phase(c->seal);
    }
    put_at(buf + PN_AT, (uint32_t)pn + c->peer.offset);
    put_at(buf + SEQ_AT, (uint32_t)run->next + c->sender.first_seq);
    if (!(text != NULL ? run_seal(c, run, text, buf, pn)
                       : run_copy(c, run, buf, pn))) {
        tltcp__conn_terminate(c, TLTCP_ERR_LIMIT);
        return false;
    }
    tltcp__sender_run_sent(&c->sender, run, rec);
    tltcp__trace_packet(c, true, pn, run->size, run->now);
    return true;
}

/* Whether packets of the connection hold nothing but data now. */
static bool has_only_data(const tltcp_conn *c, tltcp_time now) {
    return c->state == TLTCP__CONN_OPEN && c->paths.proven &&
           c->sender.t_eliciting == now && c->unanswered != TLTCP_TIME_NEVER &&
           c->skip_number_in > 0 && c->acks.owed == 0 &&
           tltcp__conn_report_at(c) > now &&
           !tltcp__conn_wants(c, TLTCP__WANT_ACK | TLTCP__WANT_WINDOW |
                                     TLTCP__WANT_FIN | TLTCP__WANT_PING);
}

size_t tltcp__conn_send_run(tltcp_conn *c, uint8_t *buf, size_t cap,
                            size_t size, tltcp_time now) {
    size_t trailer = c->seal != NULL ? SEC__TAG_LEN : SEC__CHECK_LEN;
    size_t total = 0;
    uint8_t head[HEAD_LEN];
    tltcp__run run;
    unsigned n;
    if (!has_only_data(c, now)) {
        return 0;
    }
    n = tltcp__sender_run_begin(&c->sender, size - HEAD_LEN - trailer,
                                (uint32_t)size, now, &run);
    /* the packet before whose number one is skipped is none of them */
    n = n < c->skip_number_in ? n : c->skip_number_in - 1;
    put_head(c, &run, head);
    while (run.packets < n && cap - total >= size &&
           tltcp__sender_run_may_go_on(&c->sender) &&
           run_put(c, &run, head, buf + total)) {
        total += size;
    }
    tltcp__sender_run_end(&c->sender, &run);
    c->skip_number_in -= run.packets;
    c->stats.packets_sent += total / size;
    c->stats.wire_bytes_sent += total;
    return total;
}

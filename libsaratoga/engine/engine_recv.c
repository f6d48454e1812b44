/* SPDX-License-Identifier: MPL-2.0 */
/* Dispatches received packets by type. */
#include "libsaratoga/engine/engine_input.h"

static void engine_recv_on_beacon(saratoga_engine *e,
                                  const saratoga__input *in) {
    saratoga__beacon b;
    saratoga_event ev = {.type = SARATOGA_EVENT_BEACON, .from = *in->from};
    size_t len;
    if (!saratoga__beacon_parse(in->dgram, in->len, &b)) {
        saratoga__input_drop(e);
        return;
    }
    len = b.eid_len < SARATOGA_EID_MAX ? b.eid_len : SARATOGA_EID_MAX;
    memcpy(ev.eid, b.eid, len);
    ev.abilities = b.abilities;
    ev.descriptor = b.descriptor;
    ev.free_kib = b.free_kib;
    ev.path = "";
    e->ctx.stats.beacons_received++;
    (void)saratoga__context_event(&e->ctx, &ev);
}

void saratoga_engine_recv(saratoga_engine *engine, const saratoga_pktinfo *from,
                          const void *dgram, size_t len, saratoga_time now) {
    saratoga__head h;
    saratoga__input in = {.from = from, .dgram = dgram, .len = len, .now = now};
    engine->ctx.stats.packets_received++;
    engine->ctx.stats.bytes_received += len;
    if (!saratoga__head_parse(dgram, len, &h)) {
        saratoga__input_drop(engine);
        return;
    }
    in.id = h.id;
    if ((from->flags & SARATOGA_PKT_LITE) != 0 && h.type != SARATOGA__DATA) {
        saratoga__input_drop(engine); /* not protected well enough */
        return;
    }
    switch (h.type) {
    case SARATOGA__BEACON:
        engine_recv_on_beacon(engine, &in);
        break;
    case SARATOGA__REQUEST:
        saratoga__input_on_request(engine, &in);
        break;
    case SARATOGA__METADATA:
        saratoga__input_on_metadata(engine, &in);
        break;
    case SARATOGA__DATA:
        saratoga__input_on_data(engine, &in);
        break;
    case SARATOGA__STATUS:
        saratoga__input_on_status(engine, &in);
        break;
    default:
        saratoga__input_drop(engine);
        saratoga__stateless_refuse(engine, from, h.id, SARATOGA_BAD_PACKET,
                                   now);
        break;
    }
}

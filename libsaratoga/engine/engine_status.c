/* SPDX-License-Identifier: MPL-2.0 */
/* Processes STATUS packets: finds their session. */
#include "libsaratoga/engine/engine_input.h"

/* Group members report holes to the sender and to each other. */
static saratoga__session *find_in_group(const saratoga_engine *e,
                                        const saratoga__input *in) {
    saratoga__session *s = saratoga__input_session(e, e->group, in->id, true);
    return s != NULL ? s : saratoga__group_index_find(e, in->id);
}

/* Whether a STATUS echoes a timestamp that only its peer can have seen; records
 * such an address as proven. */
static void check_echo(saratoga_engine *e, saratoga__session *s,
                       const saratoga__status_pkt *p,
                       const saratoga__input *in) {
    saratoga__input_count(e, s, in);
    if (saratoga__proof_in_status(s, p)) {
        saratoga__admission_learn(&e->admission, in->from->path, in->now);
        saratoga__input_prove(e, s);
    }
}

/* The answer to a challenge, or to a session that was evicted. */
static bool is_stateless_answer(saratoga_engine *e, const saratoga__input *in,
                                const saratoga__status_pkt *p) {
    saratoga__challenge c = {.id = in->id};
    if (p->timestamp == NULL) {
        return false;
    }
    memcpy(c.timestamp, p->timestamp, sizeof(c.timestamp));
    if (!saratoga__stateless_is_answer(e, in->from->host, &c, in->now)) {
        return false;
    }
    saratoga__admission_learn(&e->admission, in->from->path, in->now);
    return true;
}

static saratoga__session *status_session(const saratoga_engine *e,
                                         const saratoga__input *in) {
    saratoga__session *s =
        saratoga__input_session(e, in->from->host, in->id, true);
    if (s == NULL || s->state >= SARATOGA__LINGER) {
        saratoga__session *other =
            saratoga__input_session(e, in->from->host, in->id, false);
        s = other != NULL ? other : s;
    }
    return s;
}

void saratoga__input_on_status(saratoga_engine *e, const saratoga__input *in) {
    saratoga__status_pkt p;
    saratoga__session *s = status_session(e, in);
    if (!saratoga__status_parse(in->dgram, in->len, &p)) {
        saratoga__input_drop(e);
        return;
    }
    if (s == NULL && is_stateless_answer(e, in, &p)) {
        return;
    }
    if (s != NULL) {
        check_echo(e, s, &p, in);
    } else {
        s = find_in_group(e, in);
    }
    if (s == NULL) {
        saratoga__input_drop(e); /* never answer a STATUS with a STATUS */
        return;
    }
    if (!s->opt.multicast) {
        saratoga__input_heard_from(s, in->from);
    }
    saratoga__session_on_status(s, &p, in->len, in->now);
    saratoga__engine_touch(e, s, in->now);
}

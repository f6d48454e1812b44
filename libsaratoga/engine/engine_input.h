/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_ENGINE_INPUT_H
#define LIBSARATOGA_ENGINE_INPUT_H

#include "libsaratoga/engine/engine_internal.h"

/* Shared by the files that process packets. */

typedef struct saratoga__input {
    const saratoga_pktinfo *from;
    const uint8_t *dgram;
    size_t len;
    uint32_t id;
    saratoga_time now;
} saratoga__input;

/* --- engine_input.c ------------------------------------------------------ */

saratoga__session *saratoga__input_session(const saratoga_engine *e,
                                           uint64_t host, uint32_t id,
                                           bool sends);
/* Sends answers to the source of the newest packet. */
void saratoga__input_heard_from(saratoga__session *s,
                                const saratoga_pktinfo *from);
void saratoga__input_drop(saratoga_engine *e);
/* No room for another session, or for another with that host. */
bool saratoga__input_is_full(saratoga_engine *e, uint64_t host);

/* --- engine_proof.c ------------------------------------------------------ */

/* Marks the peer of a session as proven. */
void saratoga__input_prove(saratoga_engine *e, saratoga__session *s);
/* Counts a packet of a session's peer, which may prove its address. */
void saratoga__input_count(saratoga_engine *e, saratoga__session *s,
                           const saratoga__input *in);
/* Whether a peer may begin a session. An unproven peer may if there are few;
 * otherwise it must echo a timestamp first, and no state is kept. */
bool saratoga__input_admit(saratoga_engine *e, const saratoga__input *in,
                           uint32_t type);
/* A peer has begun a session. */
void saratoga__input_enter(saratoga_engine *e, saratoga__session *s,
                           const saratoga__input *in);
/* Answers an address challenge. */
bool saratoga__input_answers_challenge(saratoga_engine *e,
                                       const saratoga__input *in,
                                       const saratoga__data *d);

/* --- engine_request.c, engine_data.c, engine_status.c -------------------- */

void saratoga__input_on_request(saratoga_engine *e, const saratoga__input *in);
void saratoga__input_on_metadata(saratoga_engine *e, const saratoga__input *in);
void saratoga__input_on_data(saratoga_engine *e, const saratoga__input *in);
void saratoga__input_on_status(saratoga_engine *e, const saratoga__input *in);

#endif /* LIBSARATOGA_ENGINE_INPUT_H */

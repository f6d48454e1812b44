/* SPDX-License-Identifier: MPL-2.0 */
/* Static keys of a listener, and of the callers that it accepts. */
#include "libtltcp/engine/endpoint.h"

#include "internal/secure/curve.h"

static size_t count_of(const uint8_t *const *key) {
    size_t n = 0;

    while (key[n] != NULL) {
        n++;
    }
    return n;
}

static int take_callers(tltcp_endpoint *ep, const uint8_t *const *key) {
    tltcp__identity *id = &ep->identity;

    if (key == NULL) {
        return 0;
    }
    id->listed = true;
    id->n = count_of(key);
    id->callers = cmn__alloc(&ep->mem, (id->n + 1) * sizeof(*id->callers));
    if (id->callers == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    for (size_t i = 0; i < id->n; i++) {
        memcpy(id->callers[i], key[i], sizeof(id->callers[i]));
    }
    return 0;
}

int tltcp__identity_take(tltcp_endpoint *ep) {
    const tltcp_identity_options *o = &ep->cfg.identity;
    tltcp__identity *id = &ep->identity;

    if (o->secret == NULL) {
        return 0;
    }
    id->on = true;
    memcpy(id->secret, o->secret, sizeof(id->secret));
    return sec__curve_public(id->secret, id->public_key)
               ? take_callers(ep, o->callers)
               : TLTCP_ERR_NOMEM;
}

void tltcp__identity_clear(tltcp_endpoint *ep) {
    sec__wipe(ep->identity.secret, sizeof(ep->identity.secret));
    cmn__free(&ep->mem, ep->identity.callers);
    ep->identity.callers = NULL;
}

sec__statics tltcp__identity_statics(const tltcp_endpoint *ep) {
    const tltcp__identity *id = &ep->identity;

    return id->on ? (sec__statics){.secret = id->secret,
                                   .public_key = id->public_key,
                                   .listener = id->public_key}
                  : (sec__statics){.secret = NULL};
}

bool tltcp__identity_welcomes(const tltcp_endpoint *ep, const uint8_t *key) {
    const tltcp__identity *id = &ep->identity;

    if (key == NULL || !id->listed) {
        return true;
    }
    for (size_t i = 0; i < id->n; i++) {
        if (memcmp(id->callers[i], key, SEC__KEY_LEN) == 0) {
            return true;
        }
    }
    return false;
}

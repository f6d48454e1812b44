/* SPDX-License-Identifier: MPL-2.0 */
/* Sessions that others than their host may speak of: they go to a group, or
 * asked one, or wait for a file that may come to a group. */
#include "libsaratoga/engine/engine_internal.h"

/* What a session is found as. */
enum role {
    NOBODY,
    SENDER, /* to a group */
    ASKER,  /* of a group */
    MEMBER, /* of a group that somebody sends to */
    WAITS,  /* for a path */
};

static enum role role_of(const saratoga__session *s) {
    if (s->sends) {
        return s->opt.multicast ? SENDER : NOBODY;
    }
    if (s->initiator && s->of_group) {
        return ASKER;
    }
    return s->opt.multicast ? MEMBER : NOBODY;
}

static bool waits(const saratoga__session *s) {
    return s->initiator && !s->sends && s->state == SARATOGA__ASKING;
}

static uint64_t mix(uint64_t x) {
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static uint64_t others_key_of(const saratoga_engine *n, enum role role,
                              uint64_t what, uint64_t host) {
    return mix(mix(what ^ n->table.salt) ^ mix(host + role));
}

static uint64_t id_key(const saratoga_engine *n, enum role role, uint32_t id) {
    return others_key_of(n, role, id, 0);
}

/* host 0: whoever has it. */
static uint64_t path_key(const saratoga_engine *n, const char *path,
                         uint64_t host) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *path != '\0'; path++) {
        h = (h ^ (uint8_t)*path) * UINT64_C(0x100000001b3);
    }
    return others_key_of(n, WAITS, h, host);
}

void saratoga__others_note(saratoga_engine *n, saratoga__session *s) {
    enum role role = role_of(s);
    uint64_t key = role != NOBODY ? id_key(n, role, s->id) : 0;
    if (s->by_role.at != NULL && (role == NOBODY || s->by_role.key != key)) {
        saratoga__index_remove(&n->others, &s->by_role);
    }
    if (role != NOBODY && s->by_role.at == NULL) {
        saratoga__index_put(&n->others, &s->by_role, s, key);
    }
    if (!waits(s)) {
        saratoga__index_remove(&n->others, &s->by_path);
    } else if (s->by_path.at == NULL) {
        saratoga__index_put(&n->others, &s->by_path, s,
                            path_key(n, s->path, s->of_group ? 0 : s->host));
    }
}

void saratoga__others_forget(saratoga_engine *n, saratoga__session *s) {
    saratoga__index_remove(&n->others, &s->by_role);
    saratoga__index_remove(&n->others, &s->by_path);
}

static saratoga__session *others_find(const saratoga_engine *n, enum role role,
                                      uint32_t id) {
    saratoga__link *l = saratoga__index_first(&n->others, id_key(n, role, id));
    while (l != NULL && (role_of(l->session) != role || l->session->id != id)) {
        l = saratoga__index_next(l);
    }
    return l != NULL ? l->session : NULL;
}

bool saratoga__others_is_sent(const saratoga_engine *n, uint32_t id) {
    return others_find(n, SENDER, id) != NULL;
}

saratoga__session *saratoga__others_asker(const saratoga_engine *n,
                                          uint32_t id) {
    return others_find(n, ASKER, id);
}

static saratoga__session *find_waiting(const saratoga_engine *n,
                                       const char *path, uint64_t host) {
    saratoga__link *l =
        saratoga__index_first(&n->others, path_key(n, path, host));
    while (l != NULL &&
           (!waits(l->session) || strcmp(l->session->path, path) != 0 ||
            (host != 0 && l->session->host != host))) {
        l = saratoga__index_next(l);
    }
    return l != NULL ? l->session : NULL;
}

saratoga__session *saratoga__others_waiting(const saratoga_engine *n,
                                            const char *path, uint64_t host) {
    saratoga__session *s = find_waiting(n, path, host);
    return s != NULL ? s : find_waiting(n, path, 0);
}

saratoga__session *saratoga__others_in_group(const saratoga_engine *n,
                                             uint32_t id) {
    saratoga__session *s = others_find(n, SENDER, id);
    if (s == NULL) {
        s = others_find(n, ASKER, id);
        s = s != NULL && s->opt.multicast ? s : NULL;
    }
    return s != NULL ? s : others_find(n, MEMBER, id);
}

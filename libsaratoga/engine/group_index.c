/* SPDX-License-Identifier: MPL-2.0 */
/* Index of sessions that other hosts may refer to: those that send to a group,
 * requested from one, or wait for a file that a group may receive. */
#include "libsaratoga/engine/engine_internal.h"

/* The role under which a session is indexed. */
enum role {
    NOBODY,
    SENDER,    /* to a group */
    REQUESTER, /* of a group */
    MEMBER,    /* of a group that somebody sends to */
    WAITS,     /* for a path */
};

static enum role role_of(const saratoga__session *s) {
    if (s->sends) {
        return s->opt.multicast ? SENDER : NOBODY;
    }
    if (s->initiator && s->of_group) {
        return REQUESTER;
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

static uint64_t group_index_key(const saratoga_engine *e, enum role role,
                                uint64_t what, uint64_t host) {
    return mix(mix(what ^ e->table.salt) ^ mix(host + role));
}

static uint64_t id_key(const saratoga_engine *e, enum role role, uint32_t id) {
    return group_index_key(e, role, id, 0);
}

/* host 0: any host. */
static uint64_t path_key(const saratoga_engine *e, const char *path,
                         uint64_t host) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *path != '\0'; path++) {
        h = (h ^ (uint8_t)*path) * UINT64_C(0x100000001b3);
    }
    return group_index_key(e, WAITS, h, host);
}

void saratoga__group_index_update(saratoga_engine *e, saratoga__session *s) {
    enum role role = role_of(s);
    uint64_t key = role != NOBODY ? id_key(e, role, s->id) : 0;
    if (s->by_role.at != NULL && (role == NOBODY || s->by_role.key != key)) {
        saratoga__multimap_remove(&e->group_index, &s->by_role);
    }
    if (role != NOBODY && s->by_role.at == NULL) {
        saratoga__multimap_put(&e->group_index, &s->by_role, s, key);
    }
    if (!waits(s)) {
        saratoga__multimap_remove(&e->group_index, &s->by_path);
    } else if (s->by_path.at == NULL) {
        saratoga__multimap_put(&e->group_index, &s->by_path, s,
                               path_key(e, s->path, s->of_group ? 0 : s->host));
    }
}

void saratoga__group_index_remove(saratoga_engine *e, saratoga__session *s) {
    saratoga__multimap_remove(&e->group_index, &s->by_role);
    saratoga__multimap_remove(&e->group_index, &s->by_path);
}

static saratoga__session *group_index_lookup(const saratoga_engine *e,
                                             enum role role, uint32_t id) {
    saratoga__link *l =
        saratoga__multimap_first(&e->group_index, id_key(e, role, id));
    while (l != NULL && (role_of(l->session) != role || l->session->id != id)) {
        l = saratoga__multimap_next(l);
    }
    return l != NULL ? l->session : NULL;
}

bool saratoga__group_index_is_sent(const saratoga_engine *e, uint32_t id) {
    return group_index_lookup(e, SENDER, id) != NULL;
}

saratoga__session *saratoga__group_index_requester(const saratoga_engine *e,
                                                   uint32_t id) {
    return group_index_lookup(e, REQUESTER, id);
}

static saratoga__session *find_waiting(const saratoga_engine *e,
                                       const char *path, uint64_t host) {
    saratoga__link *l =
        saratoga__multimap_first(&e->group_index, path_key(e, path, host));
    while (l != NULL &&
           (!waits(l->session) || strcmp(l->session->path, path) != 0 ||
            (host != 0 && l->session->host != host))) {
        l = saratoga__multimap_next(l);
    }
    return l != NULL ? l->session : NULL;
}

saratoga__session *saratoga__group_index_waiting(const saratoga_engine *e,
                                                 const char *path,
                                                 uint64_t host) {
    saratoga__session *s = find_waiting(e, path, host);
    return s != NULL ? s : find_waiting(e, path, 0);
}

saratoga__session *saratoga__group_index_find(const saratoga_engine *e,
                                              uint32_t id) {
    saratoga__session *s = group_index_lookup(e, SENDER, id);
    if (s == NULL) {
        s = group_index_lookup(e, REQUESTER, id);
        s = s != NULL && s->opt.multicast ? s : NULL;
    }
    return s != NULL ? s : group_index_lookup(e, MEMBER, id);
}

/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_ENDPOINT_H
#define LIBTLTCP_ENDPOINT_H

#include "internal/secure/admission.h"
#include "libtltcp/engine/budget.h"
#include "libtltcp/engine/conn.h"

/* Connections by id, and by the path and id of the caller, so that a late or
 * repeated INITIAL makes no second connection. Both are chained hash tables. */
struct tltcp_endpoint {
    cmn__mem mem;
    tltcp_config cfg;
    sec__secret secret;
    sec__key *keys; /* secured: keys that callers may use */
    int n_keys;
    sec__admission admission;
    tltcp__budget budget;
    uint64_t salt; /* keeps attackers from choosing the chain */
    tltcp__id **by_id;
    tltcp_conn **by_caller;
    size_t buckets; /* a power of two */
    uint64_t first_pn;
    uint32_t first_seq;
};

/* endpoint_table.c */
tltcp_conn *tltcp__endpoint_find_id(const tltcp_endpoint *ep, uint64_t id);
/* The connection of that caller's INITIAL. */
tltcp_conn *tltcp__endpoint_find_caller(const tltcp_endpoint *ep, uint64_t path,
                                        uint64_t id);
void tltcp__endpoint_add(tltcp_endpoint *ep, tltcp_conn *c);
void tltcp__endpoint_unlink_caller(tltcp_endpoint *ep, tltcp_conn *c);

#endif /* LIBTLTCP_ENDPOINT_H */

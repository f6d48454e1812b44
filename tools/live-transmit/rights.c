/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/live-transmit/rights.h"

#include <stdio.h>

static bool has_name(const struct endpoint *e) {
    return (e->kind == ENDPOINT_UDP || e->kind == ENDPOINT_TLTCP) &&
           privileges_is_name(e->at.host);
}

/* The file of callers is read again, and may have been replaced by then. */
static void rights_add_callers(struct privileges_list *r,
                               const struct endpoint *e) {
    privileges_add_folder(r, e->callers[0] != '\0' ? e->callers : NULL, false);
}

struct privileges_dropped rights_drop(const struct transmit_options *o) {
    struct privileges_list r = {.count = 0};
    struct privileges keep = {.paths = r.path,
                              .names = has_name(&o->in) || has_name(&o->out),
                              .tcp = o->metrics != NULL ||
                                     peer_options_use_tcp(&o->in.to) ||
                                     peer_options_use_tcp(&o->out.to)};

    privileges_add(&r, o->in.kind == ENDPOINT_FILE ? o->in.path : NULL, false);
    privileges_add(&r, o->out.kind == ENDPOINT_FILE ? o->out.path : NULL, true);
    privileges_add(&r, o->json, true);
    privileges_add(&r, o->frames, true);
    privileges_add(&r, o->qlog, true);
    privileges_add(&r, o->port_file, true);
    rights_add_callers(&r, &o->in);
    rights_add_callers(&r, &o->out);
    keep.count = r.count;
    return privileges_drop(&keep);
}

void rights_report(const struct privileges_dropped *d) {
    char text[PRIVILEGES_TEXT];

    (void)fprintf(stderr, "tltcp-live-transmit: rights that remain: %s\n",
                  privileges_describe(d, text));
}

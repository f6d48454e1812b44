/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/tltcp/rights.h"

#include <ctype.h>
#include <string.h>

/* Whether FFmpeg takes it for PROTOCOL:REST. */
static bool media_has_protocol(const char *media) {
    const char *p = media;

    while (isalnum((unsigned char)*p) || strchr("+-.,", *p) != NULL) {
        if (*p == '\0') {
            return false;
        }
        p++;
    }
    return *p == ':';
}

struct privileges_dropped media_rights_drop(const struct media_rights *r) {
    struct privileges_list l = {.count = 0};
    bool far = media_has_protocol(r->media);
    struct privileges keep = {.paths = l.path,
                              .names = far || privileges_is_name(r->host),
                              .tcp = far || r->metrics != NULL ||
                                     peer_options_use_tcp(r->peer)};

    if (far) {
        privileges_add(&l, "/", r->write);
    } else {
        privileges_add_folder(&l, r->media, r->write);
        privileges_add(&l, r->media, r->write); /* may be a link */
    }
    privileges_add(&l, r->json, true);
    privileges_add(&l, r->frames, true);
    privileges_add(&l, r->port_file, true);
    privileges_add(&l, r->peer->config->qlog_dir, true);
    keep.count = l.count;
    return privileges_drop(&keep);
}

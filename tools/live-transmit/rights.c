/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/live-transmit/rights.h"

#include <arpa/inet.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATHS 8u

struct rights {
    struct privileges_path path[PATHS];
    char text[PATHS][PATH_MAX];
    size_t count;
};

/* A file or folder: itself where it is there, else the one that it will be made
 * in. */
static void rights_add(struct rights *r, const char *file, bool write) {
    char *text = r->text[r->count];

    if (file == NULL || strcmp(file, "-") == 0) {
        return;
    }
    r->path[r->count].path = realpath(file, text) != NULL
                                 ? text
                                 : privileges_folder_of(file, text, PATH_MAX);
    r->path[r->count++].write = write;
}

static bool has_name(const struct endpoint *e) {
    uint8_t address[16];

    return (e->kind == ENDPOINT_UDP || e->kind == ENDPOINT_TLTCP) &&
           e->at.host[0] != '\0' &&
           inet_pton(AF_INET, e->at.host, address) != 1 &&
           inet_pton(AF_INET6, e->at.host, address) != 1;
}

/* The file of callers is read again, and may have been replaced by then. */
static void rights_add_callers(struct rights *r, const struct endpoint *e) {
    if (e->callers[0] != '\0') {
        r->path[r->count].path =
            privileges_folder_of(e->callers, r->text[r->count], PATH_MAX);
        r->path[r->count++].write = false;
    }
}

struct privileges_dropped rights_drop(const struct transmit_options *o) {
    struct rights r = {.count = 0};
    struct privileges keep = {.paths = r.path,
                              .names = has_name(&o->in) || has_name(&o->out),
                              .tcp = o->metrics != NULL};

    rights_add(&r, o->in.kind == ENDPOINT_FILE ? o->in.path : NULL, false);
    rights_add(&r, o->out.kind == ENDPOINT_FILE ? o->out.path : NULL, true);
    rights_add(&r, o->json, true);
    rights_add(&r, o->frames, true);
    rights_add(&r, o->qlog, true);
    rights_add(&r, o->port_file, true);
    rights_add_callers(&r, &o->in);
    rights_add_callers(&r, &o->out);
    keep.count = r.count;
    return privileges_drop(&keep);
}

void rights_report(const struct privileges_dropped *d) {
    char text[PRIVILEGES_TEXT];

    (void)fprintf(stderr, "tltcp-live-transmit: keeps what it was given: %s\n",
                  privileges_describe(d, text));
}

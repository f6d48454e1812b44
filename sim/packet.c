/* SPDX-License-Identifier: MPL-2.0 */
/* What links carry. */
#include "sim/packet.h"

#include <stdlib.h>
#include <string.h>

struct sim_packet *sim_packet_new(const void *data, size_t len) {
    struct sim_packet *p;
    if (len > UINT32_MAX) {
        return NULL;
    }
    p = malloc(sizeof(*p) + len);
    if (p == NULL) {
        return NULL;
    }
    *p = (struct sim_packet){.len = (uint32_t)len};
    if (data != NULL) {
        memcpy(p->data, data, len);
    } else {
        memset(p->data, 0, len);
    }
    return p;
}

void sim_packet_free(struct sim_packet *p) {
    free(p);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* What links carry. */
#include "sim/packet.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const size_t room[SIM_POOL_SIZES] = {128, 1536};

/* SIM_POOL_SIZES: too long to be kept. */
static size_t pool_size(size_t len) {
    size_t i = 0;
    while (i < SIM_POOL_SIZES && len > room[i]) {
        i++;
    }
    return i;
}

static struct sim_packet *pool_take(struct sim_pool *pool, size_t i) {
    struct sim_packet *p = pool->idle[i];
    if (p != NULL) {
        pool->idle[i] = p->next;
    }
    return p;
}

struct sim_packet *sim_pool_packet(struct sim_pool *pool, const void *data,
                                   size_t len) {
    size_t i = pool != NULL ? pool_size(len) : SIM_POOL_SIZES;
    bool kept = i < SIM_POOL_SIZES;
    struct sim_packet *p = kept ? pool_take(pool, i) : NULL;
    if (p == NULL && len <= UINT32_MAX) {
        p = malloc(sizeof(*p) + (kept ? room[i] : len));
    }
    if (p == NULL) {
        return NULL;
    }
    *p = (struct sim_packet){.len = (uint32_t)len, .pool = kept ? pool : NULL};
    if (data != NULL) {
        memcpy(p->data, data, len);
    } else {
        memset(p->data, 0, len);
    }
    return p;
}

struct sim_packet *sim_packet_new(const void *data, size_t len) {
    return sim_pool_packet(NULL, data, len);
}

void sim_packet_free(struct sim_packet *p) {
    if (p != NULL && p->pool != NULL) {
        struct sim_packet **idle = &p->pool->idle[pool_size(p->len)];
        p->next = *idle;
        *idle = p;
    } else {
        free(p);
    }
}

void sim_pool_free(struct sim_pool *pool) {
    for (size_t i = 0; i < SIM_POOL_SIZES; i++) {
        struct sim_packet *p;
        while ((p = pool_take(pool, i)) != NULL) {
            free(p);
        }
    }
}

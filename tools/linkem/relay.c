/* SPDX-License-Identifier: MPL-2.0 */
/* The emulated link as a relay of UDP. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/tool.h"
#include "tools/linkem/face.h"
#include "tools/linkem/udp.h"

#define TOOL "linkem"
#define BATCH 64                      /* messages of one socket per turn */
#define IDLE_NS UINT64_C(30000000000) /* idle client, replaceable */

struct counter {
    uint64_t packets;
    uint64_t bytes;
};

struct entry {
    int fd;
    struct address target;
    struct address local;
    struct counter in[LINKEM_DIRECTIONS];
    struct counter out[LINKEM_DIRECTIONS];
};

struct client {
    int fd; /* towards the target; -1: free */
    size_t entry;
    uint64_t id; /* never used twice */
    uint64_t active;
    struct address address;
};

struct relay {
    struct entry entry[LINKEM_PAIRS_MAX];
    size_t entries;
    struct client *client;
    size_t clients_max;
    uint64_t clients_seen;
    uint64_t refused; /* datagrams of clients beyond the limit */
    uint64_t failed;  /* sends that the system refused */
    uint8_t buffer[UDP_DATAGRAM_MAX];
};

static int open_entry(struct entry *e, const struct linkem_pair *pair) {
    char text[ADDRESS_TEXT_MAX];
    const struct sockaddr *sa = (const struct sockaddr *)&pair->listen.sa;
    e->target = pair->target;
    e->fd = udp_socket(pair->listen.sa.ss_family);
    e->local.len = sizeof(e->local.sa);
    if (e->fd < 0 || bind(e->fd, sa, pair->listen.len) != 0 ||
        getsockname(e->fd, (struct sockaddr *)&e->local.sa, &e->local.len) !=
            0) {
        address_text(&pair->listen, text);
        return tool_fail(TOOL, "cannot listen on %s: %s", text,
                         strerror(errno));
    }
    return TOOL_OK;
}

static struct client *find_client(struct relay *r, size_t entry,
                                  const struct address *a) {
    for (size_t i = 0; i < r->clients_max; i++) {
        struct client *c = &r->client[i];
        if (c->fd >= 0 && c->entry == entry && address_equal(&c->address, a)) {
            return c;
        }
    }
    return NULL;
}

/* A free place, or that of the client that has been silent longest, if it was
 * silent for IDLE_NS. */
static struct client *free_place(struct relay *r, uint64_t now) {
    struct client *oldest = &r->client[0];
    for (size_t i = 0; i < r->clients_max; i++) {
        struct client *c = &r->client[i];
        if (c->fd < 0) {
            return c;
        }
        if (c->active < oldest->active) {
            oldest = c;
        }
    }
    if (now - oldest->active < IDLE_NS) {
        return NULL;
    }
    (void)close(oldest->fd);
    oldest->fd = -1;
    return oldest;
}

static struct client *new_client(struct relay *r, size_t entry,
                                 const struct address *a, uint64_t now) {
    const struct address *target = &r->entry[entry].target;
    struct client *c = free_place(r, now);
    int fd;
    if (!c) {
        return NULL;
    }
    fd = udp_socket(target->sa.ss_family);
    if (fd < 0 ||
        connect(fd, (const struct sockaddr *)&target->sa, target->len) != 0) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return NULL;
    }
    *c = (struct client){
        .fd = fd, .entry = entry, .id = ++r->clients_seen, .address = *a};
    return c;
}

static void count(struct counter *c, size_t bytes) {
    c->packets++;
    c->bytes += bytes;
}

/* Offers the datagrams of a message one by one. */
static void offer(struct relay *r, const struct client *c, int direction,
                  struct udp_message *m, size_t len, struct emulator *em) {
    struct emulator_packet info = {
        .direction = direction, .owner = c->id, .ecn = udp_ecn(m)};
    size_t segment = udp_segment(m, len);
    size_t at = 0;
    do { /* also for an empty one */
        size_t left = len - at;
        size_t size = left < segment ? left : segment;
        count(&r->entry[c->entry].in[direction], size);
        emulator_offer(em, &info, r->buffer + at, size);
        at += size;
    } while (at < len);
}

static void receive_up(struct relay *r, size_t entry, struct emulator *em) {
    struct udp_message m;
    struct address from;
    ssize_t n;
    for (int i = 0; i < BATCH; i++) {
        struct client *c;
        uint64_t now;
        n = udp_receive(r->entry[entry].fd, &m, r->buffer, &from);
        if (n < 0) {
            return;
        }
        now = emulator_now(em);
        c = find_client(r, entry, &from);
        if (!c) {
            c = new_client(r, entry, &from, now);
        }
        if (!c) {
            r->refused++;
            continue;
        }
        c->active = now;
        offer(r, c, LINKEM_UP, &m, (size_t)n, em);
    }
}

static void receive_down(struct relay *r, struct client *c,
                         struct emulator *em) {
    struct udp_message m;
    struct address from;
    ssize_t n;
    for (int i = 0; i < BATCH; i++) {
        n = udp_receive(c->fd, &m, r->buffer, &from);
        if (n < 0) {
            /* an ICMP error of an earlier send is not the end of the data */
            if (errno == ECONNREFUSED || errno == EHOSTUNREACH) {
                continue;
            }
            return;
        }
        c->active = emulator_now(em);
        offer(r, c, LINKEM_DOWN, &m, (size_t)n, em);
    }
}

static size_t relay_fds(void *impl, struct pollfd *fds, size_t max) {
    struct relay *r = impl;
    size_t n = 0;
    for (size_t i = 0; i < r->entries && n < max; i++) {
        fds[n++] = (struct pollfd){.fd = r->entry[i].fd, .events = POLLIN};
    }
    for (size_t i = 0; i < r->clients_max && n < max; i++) {
        if (r->client[i].fd >= 0) {
            fds[n++] = (struct pollfd){.fd = r->client[i].fd, .events = POLLIN};
        }
    }
    return n;
}

static void relay_receive(void *impl, const struct pollfd *fds, size_t n,
                          struct emulator *em) {
    struct relay *r = impl;
    size_t at = r->entries;
    for (size_t i = 0; i < r->clients_max && at < n; i++) {
        struct client *c = &r->client[i];
        if (c->fd >= 0 && c->fd == fds[at].fd && fds[at++].revents) {
            receive_down(r, c, em);
        }
    }
    for (size_t i = 0; i < r->entries && i < n; i++) {
        if (fds[i].revents) {
            receive_up(r, i, em);
        }
    }
}

static struct client *client_by_id(struct relay *r, uint64_t id) {
    for (size_t i = 0; i < r->clients_max; i++) {
        if (r->client[i].fd >= 0 && r->client[i].id == id) {
            return &r->client[i];
        }
    }
    return NULL;
}

static void relay_deliver(void *impl, int direction,
                          const struct sim_packet *p) {
    struct relay *r = impl;
    struct client *c = client_by_id(r, p->src);
    struct entry *e;
    bool sent;
    if (!c) {
        return; /* its client is gone */
    }
    e = &r->entry[c->entry];
    if (direction == LINKEM_UP) {
        sent = udp_send(c->fd, &e->target, false, p);
    } else {
        sent = udp_send(e->fd, &c->address, true, p);
    }
    if (sent) {
        count(&e->out[direction], p->len);
    } else {
        r->failed++;
    }
}

static json_t *counters_json(const struct entry *e, int direction) {
    return json_pack("{s:I,s:I,s:I,s:I}", "packets_in",
                     (json_int_t)e->in[direction].packets, "bytes_in",
                     (json_int_t)e->in[direction].bytes, "packets_out",
                     (json_int_t)e->out[direction].packets, "bytes_out",
                     (json_int_t)e->out[direction].bytes);
}

static void relay_report(void *impl, json_t *json) {
    struct relay *r = impl;
    json_t *pairs = json_array();
    char listen[ADDRESS_TEXT_MAX];
    char target[ADDRESS_TEXT_MAX];
    for (size_t i = 0; i < r->entries; i++) {
        struct entry *e = &r->entry[i];
        address_text(&e->local, listen);
        address_text(&e->target, target);
        (void)json_array_append_new(
            pairs, json_pack("{s:s,s:s,s:o,s:o}", "listen", listen, "target",
                             target, "up", counters_json(e, LINKEM_UP), "down",
                             counters_json(e, LINKEM_DOWN)));
    }
    (void)json_object_set_new(json, "pairs", pairs);
    (void)json_object_set_new(json, "clients",
                              json_integer((json_int_t)r->clients_seen));
    (void)json_object_set_new(json, "refused_packets",
                              json_integer((json_int_t)r->refused));
    (void)json_object_set_new(json, "failed_packets",
                              json_integer((json_int_t)r->failed));
}

static void relay_free(void *impl) {
    struct relay *r = impl;
    for (size_t i = 0; i < r->entries; i++) {
        if (r->entry[i].fd >= 0) {
            (void)close(r->entry[i].fd);
        }
    }
    for (size_t i = 0; r->client && i < r->clients_max; i++) {
        if (r->client[i].fd >= 0) {
            (void)close(r->client[i].fd);
        }
    }
    free(r->client);
    free(r);
}

static int relay_announce(const struct relay *r,
                          const struct linkem_options *o) {
    char listen[ADDRESS_TEXT_MAX];
    char target[ADDRESS_TEXT_MAX];
    FILE *f = o->port_file ? fopen(o->port_file, "we") : NULL;
    bool ok = f || !o->port_file;
    for (size_t i = 0; f && i < r->entries; i++) {
        address_text(&r->entry[i].local, listen);
        ok = fprintf(f, "%s\n", listen) > 0 && ok;
    }
    if (f && fclose(f) != 0) {
        ok = false;
    }
    for (size_t i = 0; ok && !o->quiet && i < r->entries; i++) {
        address_text(&r->entry[i].local, listen);
        address_text(&r->entry[i].target, target);
        (void)fprintf(stderr, "%s: %s -> %s\n", TOOL, listen, target);
    }
    return ok ? TOOL_OK
              : tool_fail(TOOL, "cannot write %s: %s", o->port_file,
                          strerror(errno));
}

static struct relay *relay_new(size_t clients_max) {
    struct relay *r = calloc(1, sizeof(*r));
    if (!r) {
        return NULL;
    }
    r->clients_max = clients_max;
    r->client = calloc(clients_max, sizeof(*r->client));
    if (!r->client) {
        free(r);
        return NULL;
    }
    for (size_t i = 0; i < clients_max; i++) {
        r->client[i].fd = -1;
    }
    return r;
}

int face_relay(struct face *f, const struct linkem_options *o) {
    struct relay *r = relay_new(o->clients_max);
    int rc = TOOL_OK;
    if (!r) {
        return tool_fail(TOOL, "out of memory");
    }
    for (size_t i = 0; rc == TOOL_OK && i < o->pairs; i++) {
        r->entries++;
        rc = open_entry(&r->entry[i], &o->pair[i]);
    }
    if (rc == TOOL_OK) {
        rc = relay_announce(r, o);
    }
    if (rc != TOOL_OK) {
        relay_free(r);
        return rc;
    }
    *f = (struct face){.impl = r,
                       .fds = relay_fds,
                       .receive = relay_receive,
                       .deliver = relay_deliver,
                       .report = relay_report,
                       .free = relay_free};
    return TOOL_OK;
}

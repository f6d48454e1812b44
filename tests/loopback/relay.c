/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/loopback/relay.h"

#include <stdio.h>

static void forward(struct relay *r, int in, int out, struct sockaddr_in *from,
                    const struct sockaddr_in *to) {
    uint8_t buf[2048];
    socklen_t len = sizeof(*from);
    ssize_t n = recvfrom(in, (void *)buf, sizeof(buf), 0,
                         (struct sockaddr *)from, &len);

    if (n <= 0) {
        return;
    }
    if (r->look != NULL) {
        r->look(r->user, in != r->front, buf, (size_t)n);
    }
    (void)sendto(out, (void *)buf, (size_t)n, 0, (const struct sockaddr *)to,
                 sizeof(*to));
}

static void run(void *arg) {
    struct relay *r = arg;

    while (!atomic_load(&r->stop)) {
        struct pollfd p[3] = {{.fd = r->front, .events = POLLIN},
                              {.fd = r->back[0], .events = POLLIN},
                              {.fd = r->back[1], .events = POLLIN}};
        struct sockaddr_in from;

        if (poll(p, 3, 20) <= 0) {
            continue;
        }
        if (p[0].revents != 0) {
            forward(r, r->front, r->back[atomic_load(&r->side)], &r->client,
                    &r->server);
        }
        for (int i = 0; i < 2; i++) {
            if (p[1 + i].revents != 0) {
                forward(r, r->back[i], r->front, &from, &r->client);
            }
        }
    }
}

void relay_start(struct relay *r, struct lo *l) {
    struct sockaddr_in a;
    socklen_t len = sizeof(r->server);

    lo_listen(l);
    assert_int_equal(
        tltcp_local_address(l->listener, (struct sockaddr *)&r->server, &len),
        0);
    r->back[0] = lo_bind(&a);
    r->back[1] = lo_bind(&a);
    r->front = lo_bind(&a);
    snprintf(l->port, sizeof(l->port), "%u", (unsigned)ntohs(a.sin_port));
    assert_int_equal(uv_thread_create(&r->thread, run, r), 0);
}

void relay_stop(struct relay *r) {
    atomic_store(&r->stop, true);
    assert_int_equal(uv_thread_join(&r->thread), 0);
    close(r->front);
    close(r->back[0]);
    close(r->back[1]);
}

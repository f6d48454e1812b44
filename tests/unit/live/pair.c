/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/unit/live/pair.h"

#include <netinet/in.h>
#include <stdio.h>

char why[TLTCP_LIVE_WHY_MAX];

tltcp_live_options *options(const char *url) {
    tltcp_live_options *o = tltcp_live_options_new();
    assert_non_null(o);
    assert_int_equal(tltcp_live_options_set_url(o, url, why), 0);
    return o;
}

tltcp_live *open_live(int direction, const char *url) {
    tltcp_live *l;
    assert_int_equal(tltcp_live_open(&l, direction, options(url), why), 0);
    return l;
}

unsigned port_of(tltcp_live *l) {
    struct sockaddr_in a;
    socklen_t len = sizeof(a);
    assert_int_equal(tltcp_live_local_address(l, (struct sockaddr *)&a, &len),
                     0);
    return ntohs(a.sin_port);
}

struct pair open_pair(const char *keys) {
    char url[256];
    struct pair p;
    p.in = open_live(TLTCP_LIVE_RECEIVE, "tltcp://127.0.0.1:0?mode=listener");
    (void)snprintf(url, sizeof(url), "tltcp://127.0.0.1:%u?%s", port_of(p.in),
                   keys);
    p.out = open_live(TLTCP_LIVE_SEND, url);
    return p;
}

void close_pair(struct pair *p) {
    tltcp_live_close(p->out, 0);
    tltcp_live_close(p->in, 0);
}

void await(tltcp_live *l, unsigned type, tltcp_live_event *ev) {
    tltcp_live_event_init(ev);
    do {
        assert_int_equal(tltcp_live_next_event(l, ev, FAR), 1);
    } while (ev->type != type);
}

void describe(tltcp_live *l, unsigned stream, unsigned type,
              const char *codec) {
    tltcp_live_format f;
    tltcp_live_format_init(&f);
    f.type = type;
    f.codec = codec;
    f.width = type == TLTCP_LIVE_VIDEO ? 320 : 0;
    assert_int_equal(tltcp_live_set_format(l, stream, &f), 0);
}

int next(tltcp_live *l, tltcp_live_frame *f) {
    tltcp_live_frame_init(f);
    return tltcp_live_read(l, f, FAR);
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/live/connect.h"

#include <stdio.h>
#include <string.h>

#define LOOK_MS 200

/* The answer of the peer, or the code that stands for none. */
static int await_peer(tltcp_socket *s, bool (*stop)(void), char *reason) {
    for (;;) {
        tltcp_event ev;
        int rc = tltcp_next_event(s, &ev, LOOK_MS);
        if (rc == TLTCP_ERR_AGAIN && (!stop || !stop())) {
            continue;
        }
        if (rc == 1 && ev.type == TLTCP_EVENT_CONNECTED) {
            return 0;
        }
        if (rc == 1 && ev.type == TLTCP_EVENT_CLOSED) {
            memcpy(reason, ev.reason, sizeof(ev.reason));
            return ev.error < 0 ? ev.error : TLTCP_ERR_CLOSED;
        }
        if (rc != 1) {
            return rc;
        }
    }
}

int live_connect(tltcp_socket **s, const char *host, const char *service,
                 const tltcp_config *c, bool (*stop)(void), char *reason) {
    int rc;
    *s = NULL;
    reason[0] = '\0';
    rc = tltcp_connect(s, host, service, c, 0);
    if (rc == 0) {
        rc = await_peer(*s, stop, reason);
    }
    if (rc == 0) {
        return 0;
    }
    if (reason[0] == '\0') {
        (void)snprintf(reason, TLTCP_REASON_MAX + 1, "%s",
                       rc == TLTCP_ERR_TIMEOUT ? "nobody answers"
                                               : tltcp_strerror(rc));
    }
    (void)tltcp_close(*s, 0);
    *s = NULL;
    return rc;
}

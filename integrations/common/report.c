/* SPDX-License-Identifier: MPL-2.0 */
/* Events of libtltcp-live as lines of a program's log. */
#include "integrations/common/report.h"

#include <netdb.h>
#include <stdio.h>

static void report_address(const tltcp_live_event *ev, char *text, size_t len) {
    char host[64];
    char port[8];
    if (ev->address_len == 0 ||
        getnameinfo((const struct sockaddr *)&ev->address, ev->address_len,
                    host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        (void)snprintf(text, len, "the peer");
    } else {
        (void)snprintf(text, len, "%s port %s", host, port);
    }
}

static int report_failure(const tltcp_live_event *ev, const char *what,
                          char *line) {
    (void)snprintf(line, REPORT_MAX, "%s: %s%s%s%s", what,
                   tltcp_strerror(ev->error), ev->reason[0] ? ": " : "",
                   ev->reason, ev->final ? "" : "; trying again");
    return ev->final ? REPORT_ERROR : REPORT_WARNING;
}

int report_event(const tltcp_live_event *ev, char *line) {
    char where[96];
    report_address(ev, where, sizeof(where));
    switch (ev->type) {
    case TLTCP_LIVE_EVENT_LISTENING:
        (void)snprintf(line, REPORT_MAX, "listening on %s", where);
        return REPORT_INFO;
    case TLTCP_LIVE_EVENT_CONNECTED:
        (void)snprintf(line, REPORT_MAX, "connected to %s", where);
        return REPORT_INFO;
    case TLTCP_LIVE_EVENT_REFUSED:
        return report_failure(ev, "no connection", line);
    case TLTCP_LIVE_EVENT_DISCONNECTED:
        if (ev->error != 0) {
            return report_failure(ev, "connection lost", line);
        }
        (void)snprintf(line, REPORT_MAX, "%s has left", where);
        return REPORT_INFO;
    case TLTCP_LIVE_EVENT_REJECTED:
        (void)snprintf(line, REPORT_MAX, "refused %s: %s", where, ev->reason);
        return REPORT_WARNING;
    default:
        return REPORT_NOTHING;
    }
}

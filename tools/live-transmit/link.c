/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/live-transmit/link.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/common/tool.h"

#define RETRY_NS UINT64_C(1000000000)

void link_say(const struct link *l, const char *what, const char *detail) {
    char shown[TLTCP_REASON_MAX + 1]; /* it may be the peer's */
    if (!l->quiet) {
        (void)fprintf(stderr, "%s: %s: %s%s%s\n", l->tool, l->at->text, what,
                      *detail ? ": " : "",
                      tool_shown(shown, sizeof(shown), detail));
    }
}

/* Runs on the listener's thread.  What it says yes to may never be a caller. */
static bool on_caller(void *user, const tltcp_caller *caller, char *reason) {
    struct link *l = user;
    const char *wanted = l->at->to.config.stream_id;
    const char *no = NULL;
    if (wanted && strcmp(wanted, caller->stream_id) != 0) {
        no = "no stream of that name here";
    } else if (atomic_load(&l->busy)) {
        no = PEER_BUSY;
    }
    if (no) {
        (void)snprintf(reason, TLTCP_REASON_MAX + 1, "%s", no);
    }
    return !no;
}

static void tell_address(const struct link *l, char *text) {
    struct address a = {.len = sizeof(a.sa)};
    if (tltcp_local_address(l->listener, (struct sockaddr *)&a.sa, &a.len) ==
        0) {
        address_text(&a, text);
        link_say(l, "listening on", text);
    }
}

static int start_listening(struct link *l, char *text) {
    const char *host = l->at->at.host;
    bool any = host[0] == '\0' || strcmp(host, "*") == 0;
    tltcp_config config = l->at->to.config;
    int rc;
    config.on_caller = on_caller;
    config.user = l;
    rc = tltcp_listen(&l->listener, any ? NULL : host, l->at->at.port, &config);
    if (rc < 0) {
        return tool_fail(l->tool, "cannot listen on %s: %s", l->at->text,
                         tltcp_strerror(rc));
    }
    tell_address(l, text);
    return TOOL_OK;
}

int link_open(struct link *l, char *text) {
    text[0] = '\0';
    return l->at->listens ? start_listening(l, text) : TOOL_OK;
}

static int failed(struct link *l, int error, const char *reason) {
    const char *why = reason[0]                    ? reason
                      : error == TLTCP_ERR_TIMEOUT ? "nobody answers"
                                                   : tltcp_strerror(error);
    if (!l->retries) {
        return tool_fail(l->tool, "cannot connect to %s: %s", l->at->text, why);
    }
    if (!l->told) {
        link_say(l, "not connected yet, will go on trying", why);
        l->told = true;
    }
    l->retry_at = tltcp_now() + RETRY_NS;
    return TOOL_OK;
}

static int call(struct link *l, tltcp_socket **s) {
    char reason[TLTCP_REASON_MAX + 1] = "";
    int rc = TLTCP_ERR_AGAIN;
    if (!l->calling) {
        if (tltcp_now() < l->retry_at) {
            return TOOL_OK;
        }
        rc = tltcp_connect(&l->calling, l->at->at.host, l->at->at.port,
                           &l->at->to.config, 0);
        if (rc < 0) {
            l->calling = NULL;
            return failed(l, rc, "");
        }
    }
    rc = tltcp_wait_connected(l->calling, 0);
    if (rc == 0) {
        *s = l->calling;
        l->calling = NULL;
    } else if (rc != TLTCP_ERR_AGAIN) {
        (void)tltcp_socket_error(l->calling, reason);
        (void)tltcp_close(l->calling, 0);
        l->calling = NULL;
        return failed(l, rc, reason);
    }
    return TOOL_OK;
}

static void tell_peer(const struct link *l, tltcp_socket *s) {
    struct address a = {.len = sizeof(a.sa)};
    char text[ADDRESS_TEXT_MAX];
    if (tltcp_peer_address(s, (struct sockaddr *)&a.sa, &a.len) == 0) {
        address_text(&a, text);
        link_say(l, "connected with", text);
    }
}

int link_run(struct link *l, tltcp_socket **s, uint64_t *when) {
    int rc = TOOL_OK;
    *s = NULL;
    if (l->listener) {
        int error = tltcp_accept(l->listener, s, 0);
        if (error == 0) {
            atomic_store(&l->busy, true);
        }
        if (error < 0 && error != TLTCP_ERR_AGAIN) {
            return tool_fail(l->tool, "cannot listen on %s any more: %s",
                             l->at->text, tltcp_strerror(error));
        }
    } else {
        rc = call(l, s);
    }
    if (*s) {
        l->told = false;
        tell_peer(l, *s);
    }
    *when = !l->listener && !l->calling && !*s ? l->retry_at : TLTCP_TIME_NEVER;
    return rc;
}

uint64_t link_watch(struct link *l) {
    if (l->listener && atomic_load(&l->busy)) {
        peer_turn_away(l->listener);
    }
    if (l->quiet || !l->listener) {
        return TLTCP_TIME_NEVER;
    }
    peer_watch(&l->watch, l->tool, l->listener);
    return l->watch.due;
}

nfds_t link_poll(const struct link *l, struct pollfd *fds) {
    if (l->listener) {
        fds[0] = (struct pollfd){.fd = tltcp_fd(l->listener), .events = POLLIN};
        return 1;
    }
    if (l->calling) {
        fds[0] = (struct pollfd){.fd = tltcp_writable_fd(l->calling),
                                 .events = POLLIN};
        return 1;
    }
    return 0;
}

void link_lost(struct link *l) {
    atomic_store(&l->busy, false);
    l->retry_at = tltcp_now() + RETRY_NS;
}

void link_close(struct link *l) {
    (void)tltcp_close(l->calling, 0);
    (void)tltcp_close(l->listener, 0);
    l->calling = l->listener = NULL;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Connections of one endpoint, one after the other. */
#include "tools/live-transmit/link.h"

#include <stdio.h>
#include <string.h>

#include "tools/common/tool.h"

/* Who hears "busy" tries again. */
#define LINK_FULL "it has as many callers as it accepts"

void link_say(const struct link *l, const char *what, const char *detail) {
    char shown[TLTCP_REASON_MAX + 1]; /* it may be the peer's text */
    if (!l->quiet) {
        (void)fprintf(stderr, "%s: %s: %s%s%s\n", l->tool, l->at->text, what,
                      *detail ? ": " : "",
                      tool_shown(shown, sizeof(shown), detail));
    }
}

bool link_has_room(const struct link *l) {
    return atomic_load(&l->served) < l->most;
}

static const char *link_full(const struct link *l) {
    return l->most == 1 ? TLTCP_LIVE_BUSY : LINK_FULL;
}

/* Runs on the listener's thread.  An accepted caller may still fail the
 * handshake. */
static bool on_caller(void *user, const tltcp_caller *caller, char *reason) {
    struct link *l = user;
    const char *wanted = l->at->to.config->stream_id;
    const char *no = NULL;
    if (l->roster) {
        no = roster_objection(l->roster, caller);
    } else if (wanted && strcmp(wanted, caller->stream_id) != 0) {
        no = "no stream of that name here";
    }
    no = !no && !link_has_room(l) ? link_full(l) : no;
    if (no) {
        (void)snprintf(reason, TLTCP_REASON_MAX + 1, "%s", no);
    }
    return !no;
}

static void tell_address(const struct link *l, const char *what,
                         const tltcp_live_event *ev, char *text) {
    struct address a = {.sa = ev->address, .len = ev->address_len};
    if (ev->address_len > 0) {
        address_text(&a, text);
        link_say(l, what, text);
    }
}

static void on_refused(struct link *l, const tltcp_live_event *ev) {
    const char *why = ev->reason[0] ? ev->reason
                      : ev->error == TLTCP_ERR_TIMEOUT
                          ? "no answer"
                          : tltcp_strerror(ev->error);
    if (ev->final) {
        l->status =
            tool_fail(l->tool, "cannot connect to %s: %s", l->at->text, why);
    } else if (!l->reported) {
        link_say(l, "not connected yet, still trying", why);
        l->reported = true;
    }
}

static void on_event(void *user, const tltcp_live_event *ev) {
    struct link *l = user;
    char text[ADDRESS_TEXT_MAX];
    if (ev->type == TLTCP_LIVE_EVENT_CONNECTED) {
        l->reported = false;
        tell_address(l, "connected with", ev, text);
    } else if (ev->type == TLTCP_LIVE_EVENT_REFUSED) {
        on_refused(l, ev);
    }
}

static void tell_listening(const struct link *l, char *text) {
    tltcp_live_event ev = {.address_len = sizeof(ev.address)};
    tltcp_socket *listener = tltcp_live_link_listener(l->live);
    if (listener &&
        tltcp_local_address(listener, (struct sockaddr *)&ev.address,
                            &ev.address_len) == 0) {
        tell_address(l, "listening on", &ev, text);
    }
}

static int link_read_roster(struct link *l, tltcp_config *config) {
    char why[ROSTER_WHY_MAX];
    if (!l->at->callers[0]) {
        return TOOL_OK;
    }
    secrets_check_file(l->tool, l->at->callers);
    l->roster = roster_read(l->at->callers, why);
    if (!l->roster) {
        return tool_fail(l->tool, "%s", why);
    }
    if (roster_has_secrets(l->roster) && (config->passphrase || config->key)) {
        return tool_misuse(l->tool,
                           "%s has the passphrases or keys; give no others",
                           l->at->callers);
    }
    if (roster_has_keys(l->roster) && !config->identity.secret) {
        return tool_misuse(l->tool,
                           "%s has static keys; identity-file must name that "
                           "of the listener",
                           l->at->callers);
    }
    roster_to_config(l->roster, config);
    return TOOL_OK;
}

/* Whether the keys of the other side are known. */
static int link_check_identity(const struct link *l) {
    bool listens = l->at->at.listens;
    if (l->roster && roster_has_keys(l->roster)) {
        return -1;
    }
    return peer_options_check_identity(l->tool, &l->at->to, listens);
}

int link_open(struct link *l, char *text) {
    tltcp_config config = *l->at->to.config;
    int rc = link_read_roster(l, &config);
    text[0] = '\0';
    if (rc != TOOL_OK) {
        return rc;
    }
    rc = link_check_identity(l);
    if (rc >= 0) {
        return rc;
    }
    config.listener.on_caller = on_caller;
    config.user = l;
    rc =
        tltcp_live_link_new(&l->live, l->at->to.settings, &config, on_event, l);
    if (rc < 0) {
        return tool_fail(l->tool, "cannot listen on %s: %s", l->at->text,
                         tltcp_strerror(rc));
    }
    tell_listening(l, text);
    return TOOL_OK;
}

/* Reports the peer, for later readers of the log. */
static void tell_identity(const struct link *l, const tltcp_socket *s) {
    const uint8_t *key = tltcp_identity(s);
    char name[TLTCP_LIVE_NAME_MAX];
    char text[TLTCP_LIVE_NAME_MAX + TLTCP_STREAM_ID_MAX + 32];
    if (key && l->at->at.listens) {
        tltcp_live_options_caller_name(l->at->to.live, key, name);
        (void)snprintf(text, sizeof(text), "%s, stream \"%s\"", name,
                       tltcp_stream_id(s));
        link_say(l, "caller is", text);
    }
}

/* Two callers of one stream may be on their way at the same time. */
static void link_take(struct link *l, tltcp_socket **s) {
    const char *no =
        l->roster ? roster_enter(l->roster, tltcp_stream_id(*s)) : NULL;
    if (no) {
        (void)tltcp_reject(*s, no);
        *s = NULL;
    } else {
        (void)atomic_fetch_add(&l->served, 1);
        tell_identity(l, *s);
    }
}

int link_run(struct link *l, tltcp_socket **s, uint64_t *when) {
    int rc = 1;
    for (*s = NULL; rc == 1 && !*s;) {
        rc = tltcp_live_link_run(l->live, s, when);
        if (rc == 1) {
            link_take(l, s);
        }
    }
    if (rc >= 0) {
        return TOOL_OK;
    }
    return l->status ? l->status
                     : tool_fail(l->tool, "can no longer listen on %s: %s",
                                 l->at->text, tltcp_strerror(rc));
}

uint64_t link_watch(struct link *l) {
    tltcp_socket *listener = l->live ? tltcp_live_link_listener(l->live) : NULL;
    if (listener && !link_has_room(l)) {
        peer_turn_away(listener, link_full(l));
    }
    if (l->quiet || !listener) {
        return TLTCP_TIME_NEVER;
    }
    peer_watch(&l->watch, l->tool, listener);
    return l->watch.look;
}

nfds_t link_poll(const struct link *l, struct pollfd *fds) {
    int fd[TLTCP_LIVE_FDS];
    int n = tltcp_live_link_fds(l->live, fd);
    for (int i = 0; i < n; i++) {
        fds[i] = (struct pollfd){.fd = fd[i], .events = POLLIN};
    }
    return (nfds_t)n;
}

void link_lost(struct link *l, int error, const char *reason,
               const char *stream_id) {
    if (l->roster) {
        roster_leave(l->roster, stream_id);
    }
    if (atomic_fetch_sub(&l->served, 1) == 1) {
        (void)tltcp_live_link_lost(l->live, error, reason);
    }
}

bool link_reread(struct link *l) {
    char why[ROSTER_WHY_MAX];
    if (!l->roster) {
        return false;
    }
    if (!roster_reread(l->roster, why)) {
        link_say(l, "the list of callers stays as it was", why);
        return false;
    }
    link_say(l, "the list of callers was read again", l->at->callers);
    return true;
}

bool link_may_stay(const struct link *l, const char *stream_id) {
    return !l->roster || roster_has(l->roster, stream_id);
}

void link_close(struct link *l) {
    tltcp_live_link_free(l->live);
    l->live = NULL;
    roster_free(l->roster);
    l->roster = NULL;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Successive connections of one endpoint. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal/common/sized.h"
#include "internal/credentials/rejections.h"
#include "tltcp/live_parts.h"

#define RETRY_MIN_NS (200 * TLTCP_MS)
#define RETRY_MAX_NS (2 * TLTCP_S)

struct tltcp_live_link {
    char host[256]; /* "": every address */
    char service[32];
    bool reconnect;
    tltcp_config config;
    tltcp_live_on_event on_event;
    void *user;
    tltcp_socket *listener; /* NULL: calls */
    tltcp_socket *calling;  /* attempt in progress */
    bool stands;            /* its connection is open */
    bool over;              /* there will be no other connection */
    int error;
    uint32_t attempt;
    tltcp_time retry_at;
    tltcp_time delay;
    struct secrets_rejections rejections;
};

bool tltcp_live_is_permanent(int error, bool answered, const char *reason) {
    switch (error) {
    case TLTCP_ERR_REFUSED:
        /* a listener refuses permanently */
        return answered && strncmp(reason, "busy", 4) != 0;
    case TLTCP_ERR_INVAL:
    case TLTCP_ERR_ALGORITHM:
    case TLTCP_ERR_AUTH:
    case TLTCP_ERR_UNSUPPORTED:
    case TLTCP_ERR_VERSION:
    case TLTCP_ERR_IN_USE:
    case TLTCP_ERR_ADDRESS:
        return true;
    default:
        return false;
    }
}

static void live_link_report(tltcp_live_link *l, tltcp_live_event *ev) {
    ev->struct_size = sizeof(*ev);
    ev->now = tltcp_now();
    ev->attempt = l->attempt;
    if (l->on_event) {
        l->on_event(l->user, ev);
    }
}

static int live_link_listen(tltcp_live_link *l) {
    bool any = l->host[0] == '\0' || strcmp(l->host, "*") == 0;
    tltcp_live_event ev = {.type = TLTCP_LIVE_EVENT_LISTENING,
                           .address_len = sizeof(ev.address)};
    int rc = tltcp_listen(&l->listener, any ? NULL : l->host, l->service,
                          &l->config);
    if (rc < 0) {
        l->listener = NULL;
        return rc;
    }
    if (tltcp_local_address(l->listener, (struct sockaddr *)&ev.address,
                            &ev.address_len) < 0) {
        ev.address_len = 0;
    }
    live_link_report(l, &ev);
    return 0;
}

static bool live_link_keep(char *to, size_t size, const char *text) {
    const char *kept = text ? text : "";
    return snprintf(to, size, "%s", kept) < (int)size;
}

int tltcp_live_link_new(tltcp_live_link **out,
                        const tltcp_live_settings *settings,
                        const tltcp_config *config,
                        tltcp_live_on_event on_event, void *user) {
    tltcp_live_link *l;
    int rc = 0;
    *out = NULL;
    if (!cmn__sized_is_set(config)) {
        return TLTCP_ERR_INVAL;
    }
    l = calloc(1, sizeof(*l));
    if (l == NULL) {
        return TLTCP_ERR_NOMEM;
    }
    if (!live_link_keep(l->host, sizeof(l->host), settings->host) ||
        !live_link_keep(l->service, sizeof(l->service), settings->service)) {
        free(l);
        return TLTCP_ERR_ADDRESS;
    }
    l->reconnect = settings->reconnect;
    tltcp_config_init(&l->config);
    cmn__sized_take(&l->config, sizeof(l->config), config);
    l->on_event = on_event;
    l->user = user;
    l->delay = RETRY_MIN_NS;
    if (settings->listens) {
        rc = live_link_listen(l);
    }
    if (rc < 0) {
        free(l);
        return rc;
    }
    *out = l;
    return 0;
}

void tltcp_live_link_free(tltcp_live_link *l) {
    if (l) {
        (void)tltcp_close(l->calling, 0);
        (void)tltcp_close(l->listener, 0);
        free(l);
    }
}

static void live_link_connected(tltcp_live_link *l, tltcp_socket *s) {
    tltcp_live_event ev = {.type = TLTCP_LIVE_EVENT_CONNECTED,
                           .address_len = sizeof(ev.address)};
    if (tltcp_peer_address(s, (struct sockaddr *)&ev.address, &ev.address_len) <
        0) {
        ev.address_len = 0;
    }
    l->attempt = 0;
    l->delay = RETRY_MIN_NS;
    live_link_report(l, &ev);
}

static void live_link_pause(tltcp_live_link *l) {
    l->retry_at = tltcp_now() + l->delay;
    l->delay = 2 * l->delay < RETRY_MAX_NS ? 2 * l->delay : RETRY_MAX_NS;
}

static bool live_link_was_answered(const tltcp_socket *s) {
    tltcp_stats st;
    tltcp_stats_init(&st);
    return s && tltcp_get_stats(s, &st) == 0 && st.packets_received > 0;
}

/* Returns 0 if it will try again. */
static int live_link_failed(tltcp_live_link *l, int error) {
    tltcp_live_event ev = {.type = TLTCP_LIVE_EVENT_REFUSED, .error = error};
    ev.answered = live_link_was_answered(l->calling);
    if (l->calling) {
        (void)tltcp_socket_error(l->calling, ev.reason);
    } else {
        (void)tltcp_config_check(&l->config, ev.reason);
    }
    (void)tltcp_close(l->calling, 0);
    l->calling = NULL;
    l->over =
        !l->reconnect || tltcp_live_is_permanent(error, ev.answered, ev.reason);
    l->error = error;
    ev.final = l->over;
    live_link_pause(l);
    live_link_report(l, &ev);
    return l->over ? error : 0;
}

static int live_link_begin_call(tltcp_live_link *l) {
    tltcp_live_event ev = {.type = TLTCP_LIVE_EVENT_CONNECTING};
    l->attempt++;
    live_link_report(l, &ev);
    return tltcp_connect(&l->calling, l->host, l->service, &l->config, 0);
}

static int live_link_call(tltcp_live_link *l, tltcp_socket **s) {
    int rc;
    if (l->calling == NULL) {
        if (l->stands || tltcp_now() < l->retry_at) {
            return 0;
        }
        rc = live_link_begin_call(l);
        if (rc < 0) {
            l->calling = NULL;
            return live_link_failed(l, rc);
        }
    }
    rc = tltcp_wait_connected(l->calling, 0);
    if (rc < 0) {
        return rc == TLTCP_ERR_AGAIN ? 0 : live_link_failed(l, rc);
    }
    *s = l->calling;
    l->calling = NULL;
    l->stands = true;
    live_link_connected(l, *s);
    return 1;
}

static int live_link_accept(tltcp_live_link *l, tltcp_socket **s) {
    int rc = tltcp_accept(l->listener, s, 0);
    if (rc == 0) {
        live_link_connected(l, *s);
        return 1;
    }
    return rc == TLTCP_ERR_AGAIN ? 0 : rc;
}

/* Returns when to look again. */
static tltcp_time live_link_tell_rejected(tltcp_live_link *l) {
    tltcp_live_event ev = {.type = TLTCP_LIVE_EVENT_REJECTED,
                           .address_len = sizeof(ev.address)};
    tltcp_time now = tltcp_now();
    tltcp_stats st;
    tltcp_stats_init(&st);
    if (secrets_rejections_look(&l->rejections, now) &&
        tltcp_rejected_address(l->listener, (struct sockaddr *)&ev.address,
                               &ev.address_len) == 0 &&
        tltcp_get_stats(l->listener, &st) == 0 &&
        secrets_rejections_are_news(&l->rejections, st.callers_rejected, now)) {
        ev.number = (uint32_t)st.callers_rejected;
        (void)snprintf(ev.reason, sizeof(ev.reason), "%s", REJECTIONS_ADVICE);
        live_link_report(l, &ev);
    }
    return l->rejections.look;
}

int tltcp_live_link_run(tltcp_live_link *l, tltcp_socket **s,
                        tltcp_time *when) {
    bool waits;
    int rc;
    *s = NULL;
    *when = TLTCP_TIME_NEVER;
    if (l->over) {
        return l->error ? l->error : TLTCP_ERR_CLOSED;
    }
    rc = l->listener ? live_link_accept(l, s) : live_link_call(l, s);
    waits = !l->listener && !l->calling && !l->stands;
    *when = rc == 0 && waits ? l->retry_at : TLTCP_TIME_NEVER;
    if (rc == 0 && l->listener && l->on_event) {
        *when = live_link_tell_rejected(l);
    }
    return rc;
}

int tltcp_live_link_fds(const tltcp_live_link *l, int *fds) {
    if (l->listener) {
        fds[0] = tltcp_fd(l->listener);
    } else if (l->calling) {
        fds[0] = tltcp_writable_fd(l->calling);
    }
    return l->listener || l->calling ? 1 : 0;
}

bool tltcp_live_link_lost(tltcp_live_link *l, int error, const char *reason) {
    l->stands = false;
    l->error = error;
    l->over = !l->reconnect ||
              (!l->listener && tltcp_live_is_permanent(error, true, reason));
    live_link_pause(l);
    return !l->over;
}

tltcp_socket *tltcp_live_link_listener(const tltcp_live_link *l) {
    return l->listener;
}

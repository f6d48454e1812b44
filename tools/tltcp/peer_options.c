/* SPDX-License-Identifier: MPL-2.0 */
/* Connection options of all tools. */
#include "tools/tltcp/peer_options.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/common/address.h"
#include "tools/common/tool.h"

bool peer_options_init(struct peer_options *o) {
    o->live = tltcp_live_options_new();
    if (!o->live) {
        return false;
    }
    o->config = tltcp_live_options_config(o->live);
    o->settings = tltcp_live_options_settings(o->live);
    return true;
}

/* Remembers a secret file that every user can read. */
static void note_secret(struct peer_options *o, const char *name,
                        const char *path) {
    size_t len = strlen(name);
    struct stat st;
    if (len > 5 && strcmp(name + len - 5, "-file") == 0 &&
        stat(path, &st) == 0 && (st.st_mode & S_IROTH) != 0) {
        (void)snprintf(o->readable, sizeof(o->readable), "%s", path);
    }
}

bool peer_option(struct peer_options *o, const char *name, const char *text,
                 const char **wrong) {
    static char why[TLTCP_LIVE_WHY_MAX];
    int rc;
    if (strcmp(name, "deadline-mode") == 0 && strcmp(text, "pts") != 0 &&
        strcmp(text, "gop") != 0) {
        *wrong = "pts or gop";
        return true;
    }
    rc = tltcp_live_options_set(o->live, name, text, why);
    if (rc == 0) {
        note_secret(o, name, text);
    }
    *wrong = rc < 0 ? why : NULL;
    return rc != TLTCP_ERR_UNSUPPORTED;
}

int url_refuse(char *why, const char *what, const char *detail) {
    (void)snprintf(why, TLTCP_LIVE_WHY_MAX, "%s%s", what, detail);
    return TLTCP_ERR_INVAL;
}

int peer_key(struct peer_options *o, const char *key, const char *value,
             const char *keys, char *why) {
    static const char *const others[] = {"qlog", "qlog-dir", "recovery", "mode",
                                         "auto-reconnect"};
    const char *wrong = NULL;
    bool known = true;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        known = known && strcmp(others[i], key) != 0;
    }
    if (!known || !peer_option(o, key, value, &wrong)) {
        return url_refuse(why, "no such key; valid keys are ", keys);
    }
    return wrong ? url_refuse(why, "must be ", wrong) : 0;
}

int peer_options_check(const char *tool, struct peer_options *o) {
    char why[TLTCP_LIVE_WHY_MAX];
    int rc = tltcp_live_options_check(o->live, why);
    if (o->readable[0] != '\0') {
        secrets_check_file(tool, o->readable);
    }
    if (rc == TLTCP_ERR_IO) {
        return tool_fail(tool, "%s", why);
    }
    return rc < 0 ? tool_misuse(tool, "%s", why) : -1;
}

int peer_options_check_identity(const char *tool, const struct peer_options *o,
                                bool listens) {
    const tltcp_identity_options *id = &o->config->identity;
    if (id->secret && listens && !id->callers[0]) {
        return tool_misuse(tool,
                           "with identity-file, caller-keys must name a file "
                           "that lists the callers to accept");
    }
    if (id->secret && !listens && !id->listener) {
        return tool_misuse(tool, "with identity-file, listener-key must be the "
                                 "listener's public key");
    }
    return -1;
}

bool peer_options_use_tcp(const struct peer_options *o) {
    return o->config->io.transport != TLTCP_TRANSPORT_UDP;
}

void peer_turn_away(tltcp_socket *listener, const char *reason) {
    tltcp_socket *caller = NULL;
    while (tltcp_accept(listener, &caller, 0) == 0) {
        (void)tltcp_reject(caller, reason);
    }
}

void peer_watch(struct secrets_rejections *r, const char *tool,
                const tltcp_socket *listener) {
    struct address from = {.len = sizeof(from.sa)};
    char text[ADDRESS_TEXT_MAX];
    tltcp_stats st;
    tltcp_stats_init(&st);
    if (listener && secrets_look(r) &&
        tltcp_rejected_address(listener, (struct sockaddr *)&from.sa,
                               &from.len) == 0 &&
        tltcp_get_stats(listener, &st) == 0) {
        address_text(&from, text);
        secrets_tell(r, tool, st.callers_rejected, text);
    }
}

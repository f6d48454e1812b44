/* SPDX-License-Identifier: MPL-2.0 */
/* A node as the command line describes it. */
#include "tools/saratoga/node.h"

#include <stdio.h>
#include <string.h>

#include "tools/common/tool.h"
#include "tools/saratoga/url.h"

#define TOOL "saratoga"

bool saratoga_place(const char *option, const char *place,
                    struct hostport *out) {
    char text[320];
    const char *bracket = strrchr(place, ']');
    const char *why;
    (void)snprintf(
        text, sizeof(text), "%s%s", place,
        strchr(bracket ? bracket : place, ':') ? "" : ":" SARATOGA_URL_PORT);
    why = address_split(text, out);
    if (why) {
        (void)tool_misuse(TOOL, "%s %s: %s", option, place, why);
    }
    return !why;
}

/* The address may be empty. */
static bool take_bind(const struct saratoga_args *a, saratoga_node_config *c,
                      struct hostport *bind) {
    if (!a->bind) {
        return true;
    }
    if (!saratoga_place("--bind", a->bind, bind)) {
        return false;
    }
    c->host = bind->host[0] && strcmp(bind->host, "*") != 0 ? bind->host : NULL;
    c->service = bind->port;
    return true;
}

bool saratoga_is_secured(const struct saratoga_args *a) {
    return a->secrets.passphrase || a->secrets.key;
}

bool tool_node_config(const struct saratoga_args *a, saratoga_node_config *c,
                      saratoga_config *engine, struct hostport *bind) {
    saratoga_node_config_init(c);
    saratoga_config_init(engine);
    c->engine = engine;
    engine->transfer = &a->transfer;
    engine->sha256 = true;
    engine->lite = a->transfer.lite;
    engine->update_check = a->update;
    engine->auth_key = a->key_len > 0 ? a->key : NULL;
    engine->auth_key_len = a->key_len;
    engine->auth_files = a->auth_files;
    c->passphrase = a->secrets.passphrase;
    c->key = a->secrets.key;
    c->key_len = c->key ? sizeof(a->secrets.bytes[0]) : 0;
    if (saratoga_is_secured(a)) {
        c->more_passphrases = a->secrets.more_passphrases;
        c->more_keys = a->secrets.more_keys;
    }
    if (a->mtu != 0) {
        engine->mtu = a->mtu;
    }
    engine->uplink_bps = a->uplink_bps;
    if (a->transfer.well_known_port) {
        c->service = SARATOGA_URL_PORT;
    }
    return take_bind(a, c, bind);
}

int tool_node_open(saratoga_node **node, const saratoga_node_config *c) {
    char why[SARATOGA_NODE_TEXT];
    int rc = saratoga_node_open(node, c, why);
    bool taken = strstr(why, "already in use") != NULL;
    return rc == 0 ? TOOL_OK
                   : tool_fail(TOOL, "%s%s", why,
                               taken ? "; another saratoga may be running; "
                                       "--bind ADDR:PORT selects another port"
                                     : "");
}

void saratoga_tell_mtu(const struct saratoga_args *a, saratoga_node *node,
                       bool *told, struct saratoga_bar *bar) {
    saratoga_config defaults;
    saratoga_engine_stats st;
    saratoga_engine_stats_init(&st);
    if (!*told && saratoga_node_get_engine_stats(node, &st) == 0 &&
        st.too_big > 0) {
        saratoga_config_init(&defaults);
        if (bar) {
            saratoga_bar_clear(bar);
        }
        (void)tool_fail(TOOL,
                        "packets of %u bytes are larger than the local link "
                        "accepts: choose a smaller --mtu",
                        a->mtu != 0 ? a->mtu : defaults.mtu);
        *told = true;
    }
}

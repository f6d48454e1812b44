/* SPDX-License-Identifier: MPL-2.0 */
/* Parses tltcp:// URLs. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "libtltcp/live/options.h"

#define URL_MAX 2048

int tltcp__live_say(char *why, const char *format, ...) {
    char unread[TLTCP_LIVE_WHY_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why ? why : unread, TLTCP_LIVE_WHY_MAX, format, args);
    va_end(args);
    return TLTCP_ERR_INVAL;
}

static int url_hex(char c) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) % 16 : -1;
}

/* Decodes percent-encoding in place (RFC 3986, section 2.1). */
static bool url_unescape(char *text) {
    char *out = text;
    for (; *text; text++) {
        int high;
        int low;
        if (*text != '%') {
            *out++ = *text;
            continue;
        }
        high = url_hex(text[1]);
        low = high < 0 ? -1 : url_hex(text[2]);
        if (low < 0 || high * 16 + low == 0) {
            return false;
        }
        *out++ = (char)(high * 16 + low);
        text += 2;
    }
    *out = '\0';
    return true;
}

/* ---- Host and port ---- */

static int url_take_port(tltcp_live_url *u, const char *port,
                         const char *scheme, char *why) {
    size_t digits = strspn(port, "0123456789");
    if (digits == 0 || digits >= sizeof(u->port) || port[digits] != '\0' ||
        strtoul(port, NULL, 10) > 65535) {
        return tltcp__live_say(why,
                               "the port must be a number from 0 to 65535; "
                               "write %sHOST:PORT",
                               scheme);
    }
    memcpy(u->port, port, digits + 1);
    return 0;
}

/* The zone of a link-local address may be escaped (RFC 6874). */
static int url_take_host(tltcp_live_url *u, const char *host, char *why) {
    const char *zone = strstr(host, "%25");
    int len;
    zone = zone && zone[3] != '\0' ? zone : NULL; /* 25 may be the zone */
    len = zone ? (int)(zone + 1 - host) : (int)strlen(host);
    if (snprintf(u->host, sizeof(u->host), "%.*s%s", len, host,
                 zone ? zone + 3 : "") >= (int)sizeof(u->host)) {
        return tltcp__live_say(why, "the host name is too long");
    }
    u->listens = u->host[0] == '\0';
    return 0;
}

static int url_take_authority(tltcp_live_url *u, char *text, const char *scheme,
                              char *why) {
    char *colon = strrchr(text, ':');
    char *host = text;
    size_t len;
    int rc;
    if (strchr(text, '@')) {
        return tltcp__live_say(why, "a URL has no user name; write %sHOST:PORT",
                               scheme);
    }
    if (colon == NULL || (text[0] == '[' && strchr(colon, ']'))) {
        return tltcp__live_say(why, "the port is missing; write %sHOST:PORT",
                               scheme);
    }
    len = (size_t)(colon - text);
    *colon = '\0';
    if (text[0] == '[' && len > 2 && text[len - 1] == ']') {
        text[len - 1] = '\0';
        host++;
    } else if (text[0] == '[' || strchr(text, ':')) {
        return tltcp__live_say(why,
                               "an IPv6 address is written as [ADDRESS]:PORT");
    }
    rc = url_take_port(u, colon + 1, scheme, why);
    return rc < 0 ? rc : url_take_host(u, host, why);
}

/* ---- Keys ---- */

static int url_take_key(char *word, tltcp_live_on_key on_key, void *user,
                        char *why) {
    char wrong[TLTCP_LIVE_WHY_MAX] = "there are no keys";
    char *value = strchr(word, '=');
    int rc = TLTCP_ERR_INVAL;
    if (value == NULL) {
        return tltcp__live_say(why, "'%.80s': write KEY=VALUE", word);
    }
    *value++ = '\0';
    if (!url_unescape(word) || !url_unescape(value)) {
        return tltcp__live_say(
            why, "'%.80s' is badly escaped; write %% as %%25, & as %%26", word);
    }
    if (on_key) {
        rc = on_key(user, word, value, wrong);
    }
    if (rc < 0) {
        bool secret = strcmp(word, "passphrase") == 0;
        (void)tltcp__live_say(why, "%.80s=%.80s: %s", word,
                              secret ? "***" : value, wrong);
    }
    return rc;
}

static int url_take_query(char *query, tltcp_live_on_key on_key, void *user,
                          char *why) {
    int rc = 0;
    while (query && rc == 0) {
        char *next = strchr(query, '&');
        if (next) {
            *next++ = '\0';
        }
        rc = *query ? url_take_key(query, on_key, user, why) : 0;
        query = next;
    }
    return rc;
}

/* What follows the scheme; NULL: another scheme. `tltcp+tcp://` is `tltcp://`
 * with the key transport=tcp. */
static const char *url_after_scheme(const char *text, const char *scheme,
                                    bool *over_tcp) {
    static const char udp[] = "tltcp://";
    static const char tcp[] = "tltcp+tcp://";
    *over_tcp = text && strcmp(scheme, udp) == 0 &&
                strncasecmp(text, tcp, sizeof(tcp) - 1) == 0;
    if (*over_tcp) {
        return text + sizeof(tcp) - 1;
    }
    return text && strncasecmp(text, scheme, strlen(scheme)) == 0
               ? text + strlen(scheme)
               : NULL;
}

static bool url_is_group(const char *host) {
    char address[INET6_ADDRSTRLEN];
    struct in_addr in;
    struct in6_addr in6;
    (void)snprintf(address, sizeof(address), "%.*s", (int)strcspn(host, "%"),
                   host);
    return (inet_pton(AF_INET, address, &in) == 1 &&
            IN_MULTICAST(ntohl(in.s_addr))) ||
           (inet_pton(AF_INET6, address, &in6) == 1 &&
            IN6_IS_ADDR_MULTICAST(&in6));
}

int tltcp_live_url_parse(tltcp_live_url *u, const char *text,
                         const char *scheme, tltcp_live_on_key on_key,
                         void *user, char *why) {
    char copy[URL_MAX];
    char transport[] = "transport=tcp";
    char *query;
    char *slash;
    bool over_tcp;
    int rc;
    *u = (tltcp_live_url){.host = ""};
    text = url_after_scheme(text, scheme, &over_tcp);
    if (text == NULL) {
        return tltcp__live_say(why, "a URL must begin with %s", scheme);
    }
    if (strlen(text) >= sizeof(copy)) {
        return tltcp__live_say(why, "a URL must be shorter than %d bytes",
                               URL_MAX);
    }
    memcpy(copy, text, strlen(text) + 1);
    query = strchr(copy, '?');
    if (query) {
        *query++ = '\0';
    }
    slash = strchr(copy, '/');
    if (slash && slash[1] != '\0') {
        return tltcp__live_say(why, "a URL has no path; what follows the port "
                                    "begins with ?");
    }
    if (slash) {
        *slash = '\0';
    }
    rc = url_take_authority(u, copy, scheme, why);
    if (rc == 0 && strcmp(scheme, "tltcp://") == 0 && url_is_group(u->host)) {
        return tltcp__live_say(why,
                               "%.80s is a multicast group, but a connection "
                               "has one peer; to send to many, listen "
                               "(?mode=listener) and have them call",
                               u->host);
    }
    if (rc == 0 && over_tcp) {
        rc = url_take_key(transport, on_key, user, why);
    }
    return rc < 0 ? rc : url_take_query(query, on_key, user, why);
}

int tltcp_live_url_check(const tltcp_live_url *u, char *why) {
    if (!u->listens && u->host[0] == '\0') {
        return tltcp__live_say(why, "the host to call is missing");
    }
    if (!u->listens && strtoul(u->port, NULL, 10) == 0) {
        return tltcp__live_say(why,
                               "the port to call cannot be 0; to listen there, "
                               "add ?mode=listener");
    }
    return 0;
}

void tltcp_live_url_hide(char *text) {
    static const char key[] = "passphrase=";
    char *at = text;
    while ((at = strstr(at, key)) != NULL) {
        at += sizeof(key) - 1;
        memset(at, '*', strcspn(at, "&"));
    }
}

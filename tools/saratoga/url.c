/* SPDX-License-Identifier: MPL-2.0 */
/* saratoga://HOST[:PORT]/PATH taken apart. */
#include "tools/saratoga/url.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SCHEME "saratoga://"
#define AUTHORITY_MAX 300

bool saratoga_url_is(const char *text) {
    return strncmp(text, SCHEME, strlen(SCHEME)) == 0;
}

static int hex(char c) {
    if (isdigit((unsigned char)c)) {
        return c - '0';
    }
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes percent-encoding (RFC 3986, section 2.1). */
static const char *decode(const char *text, char *out, size_t room) {
    for (; *text != '\0'; text++) {
        char c = *text;

        if (c == '%') {
            if (hex(text[1]) < 0 || hex(text[2]) < 0) {
                return "a percent sign must be followed by two hexadecimal "
                       "digits";
            }
            c = (char)(hex(text[1]) * 16 + hex(text[2]));
            text += 2;
        }
        if (c == '\0') {
            return "a path must not contain a zero octet";
        }
        if (room-- <= 1) {
            return "the path is longer than 1023 octets";
        }
        *out++ = c;
    }
    *out = '\0';
    return NULL;
}

/* Whether HOST[:PORT] contains a port. */
static bool has_port(const char *authority) {
    const char *bracket = strchr(authority, ']');

    return strchr(bracket ? bracket : authority, ':') != NULL;
}

static const char *url_split(const char *text, struct saratoga_url *u) {
    char authority[AUTHORITY_MAX];
    size_t len = strcspn(text, "/");
    const char *wrong;

    if (len + sizeof(SARATOGA_URL_PORT) + 1 > sizeof(authority)) {
        return "the host name is too long";
    }
    memcpy(authority, text, len);
    authority[len] = '\0';
    if (strchr(authority, '@')) {
        return "a URL has no user or password; use --passphrase-file or "
               "--auth-key";
    }
    if (!has_port(authority)) {
        (void)snprintf(authority + len, sizeof(authority) - len,
                       ":" SARATOGA_URL_PORT);
    }
    wrong = address_split(authority, &u->at);
    if (wrong) {
        return wrong;
    }
    if (u->at.host[0] == '\0') {
        return "the host is missing; write " SCHEME "HOST/PATH";
    }
    if (u->at.port[strspn(u->at.port, "0")] == '\0') {
        return "the port cannot be 0";
    }
    text += len;
    text += strspn(text, "/");
    return decode(text, u->path, sizeof(u->path));
}

bool saratoga_url_parse(const char *text, struct saratoga_url *u, char *why) {
    const char *wrong = "must begin with " SCHEME;

    memset(u, 0, sizeof(*u));
    if (saratoga_url_is(text)) {
        wrong = url_split(text + strlen(SCHEME), u);
    }
    if (wrong) {
        (void)snprintf(why, SARATOGA_URL_WHY, "%s", wrong);
    }
    return wrong == NULL;
}

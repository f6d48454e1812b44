/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/tltcp/url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define URL_MAX 2048

static int hex(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* RFC 3986, 2.1, in place. */
static bool decode(char *text) {
    char *out = text;
    for (; *text; text++) {
        if (*text != '%') {
            *out++ = *text;
            continue;
        }
        if (hex(text[1]) < 0 || hex(text[2]) < 0) {
            return false;
        }
        *out = (char)(hex(text[1]) * 16 + hex(text[2]));
        if (*out++ == '\0') {
            return false;
        }
        text += 2;
    }
    *out = '\0';
    return true;
}

static bool parse_query(char *query, url_key take, void *user, char *why) {
    char *word;
    while ((word = strsep(&query, "&")) != NULL) {
        char *value = strchr(word, '=');
        const char *wrong;
        if (!value) {
            (void)snprintf(why, URL_WHY_MAX, "'%.80s': write KEY=VALUE", word);
            return false;
        }
        *value++ = '\0';
        if (!decode(word) || !decode(value)) {
            (void)snprintf(why, URL_WHY_MAX, "'%.80s' is badly escaped", word);
            return false;
        }
        wrong = take(user, word, value);
        if (wrong) {
            bool secret = strcmp(word, "passphrase") == 0;
            (void)snprintf(why, URL_WHY_MAX, "%.80s=%.80s: %s", word,
                           secret ? "***" : value, wrong);
            return false;
        }
    }
    return true;
}

void url_hide_secrets(char *text) {
    static const char key[] = "passphrase=";
    char *at = text;
    while ((at = strstr(at, key)) != NULL) {
        at += sizeof(key) - 1;
        memset(at, '*', strcspn(at, "&"));
    }
}

bool url_parse(const char *text, const char *scheme, bool listen,
               struct hostport *hp, url_key take, void *user, char *why) {
    char copy[URL_MAX];
    char *query;
    char *slash;
    const char *wrong;
    if (strncmp(text, scheme, strlen(scheme)) != 0) {
        (void)snprintf(why, URL_WHY_MAX, "must begin with %s", scheme);
        return false;
    }
    text += strlen(scheme);
    if (strlen(text) >= sizeof(copy)) {
        (void)snprintf(why, URL_WHY_MAX, "too long");
        return false;
    }
    (void)snprintf(copy, sizeof(copy), "%s", text);
    query = strchr(copy, '?');
    if (query) {
        *query++ = '\0';
    }
    slash = strchr(copy, '/');
    if (slash) {
        if (slash[1] != '\0') {
            (void)snprintf(why, URL_WHY_MAX,
                           "has no path; what follows the port begins with ?");
            return false;
        }
        *slash = '\0';
    }
    wrong = address_split(copy, hp);
    if (!wrong && !listen && hp->host[0] == '\0') {
        (void)snprintf(why, URL_WHY_MAX,
                       "the host is missing; write %sHOST:PORT", scheme);
        return false;
    }
    if (wrong) {
        (void)snprintf(why, URL_WHY_MAX, "%s", wrong);
        return false;
    }
    return !query || parse_query(query, take, user, why);
}

/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtltcp/live/options.h"

#define SCHEME "tltcp://"
#define URL_MAX 2048

static int live_hex(char c) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) % 16 : -1;
}

/* RFC 3986, 2.1, in place. */
static bool live_unescape(char *text) {
    char *out = text;
    for (; *text; text++) {
        int high;
        int low;
        if (*text != '%') {
            *out++ = *text;
            continue;
        }
        high = live_hex(text[1]);
        low = high < 0 ? -1 : live_hex(text[2]);
        if (low < 0 || high * 16 + low == 0) {
            return false;
        }
        *out++ = (char)(high * 16 + low);
        text += 2;
    }
    *out = '\0';
    return true;
}

static int live_take_key(tltcp_live_options *o, char *word, bool *has_mode,
                         char *why) {
    char wrong[TLTCP_LIVE_WHY_MAX] = "";
    char *value = strchr(word, '=');
    int rc;
    if (value == NULL) {
        return tltcp__live_say(why, "'%.80s': write KEY=VALUE", word);
    }
    *value++ = '\0';
    if (!live_unescape(word) || !live_unescape(value)) {
        return tltcp__live_say(why, "'%.80s' is badly escaped", word);
    }
    rc = tltcp_live_options_set(o, word, value, wrong);
    *has_mode = *has_mode || strcmp(word, "mode") == 0;
    if (rc == TLTCP_ERR_UNSUPPORTED) {
        return tltcp__live_say(why, "%.80s: no such key", word);
    }
    if (rc < 0) {
        bool secret = strcmp(word, "passphrase") == 0;
        return tltcp__live_say(why, "%.80s=%.80s: must be %s", word,
                               secret ? "***" : value, wrong);
    }
    return 0;
}

static int live_take_query(tltcp_live_options *o, char *query, bool *has_mode,
                           char *why) {
    int rc = 0;
    while (query && rc == 0) {
        char *next = strchr(query, '&');
        if (next) {
            *next++ = '\0';
        }
        rc = live_take_key(o, query, has_mode, why);
        query = next;
    }
    return rc;
}

static int live_take_port(const char *port, char *why) {
    char *end;
    unsigned long n = strtoul(port, &end, 10);
    if (*port < '0' || *port > '9' || *end != '\0' || n > 65535) {
        return tltcp__live_say(why,
                               "the port must be a number from 0 to 65535; "
                               "write " SCHEME "HOST:PORT");
    }
    return 0;
}

static int live_take_authority(tltcp_live_options *o, char *text, char *why) {
    char *colon = strrchr(text, ':');
    char *host = text;
    size_t len;
    if (colon == NULL || (text[0] == '[' && strchr(colon, ']'))) {
        return tltcp__live_say(why, "the port is missing; write " SCHEME
                                    "HOST:PORT");
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
    if (live_take_port(colon + 1, why) < 0) {
        return TLTCP_ERR_INVAL;
    }
    return tltcp__live_options_endpoint(o, host, colon + 1, why);
}

static int live_check_ends(tltcp_live_options *o, bool has_mode, char *why) {
    tltcp_live_settings *s = tltcp_live_options_settings(o);
    s->listens = has_mode ? s->listens : s->host == NULL;
    if (!s->listens && s->host == NULL) {
        return tltcp__live_say(why, "the host to call is missing");
    }
    if (!s->listens && strtoul(s->service, NULL, 10) == 0) {
        return tltcp__live_say(why,
                               "the port to call cannot be 0; to listen there, "
                               "add ?mode=listener");
    }
    return 0;
}

int tltcp_live_options_set_url(tltcp_live_options *o, const char *url,
                               char *why) {
    char copy[URL_MAX];
    char *query;
    char *slash;
    bool has_mode = false;
    int rc;
    if (url == NULL || strncmp(url, SCHEME, strlen(SCHEME)) != 0) {
        return tltcp__live_say(why, "a URL must begin with " SCHEME);
    }
    url += strlen(SCHEME);
    if (strlen(url) >= sizeof(copy)) {
        return tltcp__live_say(why, "the URL is too long");
    }
    memcpy(copy, url, strlen(url) + 1);
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
    rc = live_take_authority(o, copy, why);
    rc = rc < 0 ? rc : live_take_query(o, query, &has_mode, why);
    return rc < 0 ? rc : live_check_ends(o, has_mode, why);
}

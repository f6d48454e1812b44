/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/saratoga/url.h
 * @brief saratoga://HOST[:PORT]/PATH taken apart.
 */
#ifndef TOOLS_SARATOGA_URL_H
#define TOOLS_SARATOGA_URL_H

#include <stdbool.h>

#include "tools/common/address.h"

/** The port when none is given. */
#define SARATOGA_URL_PORT "7542"
/** Room for a path, as on the wire. */
#define SARATOGA_URL_PATH 1024
/** Room for the sentence that says what is wrong. */
#define SARATOGA_URL_WHY 200

/** @brief A place at a peer. */
struct saratoga_url {
    struct hostport at;           /**< port 7542 when none was given */
    char path[SARATOGA_URL_PATH]; /**< without the first slash; may be "" */
};

/** @brief Whether a word is meant as such a URL. @param text  word */
bool saratoga_url_is(const char *text);

/**
 * @brief Takes a URL apart.
 * @param text      as typed; %XX in the path is decoded (RFC 3986)
 * @param[out] u    its parts
 * @param[out] why  SARATOGA_URL_WHY bytes: what is wrong
 */
bool saratoga_url_parse(const char *text, struct saratoga_url *u, char *why);

#endif /* TOOLS_SARATOGA_URL_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/url.h
 * @brief tltcp://HOST:PORT?latency=200&streamid=cam1
 */
#ifndef TOOLS_URL_H
#define TOOLS_URL_H

#include "tools/common/address.h"

/** Room for a complaint. */
#define URL_WHY_MAX 256

/** @brief Called for each KEY=VALUE of the query, both decoded.
 * @return NULL, or what is wrong with it */
typedef const char *(*url_key)(void *user, const char *key, const char *value);

/**
 * @brief Takes a URL apart.
 * @param text       as typed
 * @param scheme     such as "tltcp://"
 * @param listen     the host may be missing
 * @param[out] hp    host and port
 * @param take       takes the query
 * @param user       for @p take
 * @param[out] why   URL_WHY_MAX bytes: what is wrong
 * @return true when understood
 */
bool url_parse(const char *text, const char *scheme, bool listen,
               struct hostport *hp, url_key take, void *user, char *why);

/** @brief Overwrites passphrases in a URL, so that neither messages nor lists
 * of processes show them. @param text  as typed; understood or not */
void url_hide_secrets(char *text);

#endif /* TOOLS_URL_H */

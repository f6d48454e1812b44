/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/common/address.h
 * @brief HOST:PORT and [HOST]:PORT as text, and socket addresses as text.
 */
#ifndef TOOLS_ADDRESS_H
#define TOOLS_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/** Room for any address as text. */
#define ADDRESS_TEXT_MAX 80

/** @brief A socket address with its length. */
struct address {
    struct sockaddr_storage sa; /**< the address */
    socklen_t len;              /**< bytes of it in use */
};

/** @brief Host and port, still as text. */
struct hostport {
    char host[256]; /**< "" when none was given; no brackets */
    char port[32];  /**< digits */
};

/**
 * @brief Splits HOST:PORT.
 * @param text       as typed
 * @param[out] hp    both parts
 * @return NULL, or a description of the error
 */
const char *address_split(const char *text, struct hostport *hp);

/**
 * @brief Finds the UDP address of a host and port.
 * @param hp         both parts
 * @param passive    an empty host means all local addresses
 * @param[out] a     the address
 * @return NULL, or a description of the error
 */
const char *address_resolve(const struct hostport *hp, bool passive,
                            struct address *a);

/** @brief HOST:PORT of an address. @param a  address @param[out] text
 * ADDRESS_TEXT_MAX bytes */
void address_text(const struct address *a, char *text);

/** @brief Whether two addresses are equal. @param a  one @param b  other */
bool address_equal(const struct address *a, const struct address *b);

#endif /* TOOLS_ADDRESS_H */

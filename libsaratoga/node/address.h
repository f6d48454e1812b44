/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_ADDRESS_H
#define LIBSARATOGA_NODE_ADDRESS_H

#include <stdbool.h>

#include "internal/net/route.h"

/* Resolves a name; blocks.  Returns 0 or UV_E... */
int saratoga__resolve(const char *host, const char *service, bool passive,
                      net__addr *a);
/* HOST:PORT into SARATOGA_NODE_ADDRESS bytes. */
void saratoga__address_text(const net__addr *a, char *text);
bool saratoga__ip_is_multicast(const struct in6_addr *ip);
bool saratoga__is_multicast(const net__addr *a);
/* Same address and port. */
bool saratoga__address_equal(const net__addr *a, const net__addr *b);

#endif /* LIBSARATOGA_NODE_ADDRESS_H */

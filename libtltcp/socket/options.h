/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_OPTIONS_H
#define TLTCP_SOCKET_OPTIONS_H

#include <tltcp/config.h>

#include "internal/net/udp.h"

/* Converts the application's options for the driver. */

/* Copies an application's config, which may be of another size or NULL. Returns
 * 0 or TLTCP_ERR_INVAL. */
int tltcp__options_copy(tltcp_config *own, const tltcp_config *c);

/* Turns host and service into addresses, best first; free(*list).  `passive`:
 * for binding.  Returns 0, TLTCP_ERR_ADDRESS or TLTCP_ERR_NOMEM. */
int tltcp__options_resolve(net__addr **list, size_t *count, const char *host,
                           const char *service, bool passive);

#endif /* TLTCP_SOCKET_OPTIONS_H */

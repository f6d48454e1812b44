/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_ADDRESS_H
#define TLTCP_SOCKET_ADDRESS_H

#include "libtltcp/socket/state.h"

/* Keeps the address of a caller for tltcp_rejected_address() if the reply
 * rejects it. The caller holds the mutex of the port's thread. */
void tltcp__note_reply(struct tltcp__port *port, const tltcp_dispatch *d,
                       const net__addr *to);

#endif /* TLTCP_SOCKET_ADDRESS_H */

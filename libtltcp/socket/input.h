/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TLTCP_SOCKET_INPUT_H
#define TLTCP_SOCKET_INPUT_H

#include "internal/net/udp.h"

/* Callbacks of a port's UDP socket: pass datagrams to the engines. */
extern const net__udp_ops tltcp__input_ops;

#endif /* TLTCP_SOCKET_INPUT_H */

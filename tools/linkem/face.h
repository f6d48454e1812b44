/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/linkem/face.h
 * @brief What the link's ends look like to the programs beside it: UDP sockets
 * or network interfaces.
 */
#ifndef TOOLS_LINKEM_FACE_H
#define TOOLS_LINKEM_FACE_H

#include <poll.h>

#include "tools/linkem/emulator.h"

/** @brief A way to take packets from programs and to hand them on. */
struct face {
    void *impl; /**< handed to the functions */
    /** Fills in what to poll for; returns how many, at most @p max. */
    size_t (*fds)(void *impl, struct pollfd *fds, size_t max);
    /** Offers all that has come to the emulator. */
    void (*receive)(void *impl, const struct pollfd *fds, size_t n,
                    struct emulator *em);
    /** Hands a packet on at the far end of a direction. */
    void (*deliver)(void *impl, int direction, const struct sim_packet *p);
    /** Adds its own statistics. */
    void (*report)(void *impl, json_t *json);
    void (*free)(void *impl);
};

/** @brief UDP sockets. @return TOOL_OK or an exit status, said why */
int face_relay(struct face *f, const struct linkem_options *o);

/** @brief TUN devices in two namespaces. @return as face_relay() */
int face_tun(struct face *f, const struct linkem_options *o);

#endif /* TOOLS_LINKEM_FACE_H */

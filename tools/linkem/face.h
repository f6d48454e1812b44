/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/linkem/face.h
 * @brief The interface of the link's ends to programs: UDP sockets or network
 * interfaces.
 */
#ifndef TOOLS_LINKEM_FACE_H
#define TOOLS_LINKEM_FACE_H

#include <poll.h>

#include "tools/linkem/emulator.h"

/** @brief Receives packets from programs and delivers them. */
struct face {
    void *impl; /**< passed to the functions */
    /** Fills in the descriptors to poll; returns their number, at most @p
     * max. */
    size_t (*fds)(void *impl, struct pollfd *fds, size_t max);
    /** Offers all received packets to the emulator. */
    void (*receive)(void *impl, const struct pollfd *fds, size_t n,
                    struct emulator *em);
    /** Delivers a packet at the far end of a direction. */
    void (*deliver)(void *impl, int direction, const struct sim_packet *p);
    /** Adds its own statistics. */
    void (*report)(void *impl, json_t *json);
    void (*free)(void *impl);
};

/** @brief UDP sockets. @return TOOL_OK, or an exit status after a message */
int face_relay(struct face *f, const struct linkem_options *o);

/** @brief TUN devices in two namespaces. @return as face_relay() */
int face_tun(struct face *f, const struct linkem_options *o);

#endif /* TOOLS_LINKEM_FACE_H */

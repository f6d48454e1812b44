/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/drain.h
 * @brief Sections out of a connection.
 */
#ifndef LIVE_DRAIN_H
#define LIVE_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "internal/media/stream/assemble.h"
#include "tltcp/socket.h"

/** @brief Takes a section that has ended; its data is freed afterwards.
 * @param user  as given @param section  what is there of it
 * @param now  when its end came, tltcp_now()'s clock */
typedef void (*drain_take)(void *user, const media_section *section,
                           uint64_t now);

/** @brief The receiving side of a connection. */
struct drain {
    drain_take take;
    void *user; /**< for take */
    media_assembly assembly;
    uint64_t gaps;
    uint64_t gap_bytes;
    uint8_t *buffer;
};

/** @brief Sets up; ends with drain_end(). @param d  drain @param take  takes
 * sections @param user  for @p take @return false without memory */
bool drain_init(struct drain *d, drain_take take, void *user);

/**
 * @brief Takes what the connection has.
 * @param d       drain
 * @param socket  connection
 * @param flags   0 or MSG_DONTWAIT
 * @return as tltcp_recvmsg(); also TLTCP_ERR_NOMEM
 */
ssize_t drain_read(struct drain *d, tltcp_socket *socket, int flags);

/** @brief Hands out the last piece and frees. */
void drain_end(struct drain *d);

#endif /* LIVE_DRAIN_H */

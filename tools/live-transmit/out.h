/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/out.h
 * @brief Output of tltcp-live-transmit that is not TLTCP.
 */
#ifndef TOOLS_TRANSMIT_OUT_H
#define TOOLS_TRANSMIT_OUT_H

#include "tools/live-transmit/fd.h"

/** @brief An output; the owner sets @c to, @c chunk and @c fd. */
struct out {
    const struct endpoint *to;
    size_t chunk; /**< bytes of a datagram, at most 65536 */
    int fd;
    size_t packed;    /**< bytes in @c datagram */
    uint64_t written; /**< bytes so far */
    uint8_t datagram[65536];
};

/** @brief Writes at once. @param o  output @param data  bytes
 * @param len  how many @return see fd_write() */
bool out_write(struct out *o, const uint8_t *data, size_t len);

/** @brief Writes full datagrams; the rest waits for more data. @param o  output
 * @param data  bytes @param len  how many @return see fd_write() */
bool out_pack(struct out *o, const uint8_t *data, size_t len);

/** @brief Writes the waiting bytes. @param o  output @return see fd_write() */
bool out_flush(struct out *o);

#endif /* TOOLS_TRANSMIT_OUT_H */

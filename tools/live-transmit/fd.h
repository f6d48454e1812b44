/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/fd.h
 * @brief Endpoints that are descriptors: files, pipes and UDP.
 */
#ifndef TOOLS_TRANSMIT_FD_H
#define TOOLS_TRANSMIT_FD_H

#include "tools/live-transmit/options.h"

/**
 * @brief Opens an endpoint to read from.
 * @param tool        for messages
 * @param e           endpoint
 * @param[out] fd     descriptor
 * @param[out] text   ADDRESS_TEXT_MAX bytes: the address received on, or ""
 * @return TOOL_OK, or TOOL_FAILED after a message
 */
int fd_open_input(const char *tool, const struct endpoint *e, int *fd,
                  char *text);

/** @brief Number of datagrams lost to a full socket of an input. @param e
 * endpoint
 * @param fd  its descriptor @return number so far; 0 if it is not UDP */
uint64_t fd_dropped(const struct endpoint *e, int fd);

/** @brief Opens an endpoint to write to. @param tool  for messages
 * @param e  endpoint @param[out] fd  descriptor
 * @return TOOL_OK, or TOOL_FAILED after a message */
int fd_open_output(const char *tool, const struct endpoint *e, int *fd);

/**
 * @brief Writes everything; to UDP in datagrams of at most @p chunk bytes,
 * without retries.
 * @param e      endpoint
 * @param fd     its descriptor
 * @param data   bytes
 * @param len    how many
 * @param chunk  bytes of a datagram
 * @return false with errno: the reader is gone, or the disk is full
 */
bool fd_write(const struct endpoint *e, int fd, const void *data, size_t len,
              size_t chunk);

#endif /* TOOLS_TRANSMIT_FD_H */

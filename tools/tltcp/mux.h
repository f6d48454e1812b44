/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/mux.h
 * @brief Frames into any container that libavformat writes.
 */
#ifndef TOOLS_MUX_H
#define TOOLS_MUX_H

#include "internal/media/codec/config.h"

/** Room for a complaint. */
#define MUX_WHY_MAX 256
/** Streams at most. */
#define MUX_STREAMS_MAX 16

/** A file that is being written. */
struct mux;

/**
 * @brief Prepares a file; it is created with the first frame that can go in.
 * @param path      its name selects the container; "-": standard output
 * @param format    short name of a container, or NULL
 * @param[out] why  MUX_WHY_MAX bytes: what is wrong
 * @return the file, or NULL
 */
struct mux *mux_open(const char *path, const char *format, char *why);

/**
 * @brief Describes a stream.
 * @param m         file
 * @param stream    from 0
 * @param c         description; copied
 * @param[out] why  MUX_WHY_MAX bytes: what is wrong
 * @return false when it cannot go into the file
 */
bool mux_describe(struct mux *m, unsigned stream, const media_config *c,
                  char *why);

/**
 * @brief Adds a frame of a stream described before.
 * @param m         file
 * @param h         its header
 * @param data      its bytes; copied
 * @param[out] why  MUX_WHY_MAX bytes: what is wrong
 * @return false when it could not be written
 */
bool mux_write(struct mux *m, const media_header *h, const uint8_t *data,
               char *why);

/**
 * @brief Completes the file and frees.
 * @param m         file, or NULL
 * @param[out] why  MUX_WHY_MAX bytes: what is wrong
 * @return false when the file is not whole
 */
bool mux_close(struct mux *m, char *why);

#endif /* TOOLS_MUX_H */

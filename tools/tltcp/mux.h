/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/tltcp/mux.h
 * @brief Writes frames into any container that libavformat supports.
 */
#ifndef TOOLS_MUX_H
#define TOOLS_MUX_H

#include "internal/media/codec/config.h"

/** Room for an error message. */
#define MUX_WHY_MAX 256
/** Maximum number of streams. */
#define MUX_STREAMS_MAX 16

/** An output file. */
struct mux;

/**
 * @brief Prepares a file; it is created with the first frame that it can hold.
 * @param path      its name selects the container; "-": standard output
 * @param format    short name of a container, or NULL
 * @param[out] why  MUX_WHY_MAX bytes: description of the error
 * @return the file, or NULL
 */
struct mux *mux_open(const char *path, const char *format, char *why);

/**
 * @brief Describes a stream.
 * @param m         file
 * @param stream    from 0
 * @param c         description; copied
 * @param[out] why  MUX_WHY_MAX bytes: description of the error
 * @return false: the file cannot hold it
 */
bool mux_describe(struct mux *m, unsigned stream, const media_config *c,
                  char *why);

/**
 * @brief Adds a frame of a described stream.
 * @param m         file
 * @param h         its header
 * @param data      its bytes; copied
 * @param[out] why  MUX_WHY_MAX bytes: description of the error
 * @return false: it could not be written
 */
bool mux_write(struct mux *m, const media_header *h, const uint8_t *data,
               char *why);

/**
 * @brief Waits no longer for a stream that has ended.
 * @param m       file
 * @param stream  from 0; it may not be described
 */
void mux_end(struct mux *m, unsigned stream);

/**
 * @brief Counts the streams that the file does not have, because their
 * description or headers came too late. Before it begins: as if it began now.
 * @param m  file
 * @return their number
 */
unsigned mux_missing(const struct mux *m);

/**
 * @brief Completes the file and frees it.
 * @param m         file, or NULL
 * @param[out] why  MUX_WHY_MAX bytes: description of the error
 * @return false: the file is incomplete
 */
bool mux_close(struct mux *m, char *why);

#endif /* TOOLS_MUX_H */

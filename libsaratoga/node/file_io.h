/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBSARATOGA_NODE_FILE_IO_H
#define LIBSARATOGA_NODE_FILE_IO_H

#include <stddef.h>
#include <stdint.h>

/* Reads and writes whole blocks despite short reads and writes, and syncs
 * folders; all calls block. */

/* Bytes read, fewer at the end of the file; or UV_E... */
int64_t saratoga__read_at(int fd, uint8_t *to, size_t len, uint64_t at);
/* Returns 0 or UV_E... */
int64_t saratoga__write_at(int fd, const uint8_t *from, size_t len,
                           uint64_t at);
/* Returns 0 or UV_E...; 0 also on file systems that cannot sync folders, and
 * need not. */
int saratoga__sync_folder(int fd);

#endif /* LIBSARATOGA_NODE_FILE_IO_H */

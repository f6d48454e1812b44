/* SPDX-License-Identifier: MPL-2.0 */
/* Reads and writes whole blocks, and syncs folders. */
#include "libsaratoga/node/file_io.h"

#include <errno.h>
#include <unistd.h>

#include <uv.h>

int64_t saratoga__read_at(int fd, uint8_t *to, size_t len, uint64_t at) {
    size_t done = 0;

    while (done < len) {
        ssize_t n = pread(fd, to + done, len - done, (off_t)(at + done));

        if (n == 0) {
            break;
        }
        if (n < 0 && errno != EINTR) {
            return uv_translate_sys_error(errno);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return (int64_t)done;
}

int64_t saratoga__write_at(int fd, const uint8_t *from, size_t len,
                           uint64_t at) {
    while (len > 0) {
        ssize_t n = pwrite(fd, from, len, (off_t)at);

        if (n < 0 && errno != EINTR) {
            return uv_translate_sys_error(errno);
        }
        if (n > 0) {
            from += n;
            len -= (size_t)n;
            at += (uint64_t)n;
        }
    }
    return 0;
}

int saratoga__sync_folder(int fd) {
    if (fsync(fd) == 0 || errno == EINVAL || errno == EOPNOTSUPP) {
        return 0;
    }
    return uv_translate_sys_error(errno);
}

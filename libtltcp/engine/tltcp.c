/* SPDX-License-Identifier: MPL-2.0 */
/* Version and error texts of the library. */
#include <string.h>

#include <tltcp/stats.h>
#include <tltcp/types.h>

const char *tltcp_version(void) {
    return PERIGEE_VERSION;
}

const char *tltcp_strerror(int error) {
    static const char *const text[] = {
        "no error",
        "not possible now, try again later",
        "an argument is out of range",
        "out of memory",
        "not possible in this state",
        "the section is larger than the send buffer",
        "bytes are missing before the next data",
        "the connection is closed",
        "the peer has been silent for too long",
        "refused: nobody listens there, or the listener said no",
        "the peer and this library have no protocol version in common",
        "the peer broke the protocol",
        "the peer sent more than it was allowed to",
        "the peer acknowledged packets that were never sent",
        "a configured limit was reached",
        "the host or service was not found or cannot be used",
        "the local address is in use",
        "the operating system refused",
        "no congestion controller or recovery of that name",
        "wrong passphrase or key",
        "not available in this build",
        "the control data is missing, too short or does not fit",
        "the connection was closed before everything was delivered",
    };
    _Static_assert(sizeof(text) / sizeof(text[0]) == 1 - TLTCP_ERR_LAST,
                   "a text per error");
    if (error > 0 || error < TLTCP_ERR_LAST) {
        return "unknown error";
    }
    return text[-error];
}

void tltcp_stats_init_sized(tltcp_stats *s, size_t size) {
    memset(s, 0, size);
    s->struct_size = size;
}

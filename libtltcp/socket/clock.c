/* SPDX-License-Identifier: MPL-2.0 */
/* The clock, and errors of libuv as tltcp_error. */
#include "libtltcp/socket/clock.h"

#include <time.h>

#include <tltcp/socket.h>

#include <uv.h>

tltcp_time tltcp_now(void) {
    return uv_hrtime();
}

tltcp_time tltcp__until(int timeout_ms) {
    return timeout_ms < 0 ? TLTCP_TIME_NEVER
                          : tltcp_now() + (tltcp_time)timeout_ms * TLTCP_MS;
}

int tltcp__error_of(int status) {
    switch (status) {
    case 0:
        return 0;
    case UV_ENOMEM:
        return TLTCP_ERR_NOMEM;
    case UV_EADDRINUSE:
        return TLTCP_ERR_IN_USE;
    case UV_ECONNREFUSED:
        return TLTCP_ERR_REFUSED;
    case UV_ETIMEDOUT:
        return TLTCP_ERR_TIMEOUT;
    case UV_ENOTSUP:
        return TLTCP_ERR_UNSUPPORTED;
    case UV_EADDRNOTAVAIL:
    case UV_EAFNOSUPPORT:
    case UV_ENETUNREACH:
    case UV_EHOSTUNREACH:
    case UV_EINVAL:
        return TLTCP_ERR_ADDRESS;
    default:
        return TLTCP_ERR_IO;
    }
}

void tltcp__sleep(tltcp_time duration) {
#if defined(_WIN32)
    (void)duration;
#else
    struct timespec t = {.tv_sec = (time_t)(duration / TLTCP_S),
                         .tv_nsec = (long)(duration % TLTCP_S)};

    (void)nanosleep(&t, NULL);
#endif
}

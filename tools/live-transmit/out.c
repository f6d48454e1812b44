/* SPDX-License-Identifier: MPL-2.0 */
/* Output of tltcp-live-transmit that is not TLTCP. */
#include "tools/live-transmit/out.h"

#include <string.h>

bool out_write(struct out *o, const uint8_t *data, size_t len) {
    if (!fd_write(o->to, o->fd, data, len, o->chunk)) {
        return false;
    }
    o->written += len;
    return true;
}

bool out_flush(struct out *o) {
    size_t n = o->packed;
    o->packed = 0;
    return n == 0 || out_write(o, o->datagram, n);
}

bool out_pack(struct out *o, const uint8_t *data, size_t len) {
    while (len > 0) {
        size_t room = o->chunk - o->packed;
        size_t n = len < room ? len : room;
        memcpy(o->datagram + o->packed, data, n);
        o->packed += n;
        data += n;
        len -= n;
        if (n == room && !out_flush(o)) {
            return false;
        }
    }
    return true;
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/live/drain.h"

#include <stdlib.h>
#include <string.h>

#define PIECES 16
#define PIECE_BYTES 65536
#define SECTION_MAX (64u << 20)

bool drain_init(struct drain *d, drain_take take, void *user) {
    *d = (struct drain){.take = take, .user = user};
    media__assembly_init(&d->assembly, SECTION_MAX);
    d->buffer = malloc((size_t)PIECES * PIECE_BYTES);
    return d->buffer != NULL;
}

static void drain_hand_out(struct drain *d, media_section *section,
                           uint64_t now) {
    d->take(d->user, section, now);
    free(section->data);
}

/* Every piece of one call. */
static bool take_pieces(struct drain *d, struct msghdr *msg) {
    struct cmsghdr *c = CMSG_FIRSTHDR(msg);
    const struct cmsghdr *more = c ? CMSG_NXTHDR(msg, c) : NULL;
    const struct tltcp_segment *segment;
    const struct tltcp_meta *meta;
    uint64_t now = tltcp_now();
    media_section section[2];
    if (c == NULL) {
        return true;
    }
    segment = (const struct tltcp_segment *)(const void *)CMSG_DATA(c);
    meta =
        more ? (const struct tltcp_meta *)(const void *)CMSG_DATA(more) : NULL;
    for (size_t i = 0; i < msg->msg_iovlen; i++) {
        d->assembly.meta = meta ? meta[i] : (struct tltcp_meta){0};
        int n = media__assembly_add(&d->assembly, &segment[i],
                                    msg->msg_iov[i].iov_base,
                                    msg->msg_iov[i].iov_len, section);
        if (n < 0) {
            return false;
        }
        for (int k = 0; k < n; k++) {
            drain_hand_out(d, &section[k], now);
        }
        if (segment[i].kind == TL_GAP) {
            d->gaps++;
            d->gap_bytes += msg->msg_iov[i].iov_len;
        }
    }
    return true;
}

ssize_t drain_read(struct drain *d, tltcp_socket *socket, int flags) {
    _Alignas(struct cmsghdr) char
        control[CMSG_SPACE(PIECES * sizeof(struct tltcp_segment)) +
                CMSG_SPACE(PIECES * sizeof(struct tltcp_meta))];
    struct iovec iov[PIECES];
    struct msghdr msg = {.msg_iov = iov,
                         .msg_iovlen = PIECES,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    ssize_t n;
    for (size_t i = 0; i < PIECES; i++) {
        iov[i] = (struct iovec){d->buffer + i * PIECE_BYTES, PIECE_BYTES};
    }
    n = tltcp_recvmsg(socket, &msg, MSG_TL | MSG_TL_META | flags);
    return n > 0 && !take_pieces(d, &msg) ? TLTCP_ERR_NOMEM : n;
}

void drain_end(struct drain *d) {
    media_section rest;
    if (media__assembly_end(&d->assembly, &rest) == 1) {
        drain_hand_out(d, &rest, tltcp_now());
    }
    media__assembly_clear(&d->assembly);
    free(d->buffer);
    d->buffer = NULL;
}

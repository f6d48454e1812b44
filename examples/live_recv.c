/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Receives one live stream and says what came and what did not.
 *
 *   live_recv PORT
 */
#include <stdio.h>
#include <string.h>

#include <tltcp/socket.h>

#define PIECES 16
#define PIECE 65536

/* What came, counted. */
struct seen {
    unsigned long long frames;
    unsigned long long bytes;
    unsigned long long gaps;
    unsigned long long gap_bytes;
};

static void look_at(struct seen *seen, const struct tltcp_segment *segment,
                    size_t len) {
    if (segment->kind == TL_GAP) {
        seen->gaps++;
        seen->gap_bytes += len;
        return;
    }
    seen->bytes += len;
    if ((segment->flags & TL_SECTION_END) != 0) {
        seen->frames++; /* or what a gap has left of one */
    }
}

/* Takes what is there.  Returns 0 at the end of the stream. */
static ssize_t receive(tltcp_socket *s, struct seen *seen) {
    static char room[PIECES][PIECE];
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(PIECES * sizeof(struct tltcp_segment))];
    } control;
    struct iovec iov[PIECES];
    struct msghdr msg = {.msg_iov = iov,
                         .msg_iovlen = PIECES,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control)};
    struct tltcp_segment segment;
    ssize_t rv;

    for (int i = 0; i < PIECES; i++) {
        iov[i] = (struct iovec){.iov_base = room[i], .iov_len = PIECE};
    }
    rv = tltcp_recvmsg(s, &msg, MSG_TL);
    for (size_t i = 0; rv > 0 && i < (size_t)msg.msg_iovlen; i++) {
        memcpy(&segment, CMSG_DATA(&control.align) + i * sizeof(segment),
               sizeof(segment));
        look_at(seen, &segment, iov[i].iov_len);
    }
    return rv;
}

int main(int argc, char **argv) {
    struct seen seen = {0};
    tltcp_socket *listener;
    tltcp_socket *s;
    ssize_t rv;

    if (argc < 2) {
        fprintf(stderr, "usage: %s PORT\n", argv[0]);
        return 2;
    }
    rv = tltcp_listen(&listener, NULL, argv[1], NULL);
    if (rv == 0) {
        rv = tltcp_accept(listener, &s, -1);
    }
    if (rv != 0) {
        fprintf(stderr, "port %s: %s\n", argv[1], tltcp_strerror((int)rv));
        return 1;
    }
    do {
        rv = receive(s, &seen);
    } while (rv > 0);
    printf("%llu frames, %llu bytes; %llu gaps of %llu bytes\n", seen.frames,
           seen.bytes, seen.gaps, seen.gap_bytes);
    if (rv < 0) {
        fprintf(stderr, "receive: %s\n", tltcp_strerror((int)rv));
    }
    tltcp_close(s, 1000);
    tltcp_close(listener, 0);
    return rv == 0 ? 0 : 1;
}

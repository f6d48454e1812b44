/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Receives one live stream and prints what arrived and what did not.
 *
 *   live_recv PORT
 */
#include <stdio.h>

#include <tltcp/socket.h>

#define PIECES 16
#define PIECE 65536

/* Counts of received data. */
struct seen {
    unsigned long long frames;
    unsigned long long bytes;
    unsigned long long gaps;
    unsigned long long gap_bytes;
};

static void count_piece(struct seen *seen, const tltcp_piece *piece) {
    if (piece->kind == TL_GAP) {
        seen->gaps++;
        seen->gap_bytes += piece->len;
        return;
    }
    seen->bytes += piece->len;
    if ((piece->flags & TL_SECTION_END) != 0) {
        seen->frames++; /* or the rest of one after a gap */
    }
}

/* Reads available data. Returns 0 at the end of the stream. */
static ssize_t receive(tltcp_socket *s, struct seen *seen) {
    static char room[PIECES][PIECE];
    tltcp_piece piece[PIECES];
    size_t count = PIECES;
    ssize_t rv;

    for (int i = 0; i < PIECES; i++) {
        piece[i].data = room[i];
        piece[i].len = PIECE;
    }
    rv = tltcp_recv(s, piece, &count, 0);
    for (size_t i = 0; i < count; i++) {
        count_piece(seen, &piece[i]);
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

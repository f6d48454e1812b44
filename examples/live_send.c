/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Sends a live stream: 30 synthetic frames a second, each with a deadline of
 * 200 ms. Late data is dropped here and becomes a gap at the receiver.
 *
 *   live_send HOST PORT [SECONDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tltcp/socket.h>

#define FPS 30
#define BUDGET (200 * TLTCP_MS)

/* One frame is one section with one deadline. */
static ssize_t send_frame(tltcp_socket *s, void *frame, size_t len,
                          tltcp_time deadline) {
    struct iovec part = {.iov_base = frame, .iov_len = len};
    tltcp_section section = {.data = &part, .count = 1, .deadline = deadline};

    return tltcp_send(s, &section, 1, 0);
}

static void wait_until(tltcp_time when) {
    tltcp_time now = tltcp_now();
    tltcp_time left = when > now ? when - now : 0;
    struct timespec t = {.tv_sec = (time_t)(left / TLTCP_S),
                         .tv_nsec = (long)(left % TLTCP_S)};

    nanosleep(&t, NULL);
}

static void live_send_report(const tltcp_socket *s) {
    tltcp_stats st;

    tltcp_stats_init(&st);
    if (tltcp_get_stats(s, &st) == 0) {
        printf("%llu frames, %llu dropped, srtt %.1f ms\n",
               (unsigned long long)st.sections_offered,
               (unsigned long long)(st.sections_expired + st.sections_partial),
               (double)st.srtt_ns / (double)TLTCP_MS);
    }
}

int main(int argc, char **argv) {
    static char frame[40000];
    long frames = FPS * (argc > 3 ? strtol(argv[3], NULL, 10) : 10);
    tltcp_socket *s;
    tltcp_time start;
    int rv;

    if (argc < 3) {
        fprintf(stderr, "usage: %s HOST PORT [SECONDS]\n", argv[0]);
        return 2;
    }
    rv = tltcp_connect(&s, argv[1], argv[2], NULL, -1);
    if (rv != 0) {
        fprintf(stderr, "%s port %s: %s\n", argv[1], argv[2],
                tltcp_strerror(rv));
        return 1;
    }
    start = tltcp_now();
    for (long i = 0; i < frames && rv >= 0; i++) {
        size_t len = i % FPS == 0 ? sizeof(frame) : sizeof(frame) / 8;

        wait_until(start + (tltcp_time)i * TLTCP_S / FPS);
        rv = (int)send_frame(s, frame, len, tltcp_now() + BUDGET);
    }
    if (rv < 0) {
        fprintf(stderr, "send: %s\n", tltcp_strerror(rv));
    }
    live_send_report(s);
    return tltcp_close(s, 1000) == 0 && rv >= 0 ? 0 : 1;
}

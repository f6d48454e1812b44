/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A custom congestion controller, low-delay. It steers the window so that
 * packets wait TARGET in the path's queue, like LEDBAT (RFC 6817), and halves
 * it after a loss.
 *
 *   own_controller HOST PORT [MEGABYTES]
 */
#include <stdio.h>
#include <stdlib.h>

#include <congestion/congestion.h>
#include <tltcp/socket.h>

#define TARGET 25e6 /* ns */

/* The library provides zeroed memory for it; struct cong comes first. */
struct low_delay {
    struct cong cc;
    double base; /* lowest RTT, ns; 0: none yet */
};

static void set_window(struct cong *cc, double cwnd) {
    cwnd = cwnd < cc->cwnd_max ? cwnd : cc->cwnd_max;
    cc->cwnd = cwnd > cc->mss ? cwnd : cc->mss;
}

static void start(struct cong *cc, cong_time now, cong_time rtt) {
    (void)now;
    (void)rtt;
    cc->ssthresh = cc->cwnd_max;
    set_window(cc, 4 * cc->mss);
}

static void on_ack(struct cong *cc, const struct cong_ack *ack) {
    struct low_delay *l = (struct low_delay *)cc;
    double rtt = (double)ack->rtt;
    if (ack->rtt <= 0 || !(ack->acked > 0)) {
        return;
    }
    if (l->base == 0 || rtt < l->base) {
        l->base = rtt;
    }
    double off = (TARGET - (rtt - l->base)) / TARGET;
    if (off > 0 && (!ack->limited || ack->recovery)) {
        return; /* an unused window provides no information */
    }
    /* Grows by at most one segment per RTT, shrinks by at most four. */
    off = off < -4 ? -4 : off;
    set_window(cc, cc->cwnd + off * ack->acked * cc->mss / cc->cwnd);
}

static void on_event(struct cong *cc, const struct cong_event *ev) {
    if (ev->cause == CONG_LOSS || ev->cause == CONG_ECN) {
        set_window(cc, cc->cwnd / 2);
        cc->ssthresh = cc->cwnd;
    } else if (ev->cause == CONG_RTO) {
        set_window(cc, cc->mss);
    }
}

static const struct cong_ops low_delay = {
    .name = "low-delay",
    .size = sizeof(struct low_delay),
    .init = start,
    .ack = on_ack,
    .event = on_event,
};

static int send_all(tltcp_socket *s, long megabytes) {
    static char data[10000];
    struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    for (long i = 0; i < megabytes * 100; i++) {
        ssize_t n = tltcp_sendmsg(s, &msg, 0);
        if (n < 0) {
            return (int)n;
        }
    }
    return 0;
}

static void own_controller_report(const tltcp_socket *s) {
    tltcp_stats st;
    tltcp_stats_init(&st);
    if (tltcp_get_stats(s, &st) == 0) {
        printf("%s: srtt %.1f ms, lowest %.1f ms, %llu packets lost\n",
               st.congestion, (double)st.srtt_ns / 1e6,
               (double)st.min_rtt_ns / 1e6,
               (unsigned long long)st.packets_lost);
    }
}

int main(int argc, char **argv) {
    tltcp_config config;
    tltcp_socket *s;
    if (argc < 3) {
        fprintf(stderr, "usage: %s HOST PORT [MEGABYTES]\n", argv[0]);
        return 2;
    }
    if (cong_register(&low_delay) != 0) {
        fprintf(stderr, "low-delay cannot be registered\n");
        return 1;
    }
    tltcp_config_init(&config);
    config.congestion = low_delay.name; /* usable like any other name */
    int rv = tltcp_connect(&s, argv[1], argv[2], &config, -1);
    if (rv == 0) {
        rv = send_all(s, argc > 3 ? strtol(argv[3], NULL, 10) : 10);
        own_controller_report(s);
        int end = tltcp_close(s, 10000);
        rv = rv == 0 ? end : rv;
    }
    if (rv != 0) {
        fprintf(stderr, "%s port %s: %s\n", argv[1], argv[2],
                tltcp_strerror(rv));
    }
    return rv == 0 ? 0 : 1;
}

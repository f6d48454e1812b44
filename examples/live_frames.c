/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Sends or receives ten frames with libtltcp-live and prints events.
 *
 * usage: live_frames send URL | live_frames recv URL
 *        URL: tltcp://HOST:PORT?latency=200, or tltcp://:PORT to listen
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <tltcp/live.h>

#define FRAME_NS 40000000

static int send_frames(tltcp_live *l) {
    const struct timespec pause = {.tv_nsec = FRAME_NS};
    int64_t start = (int64_t)tltcp_now();
    tltcp_live_event ev;
    tltcp_live_format format;
    tltcp_live_frame f;
    tltcp_live_event_init(&ev);
    tltcp_live_format_init(&format);
    format.type = TLTCP_LIVE_VIDEO;
    format.codec = "h264";
    (void)tltcp_live_set_format(l, 0, &format);
    while (ev.type != TLTCP_LIVE_EVENT_CONNECTED && !ev.final) {
        (void)tltcp_live_next_event(l, &ev, -1);
    }
    for (int i = 0; i < 10 && !ev.final; i++) {
        tltcp_live_frame_init(&f);
        f.data = "\0\0\0\1\x65 what an encoder made";
        f.len = 26;
        f.flags = i == 0 ? TLTCP_LIVE_KEY : TLTCP_LIVE_DELTA;
        f.pts = f.dts = (int64_t)i * FRAME_NS;
        f.clock_offset = start;
        (void)tltcp_live_write(l, &f, 0);
        (void)nanosleep(&pause, NULL);
    }
    return ev.final ? ev.error : tltcp_live_finish(l, 1000);
}

static int receive_frames(tltcp_live *l) {
    tltcp_live_frame f;
    int rc = 1;
    while (rc > 0) {
        tltcp_live_frame_init(&f);
        rc = tltcp_live_read(l, &f, -1);
        if (rc == TLTCP_LIVE_READ_FRAME) {
            (void)printf("frame %u: %zu bytes at %.2f s%s\n", f.number, f.len,
                         (double)f.pts / 1e9, f.complete ? "" : ", cut");
        }
    }
    return rc;
}

int main(int argc, char **argv) {
    bool sends = argc == 3 && strcmp(argv[1], "send") == 0;
    char why[TLTCP_LIVE_WHY_MAX] = "usage: live_frames send|recv URL";
    char json[4096];
    tltcp_live_options *o = argc == 3 ? tltcp_live_options_new() : NULL;
    tltcp_live *l = NULL;
    int rc = o ? tltcp_live_options_set_url(o, argv[2], why) : -1;
    if (rc == 0) {
        rc = tltcp_live_open(&l, sends ? TLTCP_LIVE_SEND : TLTCP_LIVE_RECEIVE,
                             o, why);
    }
    if (rc < 0) {
        tltcp_live_options_free(o);
        (void)fprintf(stderr, "live_frames: %s\n", why);
        return 1;
    }
    rc = sends ? send_frames(l) : receive_frames(l);
    (void)tltcp_live_stats_json(l, json, sizeof(json));
    (void)printf("%s\n%s\n", json, rc < 0 ? tltcp_strerror(rc) : "done");
    tltcp_live_close(l, 1000);
    return rc < 0;
}

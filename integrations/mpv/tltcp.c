/* SPDX-License-Identifier: MPL-2.0 */
/* mpv plays tltcp:// by this C plugin. */
#include <mpv/client.h>
#include <mpv/stream_cb.h>
#include <stdio.h>
#include <stdlib.h>

#include "integrations/common/report.h"

#define NAME "tltcp"
/* How long a read waits before the log hears what happened, in ms. */
#define SLICE 250

/* mpv's log is for mpv; plugins write to standard error. */
static void mpv_tltcp_say(const char *line) {
    (void)fprintf(stderr, "[" NAME "] %s\n", line);
}

static void mpv_tltcp_report(tltcp_live *live) {
    char line[REPORT_MAX];
    tltcp_live_event ev;
    tltcp_live_event_init(&ev);
    while (tltcp_live_next_event(live, &ev, 0) == 1) {
        if (report_event(&ev, line) > REPORT_INFO) {
            mpv_tltcp_say(line);
        }
    }
}

/* What mpv holds. */
struct mpv_tltcp {
    tltcp_live *live;
    bool ended; /* mpv reads on, and would wait for another caller */
};

static ssize_t mpv_tltcp_wait(struct mpv_tltcp *t, char *data, size_t len) {
    ssize_t n;
    do {
        n = tltcp_live_read_ts(t->live, data, len, SLICE);
        mpv_tltcp_report(t->live);
    } while (n == TLTCP_ERR_AGAIN);
    return n;
}

static int64_t mpv_tltcp_read(void *user, char *data, uint64_t len) {
    struct mpv_tltcp *t = user;
    ssize_t n = t->ended ? 0 : mpv_tltcp_wait(t, data, (size_t)len);
    if (n == TLTCP_ERR_PROTOCOL) {
        mpv_tltcp_say("the sender sends single streams, not a transport "
                      "stream; put mpegtsmux before its tltcpsink");
    }
    t->ended = n <= 0;
    return n == TLTCP_ERR_CLOSED ? 0 : n < 0 ? -1 : n;
}

static void mpv_tltcp_cancel(void *user) {
    tltcp_live_interrupt(((struct mpv_tltcp *)user)->live, true);
}

static void mpv_tltcp_close(void *user) {
    tltcp_live_close(((struct mpv_tltcp *)user)->live, 0);
    free(user);
}

static int mpv_tltcp_open(void *user, char *url, mpv_stream_cb_info *info) {
    char why[TLTCP_LIVE_WHY_MAX] = "out of memory";
    struct mpv_tltcp *t = calloc(1, sizeof(*t));
    tltcp_live_options *o = tltcp_live_options_new();
    (void)user;
    if (!t || !o || tltcp_live_options_set_url(o, url, why) < 0 ||
        tltcp_live_open(&t->live, TLTCP_LIVE_RECEIVE, o, why) < 0) {
        tltcp_live_options_free(o);
        free(t);
        mpv_tltcp_say(why);
        return MPV_ERROR_LOADING_FAILED;
    }
    info->cookie = t;
    info->read_fn = mpv_tltcp_read;
    info->cancel_fn = mpv_tltcp_cancel;
    info->close_fn = mpv_tltcp_close;
    return 0;
}

/** @brief Called by mpv when it loads the plugin. @param mpv  the player
 * @return 0 at its end, or -1 */
__attribute__((visibility("default"))) int mpv_open_cplugin(mpv_handle *mpv);

int mpv_open_cplugin(mpv_handle *mpv) {
    if (mpv_stream_cb_add_ro(mpv, NAME, NULL, mpv_tltcp_open) < 0) {
        mpv_tltcp_say("mpv does not take the protocol");
        return -1;
    }
    while (mpv_wait_event(mpv, -1)->event_id != MPV_EVENT_SHUTDOWN) {
    }
    return 0;
}

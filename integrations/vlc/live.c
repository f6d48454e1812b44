/* SPDX-License-Identifier: MPL-2.0 */
/* VLC: options, and messages in its log. */
#include "integrations/common/report.h"
#include "integrations/vlc/vlc_tltcp.h"

#include <vlc_dialog.h>

tltcp_live *vlc_tltcp_open(vlc_object_t *object, int direction, const char *url,
                           unsigned *latency_ms) {
    char why[TLTCP_LIVE_WHY_MAX] = "out of memory";
    tltcp_live_options *o = tltcp_live_options_new();
    tltcp_live *live = NULL;
    int rc = o ? tltcp_live_options_set_url(o, url, why) : TLTCP_ERR_NOMEM;
    if (rc == 0) {
        *latency_ms = tltcp_live_options_settings(o)->latency_ms;
        rc = tltcp_live_open(&live, direction, o, why);
    }
    if (rc < 0) {
        tltcp_live_options_free(o);
        msg_Err(object, "%s", why);
        vlc_dialog_display_error(object, VLC_TLTCP_NAME, "%s", why);
        return NULL;
    }
    return live;
}

static void vlc_tltcp_say(vlc_object_t *object, const tltcp_live_event *ev) {
    char line[REPORT_MAX];
    switch (report_event(ev, line)) {
    case REPORT_INFO:
        msg_Info(object, "%s", line);
        break;
    case REPORT_WARNING:
        msg_Warn(object, "%s", line);
        break;
    case REPORT_ERROR:
        msg_Err(object, "%s", line);
        vlc_dialog_display_error(object, VLC_TLTCP_NAME, "%s", line);
        break;
    default:
        break;
    }
}

int vlc_tltcp_report(vlc_object_t *object, tltcp_live *live, int timeout_ms) {
    int state = VLC_TLTCP_SAME;
    tltcp_live_event ev;
    tltcp_live_event_init(&ev);
    while (tltcp_live_next_event(live, &ev, timeout_ms) == 1) {
        timeout_ms = 0;
        vlc_tltcp_say(object, &ev);
        if (ev.type == TLTCP_LIVE_EVENT_CONNECTED ||
            ev.type == TLTCP_LIVE_EVENT_LISTENING) {
            state = VLC_TLTCP_READY;
        } else if (ev.final) {
            state = VLC_TLTCP_OVER;
        }
    }
    return state;
}

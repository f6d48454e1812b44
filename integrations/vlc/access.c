/* SPDX-License-Identifier: MPL-2.0 */
/* VLC: the input. */
#include "integrations/vlc/vlc_tltcp.h"

#include <stdlib.h>

#include <vlc_access.h>
#include <vlc_interrupt.h>

/* How long a read waits before the log hears what happened, in ms. */
#define SLICE 250
struct access_sys {
    tltcp_live *live;
    unsigned latency_ms; /* of the URL */
};

/* Data later than the latency never arrives, so VLC need not wait longer. VLC
 * asks before anything has arrived, so this is the latency of the URL; VLC
 * waits longer by itself if the sender's is longer. In ms. */
static int64_t access_caching(stream_t *access) {
    const struct access_sys *sys = access->p_sys;
    int64_t most = var_InheritInteger(access, "network-caching");
    return sys->latency_ms < most ? sys->latency_ms : most;
}

static void access_on_interrupt(void *live) {
    tltcp_live_interrupt(live, true);
}

/* 0: the end; -1: nothing yet. */
static ssize_t access_read(stream_t *access, void *data, size_t len) {
    struct access_sys *sys = access->p_sys;
    tltcp_live *live = sys->live;
    ssize_t n;
    vlc_interrupt_register(access_on_interrupt, live);
    n = tltcp_live_read_ts(live, data, len, SLICE);
    (void)vlc_interrupt_unregister();
    tltcp_live_interrupt(live, false);
    (void)vlc_tltcp_report(VLC_OBJECT(access), live, 0);
    if (n == TLTCP_ERR_AGAIN || n == TLTCP_ERR_ABORTED) {
        return vlc_killed() ? 0 : -1;
    }
    if (n == TLTCP_ERR_PROTOCOL) {
        msg_Err(access, "the sender sends single streams, not a transport "
                        "stream; put mpegtsmux before its tltcpsink");
    }
    return n < 0 ? 0 : n;
}

static int access_control(stream_t *access, int query, va_list args) {
    switch (query) {
    case STREAM_CAN_SEEK:
    case STREAM_CAN_FASTSEEK:
    case STREAM_CAN_PAUSE:
    case STREAM_CAN_CONTROL_PACE:
        *va_arg(args, bool *) = false;
        return VLC_SUCCESS;
    case STREAM_GET_PTS_DELAY:
        *va_arg(args, int64_t *) = INT64_C(1000) * access_caching(access);
        return VLC_SUCCESS;
    default:
        return VLC_EGENERIC;
    }
}

int vlc_tltcp_open_access(vlc_object_t *object) {
    stream_t *access = (stream_t *)object;
    struct access_sys *sys = calloc(1, sizeof(*sys));
    if (sys == NULL) {
        return VLC_ENOMEM;
    }
    sys->live = vlc_tltcp_open(object, TLTCP_LIVE_RECEIVE, access->psz_url,
                               &sys->latency_ms);
    if (sys->live == NULL) {
        free(sys);
        return VLC_EGENERIC;
    }
    access->p_sys = sys;
    access->pf_read = access_read;
    access->pf_block = NULL;
    access->pf_seek = NULL;
    access->pf_control = access_control;
    return VLC_SUCCESS;
}

void vlc_tltcp_close_access(vlc_object_t *object) {
    struct access_sys *sys = ((stream_t *)object)->p_sys;
    tltcp_live_close(sys->live, 0);
    free(sys);
}

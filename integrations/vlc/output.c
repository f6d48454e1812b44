/* SPDX-License-Identifier: MPL-2.0 */
/* VLC: the output. */
#include "integrations/vlc/vlc_tltcp.h"

#include <stdio.h>
#include <string.h>

#include <vlc_block.h>
#include <vlc_sout.h>

#define SCHEME "tltcp://"
/* How long the end waits for what was written, in ms. */
#define LINGER 2000
/* How long the beginning waits for a connection, without which what is written
 * would be lost; in slices of 100 ms. */
#define SLICES 50

static ssize_t output_write(sout_access_out_t *out, block_t *block) {
    tltcp_live *live = (tltcp_live *)out->p_sys;
    ssize_t written = 0;
    int rc = 0;
    while (block) {
        block_t *next = block->p_next;
        if (rc == 0 || rc == TLTCP_ERR_AGAIN) {
            rc =
                tltcp_live_write_ts(live, block->p_buffer, block->i_buffer, -1);
            written += (ssize_t)block->i_buffer;
        }
        block_Release(block);
        block = next;
    }
    (void)vlc_tltcp_report(VLC_OBJECT(out), live, 0);
    if (rc != 0 && rc != TLTCP_ERR_AGAIN) {
        msg_Err(out, "%s", tltcp_strerror(rc));
        return -1;
    }
    return written;
}

static int output_control(sout_access_out_t *out, int query, va_list args) {
    (void)out;
    if (query != ACCESS_OUT_CONTROLS_PACE) {
        return VLC_EGENERIC;
    }
    *va_arg(args, bool *) = false;
    return VLC_SUCCESS;
}

/* False: there will be none. */
static bool output_await(vlc_object_t *object, tltcp_live *live) {
    int state = VLC_TLTCP_SAME;
    for (int i = 0; i < SLICES && state == VLC_TLTCP_SAME; i++) {
        state = vlc_tltcp_report(object, live, 100);
    }
    return state != VLC_TLTCP_OVER;
}

int vlc_tltcp_open_output(vlc_object_t *object) {
    sout_access_out_t *out = (sout_access_out_t *)object;
    bool whole = strncmp(out->psz_path, SCHEME, strlen(SCHEME)) == 0;
    char url[2048];
    unsigned latency_ms;
    tltcp_live *live;
    (void)snprintf(url, sizeof(url), "%s%s", whole ? "" : SCHEME,
                   out->psz_path);
    live = vlc_tltcp_open(object, TLTCP_LIVE_SEND, url, &latency_ms);
    if (live == NULL || !output_await(object, live)) {
        tltcp_live_close(live, 0);
        return VLC_EGENERIC;
    }
    out->p_sys = (sout_access_out_sys_t *)live;
    out->pf_write = output_write;
    out->pf_control = output_control;
    return VLC_SUCCESS;
}

void vlc_tltcp_close_output(vlc_object_t *object) {
    tltcp_live *live = (tltcp_live *)((sout_access_out_t *)object)->p_sys;
    (void)tltcp_live_finish(live, LINGER);
    (void)vlc_tltcp_report(object, live, 0);
    tltcp_live_close(live, LINGER);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The fate of every frame that was sent, as CSV. */
#include "tools/tltcp/frame_log.h"

#include <inttypes.h>
#include <string.h>

#include "internal/media/codec/framing.h"

bool frame_log_open(struct frame_log *l, const char *path) {
    memset(l, 0, sizeof(*l));
    if (!path) {
        return true;
    }
    l->csv = fopen(path, "we");
    if (l->csv) {
        (void)fputs("stream,number,type,class,bytes,pts_ms,dts_ms,sent_ms,"
                    "known_ms,deadline_ms,fate,reason\n",
                    l->csv);
    }
    return l->csv != NULL;
}

bool frame_log_close(struct frame_log *l) {
    bool ok = !l->csv || fclose(l->csv) == 0;
    l->csv = NULL;
    return ok;
}

/* Writes milliseconds since the start, or nothing. */
static void put_time(const struct frame_log *l, uint64_t t, bool known) {
    if (known) {
        (void)fprintf(l->csv, "%.3f,", (double)(int64_t)(t - l->start) / 1e6);
    } else {
        (void)fputc(',', l->csv);
    }
}

static const char *type_of_frame(const tltcp_live_event *ev) {
    static const char *const names[] = {"other", "I", "P", "B"};
    return ev->frame_class == TL_CLASS_AUDIO ? "audio"
           : ev->picture < 4                 ? names[ev->picture]
                                             : "other";
}

static const char *fate_name(uint32_t fate) {
    static const char *const names[] = {"held-back", "delivered", "partial",
                                        "expired",   "held-back", "abandoned"};
    return names[fate <= TLTCP_FATE_ABANDONED ? fate : 0];
}

void frame_log_event(const struct frame_log *l, const tltcp_live_event *ev) {
    if (!l->csv || ev->type != TLTCP_LIVE_EVENT_FRAME) {
        return;
    }
    (void)fprintf(l->csv, "%u,%" PRIu32 ",%s,%s,%" PRIu64 ",%.3f,%.3f,",
                  ev->stream, ev->number, type_of_frame(ev),
                  media__class_name(ev->frame_class), ev->bytes,
                  (double)ev->pts / 1e6, (double)ev->dts / 1e6);
    put_time(l, ev->written, ev->written != 0);
    put_time(l, ev->now, true);
    put_time(l, ev->deadline, ev->deadline != TLTCP_TIME_NEVER);
    (void)fprintf(l->csv, "%s,%s\n", fate_name(ev->fate),
                  ev->cause ? tltcp_live_cause_name(ev->cause) : "");
}

/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/live/tsfeed.h"

#include <string.h>

#include "internal/media/stream/caps.h"

#define GENERATION 1
#define CODEC "mpegts"
/* A clock reference at least every 100 ms (ISO/IEC 13818-1, 2.7.2), and
 * pictures are 40 ms apart or less. */
#define CLOCK_NS 50000000

static void send_config(struct tsfeed *t) {
    const media_header h = {.kind = MEDIA_KIND_CONFIG,
                            .generation = GENERATION,
                            .pts = MEDIA_TIME_NONE,
                            .dts = MEDIA_TIME_NONE,
                            .duration = MEDIA_TIME_NONE};
    media_config c = {.type = MEDIA_TYPE_DATA,
                      .streams = 1,
                      .latency_ms = t->feed->settings.latency_ms,
                      .codec = {CODEC, strlen(CODEC)}};
    char caps[256];
    uint8_t payload[512];
    size_t len = media__caps_write(&c, caps, sizeof(caps));
    if (len > 0 && len < sizeof(caps)) {
        c.caps = (media_span){caps, len};
    }
    len = media__config_write(&c, payload, sizeof(payload));
    if (len > 0 && len <= sizeof(payload)) {
        (void)feed_push_section(t->feed, &h, payload, len);
    }
}

static media_header header_of(const struct tsfeed *t, const media_frame *what) {
    return (media_header){.kind = MEDIA_KIND_FRAME,
                          .frame_class = what->frame_class,
                          .picture = what->picture,
                          .flags = media__frame_flags(what, 0),
                          .generation = GENERATION,
                          .number = t->number,
                          .refs = t->refs,
                          .pts = MEDIA_TIME_NONE,
                          .dts = MEDIA_TIME_NONE,
                          .duration = MEDIA_TIME_NONE};
}

/* Clocks must not stop, whatever is given up: of units that nobody needs the
 * clock reference goes ahead when there was none for a while. */
static void keep_clock(struct tsfeed *t, const media_ts_unit *u) {
    const media_frame what = {.frame_class = MEDIA_CLASS_HEADER, .tsn = -1};
    uint8_t packet[MEDIA_TS_PACKET];
    media_header h = header_of(t, &what);
    if (!media__ts_clock(u->data, u->len, packet)) {
        return;
    }
    if (u->frame.frame_class != MEDIA_CLASS_DISPOSABLE) {
        t->clock = t->now;
    } else if (t->now - t->clock > CLOCK_NS) {
        t->clock = t->now;
        (void)feed_push_section(t->feed, &h, packet, sizeof(packet));
    }
}

/* Pictures refer to others of their PID; what stands alone needs no number. */
static uint8_t stream_of(struct tsfeed *t, const media_ts_unit *u) {
    if (!media__is_picture(u->frame.frame_class)) {
        return 0;
    }
    if (t->stream[u->slot] == 0 && t->streams < TL_STREAMS_MAX - 1) {
        t->stream[u->slot] = ++t->streams;
    }
    return t->stream[u->slot];
}

/* The stream comes at its own pace, so a unit is to be decoded when it is
 * there. */
static media_times times_of(struct tsfeed *t, const media_ts_unit *u) {
    if (u->pts != MEDIA_TIME_NONE) {
        t->ahead[u->slot] = u->pts - u->dts;
    }
    return (media_times){.pts = t->now + t->ahead[u->slot],
                         .dts = t->now,
                         .duration = MEDIA_TIME_NONE,
                         .arrival = t->now};
}

static void on_unit(void *user, const media_ts_unit *u) {
    struct tsfeed *t = user;
    media_header h = header_of(t, &u->frame);
    struct feed_frame frame = {.header = &h,
                               .payload = u->data,
                               .len = u->len,
                               .what = &u->frame,
                               .times = times_of(t, u),
                               .slot = u->slot,
                               .stream = stream_of(t, u)};
    t->units++;
    if (t->time_slot == 0 && u->dts != MEDIA_TIME_NONE) {
        t->time_slot = u->slot;
    }
    if (u->slot == t->time_slot && u->dts != MEDIA_TIME_NONE) {
        t->time = u->dts;
    }
    if (!t->feed || t->feed->closed) {
        return;
    }
    keep_clock(t, u);
    h.pts = u->pts;
    h.dts = u->dts;
    if (u->frame.frame_class != MEDIA_CLASS_HEADER) {
        t->number++;
        t->refs += media__ts_counts(&u->frame);
    }
    t->failed = !feed_push(t->feed, &frame) || t->failed;
}

bool tsfeed_init(struct tsfeed *t) {
    memset(t, 0, sizeof(*t));
    t->time = MEDIA_TIME_NONE;
    t->ts = media__ts_new(on_unit, t);
    return t->ts != NULL;
}

void tsfeed_attach(struct tsfeed *t, struct feed *feed) {
    t->feed = feed;
    t->number = 0;
    t->refs = 0;
    if (feed && t->kind == TSFEED_TS) {
        send_config(t);
        feed_join(feed);
    }
}

static void decide(struct tsfeed *t, const void *data, size_t len) {
    t->kind = media__ts_is(data, len) ? TSFEED_TS : TSFEED_PLAIN;
    if (t->kind == TSFEED_TS && t->feed) {
        send_config(t);
    }
}

static bool push_plain(struct tsfeed *t, const void *data, size_t len) {
    const media_frame what = {.frame_class = MEDIA_CLASS_OTHER, .tsn = -1};
    const struct feed_frame frame = {.payload = data,
                                     .len = len,
                                     .what = &what,
                                     .times = {.pts = t->now,
                                               .dts = t->now,
                                               .duration = MEDIA_TIME_NONE,
                                               .arrival = t->now}};
    t->units++;
    return !t->feed || t->feed->closed || feed_push(t->feed, &frame);
}

bool tsfeed_push(struct tsfeed *t, const void *data, size_t len, uint64_t now) {
    t->now = (int64_t)now;
    if (len == 0) {
        return true;
    }
    if (t->kind == TSFEED_UNDECIDED) {
        decide(t, data, len);
    }
    if (t->kind == TSFEED_PLAIN) {
        return push_plain(t, data, len);
    }
    return media__ts_push(t->ts, data, len) && !t->failed;
}

void tsfeed_flush(struct tsfeed *t) {
    media__ts_flush(t->ts);
}

void tsfeed_free(struct tsfeed *t) {
    media__ts_free(t->ts);
    t->ts = NULL;
}

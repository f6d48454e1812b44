/* SPDX-License-Identifier: MPL-2.0 */
#include "libtltcp/live/tsdrain.h"

#include <stdio.h>
#include <string.h>

static bool begins(const media_span *s, const char *word) {
    size_t len = strlen(word);
    return s->len >= len && memcmp(s->data, word, len) == 0;
}

static void take_config(struct tsdrain *t, const uint8_t *data, size_t len) {
    media_config c;
    if (media__config_parse(&c, data, len) != MEDIA_OK) {
        return;
    }
    if (begins(&c.codec, "mpegts") || begins(&c.caps, "video/mpegts")) {
        t->described = true;
        t->latency_ms = c.latency_ms;
        return;
    }
    (void)snprintf(t->why, sizeof(t->why),
                   "the peer sends single streams (%.*s), no transport "
                   "stream; tltcp-recv takes them",
                   (int)(c.codec.len < 40 ? c.codec.len : 40),
                   c.codec.data ? (const char *)c.codec.data : "");
}

static void tsdrain_hand_out(struct tsdrain *t, const uint8_t *data, size_t len,
                             int64_t dts, uint64_t now) {
    const struct tsdrain_bytes b = {data, len, dts, now};
    t->bytes += len;
    t->take(t->user, &b);
}

static void take_media(struct tsdrain *t, const media_header *h,
                       const uint8_t *payload, uint64_t now) {
    switch (h->kind) {
    case MEDIA_KIND_CONFIG:
        take_config(t, payload, h->length);
        break;
    case MEDIA_KIND_FRAME:
        if (t->described) {
            tsdrain_hand_out(t, payload, h->length, h->dts, now);
        }
        break;
    default:
        t->ended = t->ended || h->picture == MEDIA_EVENT_EOS;
        break;
    }
}

static void take_section(void *user, const media_section *section,
                         uint64_t now) {
    struct tsdrain *t = user;
    media_header h;
    size_t payload;
    int rc;
    if (!section->complete) {
        t->cut++;
        return;
    }
    t->complete++;
    rc = media__section_parse(&h, section->data, section->len, &payload);
    if (rc == MEDIA_OK) {
        take_media(t, &h, section->data + payload, now);
    } else if (!t->described &&
               (rc == MEDIA_ERR_MAGIC || rc == MEDIA_ERR_SHORT)) {
        tsdrain_hand_out(t, section->data, section->len, MEDIA_TIME_NONE, now);
    }
}

bool tsdrain_init(struct tsdrain *t, tsdrain_take take, void *user) {
    memset(t, 0, sizeof(*t));
    t->take = take;
    t->user = user;
    return drain_init(&t->drain, take_section, t);
}

ssize_t tsdrain_read(struct tsdrain *t, tltcp_socket *socket, int flags) {
    return drain_read(&t->drain, socket, flags);
}

void tsdrain_end(struct tsdrain *t) {
    drain_end(&t->drain);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Writes and parses the header of a media section. */
#include "internal/media/codec/framing.h"

#include "internal/media/codec/bytes.h"

#define MAGIC 0x504d /* "PM" */
#define VERSION 1

/* "None" is the lowest number on the wire, as in memory. */
static int64_t get_time(const uint8_t *p) {
    uint64_t v = media__get64(p);
    return v > INT64_MAX ? -(int64_t)(UINT64_MAX - v) - 1 : (int64_t)v;
}

bool media__time_valid(int64_t t) {
    return t == MEDIA_TIME_NONE ||
           (t >= -MEDIA_TIME_LIMIT && t <= MEDIA_TIME_LIMIT);
}

void media__header_write(const media_header *h, uint8_t *buf) {
    media__put16(buf, MAGIC);
    buf[2] = VERSION;
    buf[3] = h->kind;
    buf[4] = MEDIA_HEADER_LEN;
    buf[5] = h->stream;
    buf[6] = h->frame_class;
    buf[7] = h->picture;
    media__put32(buf + 8, h->flags);
    media__put32(buf + 12, h->generation);
    media__put32(buf + 16, h->number);
    media__put32(buf + 20, h->refs);
    media__put32(buf + 24, h->length);
    media__put64(buf + 28, (uint64_t)h->pts);
    media__put64(buf + 36, (uint64_t)h->dts);
    media__put64(buf + 44, (uint64_t)h->duration);
}

static void read_fields(media_header *h, const uint8_t *p) {
    h->kind = p[3];
    h->stream = p[5];
    h->frame_class = p[6];
    h->picture = p[7];
    h->flags = media__get32(p + 8);
    h->generation = media__get32(p + 12);
    h->number = media__get32(p + 16);
    h->refs = media__get32(p + 20);
    h->length = media__get32(p + 24);
    h->pts = get_time(p + 28);
    h->dts = get_time(p + 36);
    h->duration = get_time(p + 44);
}

/* Classes and picture types of later versions are read as "other". */
static int check_fields(media_header *h) {
    if (h->kind < MEDIA_KIND_CONFIG || h->kind > MEDIA_KIND_EVENT) {
        return MEDIA_ERR_VALUE;
    }
    if (h->kind != MEDIA_KIND_FRAME && h->frame_class) {
        return MEDIA_ERR_VALUE;
    }
    if (h->frame_class >= MEDIA_CLASS_COUNT) {
        h->frame_class = MEDIA_CLASS_OTHER;
    }
    if (h->kind == MEDIA_KIND_FRAME && h->picture >= MEDIA_PICTURE_COUNT) {
        h->picture = MEDIA_PICTURE_OTHER;
    }
    if (h->kind == MEDIA_KIND_CONFIG && h->length > MEDIA_CONFIG_MAX) {
        return MEDIA_ERR_TOO_BIG;
    }
    if (!media__time_valid(h->pts) || !media__time_valid(h->dts) ||
        !media__time_valid(h->duration)) {
        return MEDIA_ERR_VALUE;
    }
    if (h->duration < 0 && h->duration != MEDIA_TIME_NONE) {
        return MEDIA_ERR_VALUE;
    }
    return MEDIA_OK;
}

int media__header_parse(media_header *h, const void *data, size_t len,
                        size_t *payload) {
    const uint8_t *p = data;

    if (len < 5) {
        return MEDIA_ERR_SHORT;
    }
    if (media__get16(p) != MAGIC) {
        return MEDIA_ERR_MAGIC;
    }
    if (p[2] != VERSION) {
        return MEDIA_ERR_VERSION;
    }
    if (p[4] < MEDIA_HEADER_LEN) {
        return MEDIA_ERR_VALUE;
    }
    if (len < p[4]) {
        return MEDIA_ERR_SHORT;
    }

    media_header got;
    read_fields(&got, p);
    int error = check_fields(&got);
    if (error) {
        return error;
    }
    *h = got;
    *payload = p[4];
    return MEDIA_OK;
}

int media__section_parse(media_header *h, const void *data, size_t len,
                         size_t *payload) {
    media_header got;
    size_t at;
    int error = media__header_parse(&got, data, len, &at);

    if (error) {
        return error;
    }
    if (got.length > len - at) {
        return MEDIA_ERR_SHORT;
    }
    if (got.length < len - at) {
        return MEDIA_ERR_VALUE;
    }
    *h = got;
    *payload = at;
    return MEDIA_OK;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Writes and parses the payload of a CONFIG section. */
#include <string.h>

#include "internal/media/codec/bytes.h"
#include "internal/media/codec/config.h"
#include "internal/media/codec/framing.h"

/* Each field is its number (16 bits), its length (32 bits), its bytes. */
#define FIELD_HEAD 6

enum field {
    FIELD_TYPE = 1,
    FIELD_STREAMS = 2,
    FIELD_NAL_LENGTH = 3,
    FIELD_WIDTH = 4,
    FIELD_HEIGHT = 5,
    FIELD_RATE_NUM = 6,
    FIELD_RATE_DEN = 7,
    FIELD_SAMPLE_RATE = 8,
    FIELD_CHANNELS = 9,
    FIELD_LATENCY = 10,
    FIELD_BIT_RATE = 11,
    FIELD_CODEC = 12,
    FIELD_CAPS = 13,
    FIELD_EXTRADATA = 14,
    FIELD_TITLE = 15,
    FIELD_BLOCK_BYTES = 16,
    FIELD_SAMPLE_BITS = 17,
    FIELD_FORMAT = 18,
    FIELD_LAST = 18
};

struct writer {
    uint8_t *buf;
    size_t cap;
    size_t len;
};

/* Location of a field in the struct; exactly one of the three is set. */
struct place {
    uint8_t *byte;
    uint32_t *word;
    media_span *span;
};

static struct place locate(media_config *c, unsigned field) {
    switch (field) {
    case FIELD_TYPE:
        return (struct place){.byte = &c->type};
    case FIELD_STREAMS:
        return (struct place){.byte = &c->streams};
    case FIELD_NAL_LENGTH:
        return (struct place){.byte = &c->nal_length};
    case FIELD_WIDTH:
        return (struct place){.word = &c->width};
    case FIELD_HEIGHT:
        return (struct place){.word = &c->height};
    case FIELD_RATE_NUM:
        return (struct place){.word = &c->rate_num};
    case FIELD_RATE_DEN:
        return (struct place){.word = &c->rate_den};
    case FIELD_SAMPLE_RATE:
        return (struct place){.word = &c->sample_rate};
    case FIELD_CHANNELS:
        return (struct place){.word = &c->channels};
    case FIELD_LATENCY:
        return (struct place){.word = &c->latency_ms};
    case FIELD_BIT_RATE:
        return (struct place){.word = &c->bit_rate};
    case FIELD_BLOCK_BYTES:
        return (struct place){.word = &c->block_bytes};
    case FIELD_SAMPLE_BITS:
        return (struct place){.word = &c->sample_bits};
    case FIELD_CODEC:
        return (struct place){.span = &c->codec};
    case FIELD_CAPS:
        return (struct place){.span = &c->caps};
    case FIELD_EXTRADATA:
        return (struct place){.span = &c->extradata};
    case FIELD_TITLE:
        return (struct place){.span = &c->title};
    case FIELD_FORMAT:
        return (struct place){.span = &c->format};
    default:
        return (struct place){0};
    }
}

static void put_field(struct writer *w, unsigned field, const void *data,
                      size_t len) {
    size_t end = w->len + FIELD_HEAD + len;

    if (end <= w->cap) {
        uint8_t *p = w->buf + w->len;
        media__put16(p, field);
        media__put32(p + 2, (uint32_t)len);
        memcpy(p + FIELD_HEAD, data, len);
    }
    w->len = end;
}

static void put_place(struct writer *w, unsigned field, struct place at) {
    uint8_t word[4];

    if (at.byte && *at.byte) {
        put_field(w, field, at.byte, 1);
    }
    if (at.word && *at.word) {
        media__put32(word, *at.word);
        put_field(w, field, word, sizeof(word));
    }
    if (at.span && at.span->len) {
        put_field(w, field, at.span->data, at.span->len);
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): written through `w` */
size_t media__config_write(const media_config *c, uint8_t *buf, size_t cap) {
    media_config copy = *c;
    const media_span spans[] = {c->codec, c->caps, c->extradata, c->title,
                                c->format};
    struct writer w = {buf, cap, 0};

    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        if (spans[i].len > MEDIA_CONFIG_MAX) {
            return 0;
        }
    }
    for (unsigned field = 1; field <= FIELD_LAST; field++) {
        put_place(&w, field, locate(&copy, field));
    }
    return w.len <= MEDIA_CONFIG_MAX ? w.len : 0;
}

static bool is_text(unsigned field) {
    return field == FIELD_CODEC || field == FIELD_CAPS ||
           field == FIELD_TITLE || field == FIELD_FORMAT;
}

static int take_field(media_config *c, unsigned field, const uint8_t *data,
                      size_t len) {
    struct place at = locate(c, field);

    if (at.byte) {
        if (len != 1) {
            return MEDIA_ERR_VALUE;
        }
        *at.byte = data[0];
    }
    if (at.word) {
        if (len != 4) {
            return MEDIA_ERR_VALUE;
        }
        *at.word = media__get32(data);
    }
    if (at.span) {
        if (is_text(field) && len && memchr(data, 0, len)) {
            return MEDIA_ERR_VALUE;
        }
        *at.span = (media_span){data, len};
    }
    return MEDIA_OK;
}

int media__config_parse(media_config *c, const void *data, size_t len) {
    const uint8_t *p = data;
    media_config got;
    uint32_t seen = 0;

    memset(&got, 0, sizeof(got));
    if (len > MEDIA_CONFIG_MAX) {
        return MEDIA_ERR_TOO_BIG;
    }
    while (len) {
        if (len < FIELD_HEAD) {
            return MEDIA_ERR_SHORT;
        }
        unsigned field = media__get16(p);
        size_t size = media__get32(p + 2);
        if (size > len - FIELD_HEAD) {
            return MEDIA_ERR_SHORT;
        }
        if (field >= 1 && field <= FIELD_LAST) {
            if (seen & 1u << field) {
                return MEDIA_ERR_VALUE;
            }
            seen |= 1u << field;
            int error = take_field(&got, field, p + FIELD_HEAD, size);
            if (error) {
                return error;
            }
        }
        p += FIELD_HEAD + size;
        len -= FIELD_HEAD + size;
    }
    if (got.nal_length > 4) {
        return MEDIA_ERR_VALUE;
    }
    *c = got;
    return MEDIA_OK;
}

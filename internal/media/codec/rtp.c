/* SPDX-License-Identifier: MPL-2.0 */
/* Classifies RTP packets of H.264 and H.265. */
#include "internal/media/codec/rtp.h"

#include <string.h>

#include "internal/media/codec/framing.h"
#include "internal/media/codec/h26x.h"
#include "internal/media/codec/parts.h"

#define RTP_HEADER 12
/* Bytes of a NAL unit to read: its header, and the needed parts of SEI and
 * slices.
 */
#define HEAD_MAX 96

/* Packetisation of NAL units; type numbers as in the RFCs. */
struct format {
    bool (*classify)(media_scanner *s, const void *data, size_t len,
                     media_frame *f);
    unsigned header; /* bytes of a NAL unit's header */
    unsigned single; /* types below this are single NAL units */
    unsigned aggregate;
    unsigned fragment;
    unsigned slice_first; /* types of slices */
    unsigned slice_last;
    unsigned type_mask; /* type bits in the header of a fragment */
};

static const struct format h264 = {
    media__h264_classify, 1, 24, 24, 28, 1, 5, 0x1f};
static const struct format h265 = {
    media__h265_classify, 2, 48, 48, 49, 0, 31, 0x3f};

static unsigned get_be32(const uint8_t *p) {
    return (unsigned)p[0] << 24 | (unsigned)p[1] << 16 | (unsigned)p[2] << 8 |
           p[3];
}

/* Finds the payload (RFC 3550, 5.1). */
static bool find_payload(const uint8_t **data, size_t *len) {
    const uint8_t *p = *data;
    size_t start = RTP_HEADER;

    if (*len < RTP_HEADER || p[0] >> 6 != 2) {
        return false;
    }
    start += (size_t)(p[0] & 0x0f) * 4;
    if (p[0] & 0x10 && start + 4 <= *len) { /* an extension */
        start += 4 + ((size_t)p[start + 2] << 8 | p[start + 3]) * 4;
    } else if (p[0] & 0x10) {
        return false;
    }
    size_t padding = p[0] & 0x20 ? p[*len - 1] : 0;
    if (start + padding >= *len) {
        return false;
    }
    *data += start;
    *len -= start + padding;
    return true;
}

static unsigned type_of(const struct format *f, const uint8_t *p) {
    return f->header == 1 ? p[0] & 0x1f : p[0] >> 1 & 0x3f;
}

/* Classifies a NAL unit as if it followed a start code. */
static bool classify_unit(const struct format *format, media_scanner *s,
                          const uint8_t *header, const uint8_t *body,
                          size_t len, media_frame *f) {
    uint8_t head[3 + 2 + HEAD_MAX] = {0, 0, 1};
    size_t n = len < HEAD_MAX ? len : HEAD_MAX;

    memcpy(head + 3, header, format->header);
    memcpy(head + 3 + format->header, body, n);
    return format->classify(s, head, 3 + format->header + n, f);
}

static bool classify_aggregate(const struct format *format, media_scanner *s,
                               const uint8_t *p, size_t len, media_frame *f) {
    bool found;

    s->nal_length = 2;
    found = format->classify(s, p + format->header, len - format->header, f);
    s->nal_length = 0;
    return found;
}

static bool is_slice(const struct format *format, const uint8_t *p) {
    unsigned type = p[format->header] & format->type_mask;

    return type >= format->slice_first && type <= format->slice_last;
}

/* The first fragment has the header of the unit in two parts. */
static bool classify_fragment(const struct format *format, media_scanner *s,
                              const uint8_t *p, size_t len, media_frame *f) {
    unsigned fu = p[format->header];
    uint8_t header[2] = {(uint8_t)((p[0] & 0xe0) | (fu & 0x1f)), 0};

    if (!(fu & 0x80)) {
        return false;
    }
    if (format->header == 2) {
        header[0] = (uint8_t)((p[0] & 0x81) | (fu & 0x3f) << 1);
        header[1] = p[1];
    }
    return classify_unit(format, s, header, p + format->header + 1,
                         len - format->header - 1, f);
}

bool media__rtp_classify(media_scanner *s, const uint8_t *data, size_t len,
                         media_frame *f) {
    const struct format *format = s->codec == MEDIA_CODEC_H265 ? &h265 : &h264;
    uint32_t time = len >= RTP_HEADER ? get_be32(data + 4) : 0;
    bool found = false;
    unsigned type;

    if (!find_payload(&data, &len) || len <= format->header + 1) {
        return false;
    }
    if (!s->parts.frames || time != s->parts.time) {
        media__parts_begin(&s->parts);
        s->parts.time = time;
    }
    type = type_of(format, data);
    if (type < format->single) {
        found = classify_unit(format, s, data, data + format->header,
                              len - format->header, f);
    } else if (type == format->aggregate) {
        found = classify_aggregate(format, s, data, len, f);
    } else if (type == format->fragment) {
        found = classify_fragment(format, s, data, len, f);
    } else {
        return false;
    }
    return media__parts_conclude(
        &s->parts, found, type == format->fragment && is_slice(format, data),
        f);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Reads the relevant SEI messages: recovery points. */
#include "internal/media/codec/h26x.h"

#define RECOVERY_POINT 6
#define H265_HEADER 2

/* A number coded as bytes of 255 and a final smaller one. */
static uint32_t read_number(media_bits *b) {
    uint32_t sum = 0;
    uint32_t byte;

    do {
        byte = media__bits_get(b, 8);
        sum += byte;
    } while (byte == 0xff && !b->bad);
    return sum;
}

/* H.264 counts frames; H.265 counts in display order with a sign, se(v), and a
 * point before this picture is already valid. */
static uint32_t read_count(media_bits *b, size_t header) {
    uint32_t code = media__bits_ue(b);

    if (header != H265_HEADER) {
        return code;
    }
    return code & 1 ? code / 2 + 1 : 0;
}

void media__sei_read(const media_nal *nal, size_t header, media_frame *f) {
    media_bits b;

    media__bits_begin(&b, nal, header);
    while (b.end - b.at > 2 && !b.bad) {
        uint32_t type = read_number(&b);
        uint32_t size = read_number(&b);
        if (type == RECOVERY_POINT) {
            f->recovery_cnt = read_count(&b, header);
            media__bits_get(&b, 1); /* exact_match_flag */
            f->broken_link = media__bits_get(&b, 1) && !b.bad;
            f->recovery = !b.bad;
            return;
        }
        for (uint32_t i = 0; i < size && !b.bad; i++) {
            media__bits_get(&b, 8);
        }
    }
}

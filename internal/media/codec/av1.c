/* SPDX-License-Identifier: MPL-2.0 */
/* AV1: classifies temporal units by their OBU and frame headers. */
#include "internal/media/codec/av1.h"

#include <string.h>

#include "internal/media/codec/nal.h"
#include "internal/media/codec/vpx.h"

/* obu_type */
enum { OBU_SEQUENCE_HEADER = 1, OBU_FRAME_HEADER = 3, OBU_FRAME = 6 };

/* frame_type */
enum { KEY_FRAME = 0, INTER_FRAME = 1, INTRA_ONLY_FRAME = 2, SWITCH_FRAME = 3 };

struct obu {
    unsigned type;
    unsigned temporal_id;
    const uint8_t *data;
    size_t len;
};

/* Summary of the frames of a temporal unit. */
struct sum {
    unsigned frames;
    bool key;
    bool intra;
    bool stored;
    bool sequence;
};

/* leb128(); returns its length in bytes, 0: invalid. */
static size_t read_leb128(const uint8_t *p, size_t len, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < 8 && i < len; i++) {
        *value |= (uint64_t)(p[i] & 0x7f) << (7 * i);
        if (!(p[i] & 0x80)) {
            return i + 1;
        }
    }
    return 0;
}

/* obu_header(); returns the length of the whole OBU in bytes, 0: invalid.  A
 * truncated one is returned as far as it goes. */
static size_t next_obu(const uint8_t *p, size_t len, struct obu *o) {
    size_t head = len && p[0] & 4 ? 2 : 1;
    uint64_t size;

    if (len < head || p[0] & 0x80) {
        return 0;
    }
    o->type = p[0] >> 3 & 15u;
    o->temporal_id = head == 2 ? p[1] >> 5 : 0;
    size = len - head;
    if (p[0] & 2) {
        size_t bytes = read_leb128(p + head, len - head, &size);
        if (!bytes) {
            return 0;
        }
        head += bytes;
    }
    o->data = p + head;
    o->len = size < len - head ? (size_t)size : len - head;
    return head + o->len;
}

static void skip_uvlc(media_bits *b) {
    unsigned zeros = 0;

    while (zeros < 32 && !b->bad && !media__bits_get(b, 1)) {
        zeros++;
    }
    if (zeros < 32) {
        media__bits_get(b, zeros);
    }
}

/* timing_info() and decoder_model_info(); returns the bits of a decoder buffer
 * delay. */
static unsigned read_timing(media_bits *b, media_av1_seq *s) {
    media__bits_get(b, 32);
    media__bits_get(b, 32);
    bool equal = media__bits_get(b, 1);
    if (equal) {
        skip_uvlc(b);
    }
    s->decoder_model = media__bits_get(b, 1);
    if (!s->decoder_model) {
        return 0;
    }
    unsigned delay = media__bits_get(b, 5) + 1;
    media__bits_get(b, 32);
    media__bits_get(b, 5);
    unsigned time = media__bits_get(b, 5) + 1;
    s->time_bits = equal ? 0 : (uint8_t)time;
    return delay;
}

static void skip_operating_points(media_bits *b, unsigned delay_bits) {
    bool display_delay = media__bits_get(b, 1);
    unsigned points = media__bits_get(b, 5) + 1;

    while (points-- && !b->bad) {
        media__bits_get(b, 12);
        if (media__bits_get(b, 5) > 7) {
            media__bits_get(b, 1);
        }
        if (delay_bits && media__bits_get(b, 1)) {
            media__bits_get(b, delay_bits);
            media__bits_get(b, delay_bits);
            media__bits_get(b, 1);
        }
        if (display_delay && media__bits_get(b, 1)) {
            media__bits_get(b, 4);
        }
    }
}

static void read_frame_size_and_ids(media_bits *b, media_av1_seq *s) {
    unsigned width_bits = media__bits_get(b, 4) + 1;
    unsigned height_bits = media__bits_get(b, 4) + 1;

    media__bits_get(b, width_bits);
    media__bits_get(b, height_bits);
    if (!s->reduced && media__bits_get(b, 1)) {
        unsigned delta = media__bits_get(b, 4) + 2;
        s->frame_id_bits = (uint8_t)(delta + media__bits_get(b, 3) + 1);
    }
}

static void read_tools(media_bits *b, media_av1_seq *s) {
    media__bits_get(b, 3); /* superblocks, intra filters */
    s->screen_choice = s->integer_mv_choice = true;
    if (s->reduced) {
        return;
    }
    media__bits_get(b, 4); /* inter tools */
    bool order = media__bits_get(b, 1);
    if (order) {
        media__bits_get(b, 2);
    }
    s->screen_choice = media__bits_get(b, 1);
    s->screen_content = s->screen_choice || media__bits_get(b, 1);
    if (s->screen_content) {
        s->integer_mv_choice = media__bits_get(b, 1);
        if (!s->integer_mv_choice) {
            media__bits_get(b, 1);
        }
    }
    s->order_bits = order ? (uint8_t)(media__bits_get(b, 3) + 1) : 0;
}

/* sequence_header_obu() */
static void read_sequence(media_scanner *scanner, const struct obu *o) {
    media_av1_seq s = {.known = true};
    unsigned delay_bits = 0;
    media_bits b;

    media__bits_begin_raw(&b, o->data, o->len);
    media__bits_get(&b, 4); /* seq_profile, still_picture */
    s.reduced = media__bits_get(&b, 1);
    if (s.reduced) {
        media__bits_get(&b, 5);
    } else {
        if (media__bits_get(&b, 1)) {
            delay_bits = read_timing(&b, &s);
        }
        skip_operating_points(&b, delay_bits);
    }
    read_frame_size_and_ids(&b, &s);
    read_tools(&b, &s);
    if (!b.bad) {
        scanner->av1 = s;
    }
}

/* uncompressed_header() after error_resilient_mode, up to refresh_frame_flags.
 * If that cannot be found, the frame counts as stored. */
static bool is_stored(const media_av1_seq *s, media_bits *b, unsigned type,
                      bool resilient) {
    bool intra = type == INTRA_ONLY_FRAME || type == KEY_FRAME;

    media__bits_get(b, 1); /* disable_cdf_update */
    bool screen = s->screen_choice ? media__bits_get(b, 1) : s->screen_content;
    if (screen && s->integer_mv_choice) {
        media__bits_get(b, 1);
    }
    media__bits_get(b, s->frame_id_bits);
    if (type != SWITCH_FRAME) {
        media__bits_get(b, 1); /* frame_size_override_flag */
    }
    media__bits_get(b, s->order_bits);
    if (!intra && !resilient) {
        media__bits_get(b, 3); /* primary_ref_frame */
    }
    if (s->decoder_model && media__bits_get(b, 1)) {
        return true;
    }
    return media__bits_get(b, 8) || b->bad;
}

/* uncompressed_header() */
static void av1_read_frame(const media_av1_seq *s, const struct obu *o,
                           struct sum *sum) {
    media_bits b;
    bool first = !sum->frames++;

    media__bits_begin_raw(&b, o->data, o->len);
    if (!s->reduced && media__bits_get(&b, 1)) {
        sum->intra = false;
        return; /* show_existing_frame: shows a stored frame */
    }
    unsigned type = s->reduced ? KEY_FRAME : media__bits_get(&b, 2);
    bool shown = s->reduced || media__bits_get(&b, 1);
    bool key = type == KEY_FRAME && shown && !b.bad;
    sum->key = sum->key || (first && key);
    sum->intra = sum->intra && (type == KEY_FRAME || type == INTRA_ONLY_FRAME);
    if (key || type == SWITCH_FRAME || !s->known) {
        sum->stored = true;
        return;
    }
    media__bits_get(&b, shown ? s->time_bits : 1);
    bool resilient = media__bits_get(&b, 1);
    sum->stored = is_stored(s, &b, type, resilient) || sum->stored;
}

static void read_obus(media_scanner *s, const uint8_t *p, size_t len,
                      struct sum *sum, media_frame *f) {
    struct obu o;
    size_t size;

    for (; len && (size = next_obu(p, len, &o)); p += size, len -= size) {
        if (o.type == OBU_SEQUENCE_HEADER) {
            read_sequence(s, &o);
            sum->sequence = true;
        } else if (o.type == OBU_FRAME || o.type == OBU_FRAME_HEADER) {
            av1_read_frame(&s->av1, &o, sum);
            f->temporal_id = (uint8_t)o.temporal_id;
        }
    }
}

bool media__av1_classify(media_scanner *s, const void *data, size_t len,
                         media_frame *f) {
    struct sum sum = {.intra = true};

    read_obus(s, data, len, &sum, f);
    if (sum.frames) {
        media__set_predicted(f, sum.key, sum.intra, sum.stored);
    } else if (sum.sequence) {
        f->frame_class = MEDIA_CLASS_HEADER;
    }
    return sum.frames || sum.sequence;
}

/* av1C: four bytes, of which the first is a marker bit and version 1, then
 * OBUs. */
void media__av1_extradata(media_scanner *s, const uint8_t *data, size_t len) {
    size_t skip = len >= 4 && data[0] == 0x81 ? 4 : 0;
    struct sum unused = {0};
    media_frame frame;

    memset(&frame, 0, sizeof(frame));
    read_obus(s, data + skip, len - skip, &unused, &frame);
}

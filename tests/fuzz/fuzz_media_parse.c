/* SPDX-License-Identifier: MPL-2.0 */
/* Parsers of media sections and frames: nothing is read outside the input, and
 * what they accept is written again the same. */
#include <string.h>

#include "internal/media/codec/config.h"
#include "internal/media/codec/frame.h"
#include "internal/media/codec/framing.h"
#include "internal/media/codec/params.h"
#include "internal/media/stream/caps.h"
#include "tests/fuzz/script.h"

/* Exactly as large as the data, so that a byte too far is seen. */
static uint8_t *copy_of(const uint8_t *data, size_t len) {
    uint8_t *copy = calloc(1, len ? len : 1);
    FUZZ_CHECK(copy != NULL);
    if (len) {
        memcpy(copy, data, len);
    }
    return copy;
}

static void header(const uint8_t *data, size_t len) {
    uint8_t again[MEDIA_HEADER_LEN];
    media_header h;
    media_header back;
    size_t at;

    if (media__section_parse(&h, data, len, &at) != MEDIA_OK) {
        return;
    }
    FUZZ_CHECK(at + h.length == len);
    media__header_write(&h, again);
    FUZZ_CHECK(media__header_parse(&back, again, sizeof(again), &at) ==
               MEDIA_OK);
    FUZZ_CHECK(memcmp(&h, &back, sizeof(h)) == 0);
}

static bool inside(const media_span *s, const uint8_t *data, size_t len) {
    const uint8_t *p = s->data;
    return s->len == 0 ||
           (p >= data && s->len <= len && p + s->len <= data + len);
}

static void config(const uint8_t *data, size_t len) {
    media_config c;
    media_config back;
    char caps[64];

    if (media__config_parse(&c, data, len) != MEDIA_OK) {
        return;
    }
    FUZZ_CHECK(inside(&c.codec, data, len) && inside(&c.caps, data, len));
    FUZZ_CHECK(inside(&c.extradata, data, len) && inside(&c.title, data, len));
    size_t need = media__config_write(&c, NULL, 0);
    FUZZ_CHECK(need <= len);
    uint8_t *again = malloc(need + 1);
    FUZZ_CHECK(again != NULL);
    FUZZ_CHECK(media__config_write(&c, again, need) == need);
    FUZZ_CHECK(media__config_parse(&back, again, need) == MEDIA_OK);
    FUZZ_CHECK(back.width == c.width && back.caps.len == c.caps.len);
    (void)media__caps_write(&c, caps, sizeof(caps));
    free(again);
}

static void frame(struct script *s, const uint8_t *data, size_t len) {
    static const char *const codecs[] = {"mpeg1video", "mpeg4", "h264", "hevc",
                                         "vp8",        "vp9",   "av1",  NULL};
    const char *codec = codecs[script_below(s, 8)];
    int type = (int)script_below(s, 4);
    size_t extra = (size_t)script_below(s, len + 1);
    uint32_t flags = (uint32_t)script_number(s, 2);
    uint8_t *head = copy_of(data, extra);
    media_params params = {.len = 0};
    media_scanner scanner;
    media_frame f;

    media__scanner_init(&scanner, codec, type, head, extra);
    FUZZ_CHECK(scanner.nal_length <= 4);
    if (codec && codec[0] == 'h') {
        scanner.form = (uint8_t)script_below(s, MEDIA_FORM_UNITS + 1);
    }
    for (int i = 0; i < 2; i++) {
        (void)media__params_take(&params, &scanner, data, len);
        FUZZ_CHECK(params.len <= sizeof(params.data));
        FUZZ_CHECK(media__params_place(&scanner, data, len) <= len);
        media__scanner_classify(&scanner, data, len, flags, &f);
        FUZZ_CHECK(f.frame_class < MEDIA_CLASS_COUNT);
        FUZZ_CHECK(f.picture < MEDIA_PICTURE_COUNT);
        FUZZ_CHECK(f.key == (f.frame_class == MEDIA_CLASS_KEY));
        scanner.nal_length = (uint8_t)script_below(s, 5);
    }
    free(head);
}

/* A stream, cut at its access unit delimiters, so that pictures can refer to
 * others. */
static void stream(const char *codec, uint8_t delimiter, const uint8_t *data,
                   size_t len) {
    const uint8_t mark[] = {0, 0, 1, delimiter};
    media_scanner scanner;
    media_frame f;
    size_t from = 0;

    media__scanner_init(&scanner, codec, MEDIA_TYPE_VIDEO, NULL, 0);
    for (size_t at = 1; at <= len; at++) {
        bool ends = at == len || (len - at >= sizeof(mark) &&
                                  memcmp(data + at, mark, sizeof(mark)) == 0);
        if (ends) {
            uint8_t *unit = copy_of(data + from, at - from);
            media__scanner_classify(&scanner, unit, at - from, 0, &f);
            FUZZ_CHECK(f.parent < MEDIA_REFS_RECENT);
            FUZZ_CHECK(f.parent == 0 || f.parent < f.ordinal);
            FUZZ_CHECK(!f.branch || f.frame_class == MEDIA_CLASS_REFERENCE);
            free(unit);
            from = at;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t size) {
    struct script s = {in, in + (size < 8 ? size : 8)};
    size_t skip = size < 8 ? size : 8;
    uint8_t *data = copy_of(in + skip, size - skip);

    header(data, size - skip);
    config(data, size - skip);
    if (size - skip >= MEDIA_HEADER_LEN) { /* past the magic, which is rare */
        static const uint8_t start[] = {'P', 'M', 1};
        memcpy(data, start, sizeof(start));
        data[4] = MEDIA_HEADER_LEN;
        header(data, size - skip);
    }
    frame(&s, data, size - skip);
    stream("h264", 9, data, size - skip);
    stream("hevc", 35 << 1, data, size - skip);
    free(data);
    return 0;
}

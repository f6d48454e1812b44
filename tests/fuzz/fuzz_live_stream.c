/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A careless application makes sections of a stream: calls in any order, any
 * bytes under the name of any codec, times at the edges of their range and
 * beyond.
 */
#include <math.h>

#include <tltcp/live_parts.h>

#include "tests/fuzz/script.h"

#define ROOM 600

static struct script *in;
static uint8_t data[ROOM];
static uint64_t emitted;

static uint64_t below(uint64_t n) {
    return script_below(in, n);
}

static bool one_in(uint64_t n) {
    return below(n) == n - 1;
}

static uint64_t edge(void) {
    static const uint64_t edges[] = {0,          1,
                                     UINT32_MAX, UINT64_C(1) << 60,
                                     INT64_MAX,  UINT64_C(1) << 63,
                                     UINT64_MAX, UINT64_MAX - 1};
    return one_in(4) ? script_number(in, 8) : edges[below(8)];
}

static void on_section(void *user, tltcp_live_section *section) {
    (void)user;
    emitted += tltcp_live_section_bytes(section);
    FUZZ_CHECK(tltcp_live_section_class(section) <= TL_CLASS_LAST);
    (void)tltcp_live_section_due(section);
    (void)tltcp_live_section_deadline(section);
}

static void drop(tltcp_live_section *section) {
    if (section != NULL) {
        on_section(NULL, section);
        tltcp_live_section_unref(section);
    }
}

static void set_frame(tltcp_live_frame *f) {
    int64_t *const times[] = {&f->pts, &f->dts, &f->duration, &f->clock_offset};
    tltcp_live_frame_init(f);
    for (uint64_t n = below(32); n > 0; n--) {
        data[below(ROOM)] = (uint8_t)script_number(in, 1);
    }
    f->data = data;
    f->len = (size_t)below(ROOM);
    f->flags = (uint32_t)script_number(in, 2);
    f->frame_class = (uint32_t)(one_in(16) ? edge() : below(TL_CLASS_LAST + 1));
    f->pts = (int64_t)(below(256) * 40000000);
    f->dts = (int64_t)(below(256) * 40000000);
    f->untimed = one_in(4);
    if (one_in(4)) {
        *times[below(4)] = (int64_t)edge();
    }
    if (one_in(8)) {
        f->depends = (uint32_t)edge();
        f->deadline = edge();
        f->arrived = edge();
    }
}

static void set_format(tltcp_live_stream *s) {
    static const char *const codecs[] = {
        "h264",   "hevc",  "av1",    "mpeg2video", "aac",      "opus",
        "mpegts", "mpeg4", "theora", "vp8",        "rawvideo", NULL};
    tltcp_live_format f;
    uint32_t *const fields[] = {&f.nal_length,  &f.width,       &f.rate_num,
                                &f.rate_den,    &f.sample_rate, &f.channels,
                                &f.block_bytes, &f.sample_bits, &f.streams};
    tltcp_live_format_init(&f);
    f.type = (uint32_t)below(5);
    f.packing = (uint32_t)below(4);
    f.codec = codecs[below(12)];
    f.extradata = data;
    f.extradata_len = one_in(2) ? (size_t)below(300) : 0;
    f.rate_num = 25;
    f.rate_den = 1;
    f.intra_only = one_in(4);
    *fields[below(9)] = (uint32_t)edge();
    FUZZ_EXPECT(tltcp_live_stream_set_format(s, one_in(8) ? NULL : &f), 0);
}

static void set_deadlines(tltcp_live_stream *s) {
    static const double speeds[] = {1,  2,     0.5,    0,
                                    -1, 1e300, 1e-300, (double)NAN};
    tltcp_live_stream_set_deadlines(s, (int)below(6) - 1, (uint32_t)edge(),
                                    (uint32_t)edge(), speeds[below(8)]);
}

static void step(tltcp_live_stream *s) {
    tltcp_live_frame f;
    set_frame(&f);
    switch (below(16)) {
    case 0:
        set_format(s);
        break;
    case 1:
        set_deadlines(s);
        break;
    case 2:
        drop(tltcp_live_stream_describe(s, (unsigned)edge()));
        break;
    case 3:
        FUZZ_EXPECT(tltcp_live_stream_write_ts(s, data, (size_t)below(ROOM),
                                               one_in(8) ? edge() : 1000),
                    TLTCP_ERR_INVAL, TLTCP_ERR_STATE);
        (void)tltcp_live_stream_ts_time(s);
        break;
    case 4:
        FUZZ_EXPECT(tltcp_live_stream_flush(s, one_in(2) ? &f : NULL),
                    TLTCP_ERR_INVAL);
        break;
    case 5:
        drop(tltcp_live_stream_header(s, data, (size_t)below(ROOM)));
        break;
    case 6:
        drop(tltcp_live_stream_mark(s, (unsigned)edge(), (int64_t)edge(),
                                    (int64_t)edge(), data,
                                    (size_t)below(ROOM)));
        break;
    default:
        FUZZ_EXPECT(tltcp_live_stream_write(s, &f), TLTCP_ERR_INVAL);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct script script = {bytes, bytes + size};
    tltcp_live_stream *s;
    in = &script;
    s = tltcp_live_stream_new((unsigned)below(256), on_section, NULL);
    FUZZ_CHECK(s != NULL);
    while (script_left(in)) {
        step(s);
    }
    tltcp_live_stream_free(s);
    return 0;
}

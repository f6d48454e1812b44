/* SPDX-License-Identifier: MPL-2.0 */
/* The multiplexer of the module for OBS, against what takes streams apart. */
#include <stdlib.h>
#include <string.h>

#include "integrations/obs/ts_mux.h"
#include "internal/media/stream/ts.h"
#include "tests/support/cmocka.h"

#define PACKET 188
#define LEAD 1800
#define MOST 1200

static const uint8_t headers[] = {0, 0, 0, 1, 0x67, 66, 0, 0, 0, 1, 0x68, 1};
static const uint8_t sound_config[] = {0x11, 0x90}; /* LC, 48 kHz, stereo */

/* The contents of the picture and audio units, without their packets. */
struct seen {
    uint8_t data[MOST * 60 + 400];
    size_t len;
    int units;
    int64_t pts;
    int64_t dts;
    bool key;
};

static size_t payload_at(const uint8_t *p) {
    return (p[3] & 0x20) ? 5u + p[4] : 4u;
}

static void on_unit(void *user, const media_ts_frame *u) {
    struct seen *seen = user;
    if (u->slot == 0) {
        return;
    }
    seen->units++;
    seen->len = 0;
    seen->pts = u->pts;
    seen->dts = u->dts;
    seen->key = u->frame.key;
    for (size_t at = 0; at < u->len; at += PACKET) {
        size_t begin = payload_at(u->data + at);
        memcpy(seen->data + seen->len, u->data + at + begin, PACKET - begin);
        seen->len += PACKET - begin;
    }
}

static void begin(struct ts_mux *m) {
    memset(m, 0, sizeof(*m));
    assert_true(ts_mux_begin(m, headers, sizeof(headers), sound_config,
                             sizeof(sound_config)));
}

static int64_t ns_of(int64_t ticks) {
    return ticks * 100000 / 9;
}

static void push(media_ts *ts, const struct ts_mux *m) {
    assert_int_equal(m->len % PACKET, 0);
    for (size_t at = 0; at < m->len; at += PACKET) {
        assert_int_equal(m->data[at], 0x47);
    }
    assert_true(media__ts_push(ts, m->data, m->len));
}

/* Data that ends `seen`, behind a head. */
static void check_end(const struct seen *seen, const uint8_t *data,
                      size_t len) {
    assert_true(seen->len >= len);
    assert_memory_equal(seen->data + seen->len - len, data, len);
}

TEST(pictures_of_every_size_come_out_whole_with_their_times) {
    static struct seen seen;
    uint8_t slice[MOST] = {0, 0, 0, 1, 0x65, 0x88};
    media_ts *ts = media__ts_new(on_unit, &seen);
    struct ts_mux m;
    begin(&m);
    memset(slice + 6, 0x5a, sizeof(slice) - 6);
    for (size_t len = 6; len < MOST; len++) {
        int64_t dts = (int64_t)len * 3000;
        bool key = len % 30 == 0;
        slice[4] = key ? 0x65 : 0x41;
        assert_true(ts_mux_picture(&m, slice, len, dts + 6000, dts, key));
        push(ts, &m);
        media__ts_flush(ts);
        assert_int_equal(seen.units, (int)len - 5);
        assert_int_equal(seen.pts, ns_of(dts + 6000 + LEAD));
        assert_int_equal(seen.dts, ns_of(dts + LEAD));
        assert_int_equal(seen.key, key);
        check_end(&seen, slice, len);
    }
    ts_mux_end(&m);
    media__ts_free(ts);
}

TEST(a_picture_needs_no_other_to_be_known_as_whole) {
    static struct seen seen;
    uint8_t slice[MOST] = {0, 0, 0, 1, 0x65, 0x88};
    media_ts *ts = media__ts_new(on_unit, &seen);
    struct ts_mux m;
    begin(&m);
    for (int i = 1; i < 4; i++) {
        assert_true(ts_mux_picture(&m, slice, sizeof(slice), i, i, i == 1));
        push(ts, &m);
        assert_int_equal(seen.units, i);
    }
    ts_mux_end(&m);
    media__ts_free(ts);
}

TEST(a_picture_too_large_for_a_length_comes_out_whole) {
    static struct seen seen;
    static uint8_t slice[MOST * 60] = {0, 0, 0, 1, 0x65, 0x88};
    media_ts *ts = media__ts_new(on_unit, &seen);
    struct ts_mux m;
    begin(&m);
    assert_true(ts_mux_picture(&m, slice, sizeof(slice), 0, 0, true));
    push(ts, &m);
    media__ts_flush(ts);
    assert_int_equal(seen.units, 1);
    assert_true(seen.len >= sizeof(slice));
    ts_mux_end(&m);
    media__ts_free(ts);
}

TEST(sound_of_every_size_has_a_header_with_its_length) {
    static struct seen seen;
    uint8_t frame[MOST];
    media_ts *ts = media__ts_new(on_unit, &seen);
    struct ts_mux m;
    begin(&m);
    assert_true(ts_mux_picture(&m, headers, sizeof(headers), 0, 0, true));
    push(ts, &m);
    media__ts_flush(ts);
    seen.units = 0;
    memset(frame, 0xa5, sizeof(frame));
    for (size_t len = 1; len < MOST; len++) {
        const uint8_t *adts = seen.data + 14;
        assert_true(ts_mux_sound(&m, frame, len, (int64_t)len * 1920));
        push(ts, &m);
        assert_int_equal(seen.units, (int)len); /* its length says the end */
        assert_int_equal(seen.pts, ns_of((int64_t)len * 1920 + LEAD));
        assert_int_equal(adts[0], 0xff);
        assert_int_equal(adts[1], 0xf1);
        assert_int_equal(adts[2], 0x4c); /* LC, 48 kHz */
        assert_int_equal((adts[3] & 3) << 11 | adts[4] << 3 | adts[5] >> 5,
                         len + 7);
        check_end(&seen, frame, len);
    }
    ts_mux_end(&m);
    media__ts_free(ts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            pictures_of_every_size_come_out_whole_with_their_times),
        cmocka_unit_test(a_picture_needs_no_other_to_be_known_as_whole),
        cmocka_unit_test(a_picture_too_large_for_a_length_comes_out_whole),
        cmocka_unit_test(sound_of_every_size_has_a_header_with_its_length),
    };
    return cmocka_run_group_tests_name("ts_mux", tests, NULL, NULL);
}

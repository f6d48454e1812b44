/* SPDX-License-Identifier: MPL-2.0 */
/* Programs that were compiled with another header of libtltcp-live. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/live/pair.h"
#include "tltcp/live_parts.h"

/* A struct as an older header had it: its first `size` bytes. What lies beyond
 * is not the library's. */
#define OLDER 0xa5

static void expect_untouched(const void *of, size_t from, size_t to) {
    const uint8_t *p = of;
    for (size_t i = from; i < to; i++) {
        assert_int_equal(p[i], OLDER);
    }
}

TEST(older_programs_write_and_read_shorter_frames) {
    const size_t written = offsetof(tltcp_live_frame, deadline);
    const size_t read = offsetof(tltcp_live_frame, tag);
    struct pair p = open_pair("latency=2000");
    tltcp_live_frame f;
    tltcp_live_event ev;
    await(p.out, TLTCP_LIVE_EVENT_CONNECTING, &ev);
    describe(p.out, 0, TLTCP_LIVE_VIDEO, "theora");
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FORMAT);

    memset(&f, OLDER, sizeof(f));
    tltcp_live_frame_init_sized(&f, written);
    f.data = "key frame";
    f.len = 9;
    f.flags = TLTCP_LIVE_KEY;
    f.pts = f.dts = 1000;
    f.clock_offset = (int64_t)tltcp_now();
    assert_int_equal(tltcp_live_write(p.out, &f, FAR), 0);
    assert_int_equal(tltcp_live_write(p.out, &f, FAR), 0);

    memset(&f, OLDER, sizeof(f));
    tltcp_live_frame_init_sized(&f, read);
    assert_int_equal(tltcp_live_read(p.in, &f, FAR), TLTCP_LIVE_READ_FRAME);
    assert_int_equal(f.struct_size, read);
    assert_int_equal(f.len, 9);
    assert_memory_equal(f.data, "key frame", 9);
    assert_int_equal(f.pts, 1000);
    expect_untouched(&f, read, sizeof(f));
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FRAME);
    assert_int_equal(f.tag, 0);
    close_pair(&p);
}

TEST(older_programs_give_and_get_shorter_formats) {
    const size_t size = offsetof(tltcp_live_format, title);
    struct pair p = open_pair("latency=2000");
    tltcp_live_format f;
    tltcp_live_frame frame;
    memset(&f, OLDER, sizeof(f));
    tltcp_live_format_init_sized(&f, size);
    f.type = TLTCP_LIVE_VIDEO;
    f.codec = "theora";
    f.width = 320;
    assert_int_equal(tltcp_live_set_format(p.out, 0, &f), 0);
    assert_int_equal(next(p.in, &frame), TLTCP_LIVE_READ_FORMAT);

    memset(&f, OLDER, sizeof(f));
    tltcp_live_format_init_sized(&f, size);
    assert_int_equal(tltcp_live_get_format(p.in, 0, &f), 0);
    assert_int_equal(f.struct_size, size);
    assert_string_equal(f.codec, "theora");
    assert_int_equal(f.width, 320);
    expect_untouched(&f, size, sizeof(f));
    tltcp_live_format_init(&f);
    assert_int_equal(tltcp_live_get_format(p.in, 0, &f), 0);
    assert_null(f.title);
    close_pair(&p);
}

TEST(older_programs_get_shorter_statistics) {
    const size_t size = offsetof(tltcp_live_stats, bytes_offered);
    const size_t own = offsetof(tltcp_stats, packets_sent);
    struct pair p = open_pair("latency=2000");
    tltcp_live_stats st;
    tltcp_stats one;
    tltcp_live_frame frame;
    tltcp_live_event ev;
    describe(p.out, 0, TLTCP_LIVE_VIDEO, "theora");
    assert_int_equal(next(p.in, &frame), TLTCP_LIVE_READ_FORMAT);
    memset(&st, OLDER, sizeof(st));
    tltcp_live_stats_init_sized(&st, size);
    assert_int_equal(tltcp_live_get_stats(p.in, &st), 0);
    assert_int_equal(st.struct_size, size);
    assert_int_equal(st.connections, 1);
    expect_untouched(&st, size, sizeof(st));

    tltcp_live_close(p.out, FAR);
    tltcp_live_event_init(&ev);
    while (tltcp_live_next_event(p.in, &ev, 0) != 1 ||
           ev.type != TLTCP_LIVE_EVENT_DISCONNECTED) {
        assert_int_equal(tltcp_live_read(p.in, &frame, 1), TLTCP_ERR_AGAIN);
    }
    memset(&one, OLDER, sizeof(one));
    tltcp_stats_init_sized(&one, own);
    assert_int_equal(tltcp_live_get_connection_stats(p.in, 0, &one), 0);
    assert_int_equal(one.struct_size, own);
    expect_untouched(&one, own, sizeof(one));
    tltcp_live_close(p.in, 0);
}

TEST(older_programs_get_shorter_events) {
    const size_t size = offsetof(tltcp_live_event, reason);
    tltcp_live *in =
        open_live(TLTCP_LIVE_RECEIVE, "tltcp://127.0.0.1:0?mode=listener");
    tltcp_live_event ev;
    memset(&ev, OLDER, sizeof(ev));
    tltcp_live_event_init_sized(&ev, size);
    assert_int_equal(tltcp_live_next_event(in, &ev, FAR), 1);
    assert_int_equal(ev.struct_size, size);
    assert_int_equal(ev.type, TLTCP_LIVE_EVENT_LISTENING);
    expect_untouched(&ev, size, sizeof(ev));
    tltcp_live_close(in, 0);
}

/* A checker of memory sees reads beyond the block. */
TEST(older_programs_give_links_shorter_configs) {
    const size_t size = offsetof(tltcp_config, listener);
    const tltcp_live_settings here = {
        .host = "127.0.0.1", .service = "0", .listens = true};
    tltcp_config *config = malloc(size);
    tltcp_live_link *link;
    assert_non_null(config);
    tltcp_config_init_sized(config, size);
    assert_int_equal(tltcp_live_link_new(&link, &here, config, NULL, NULL), 0);
    tltcp_live_link_free(link);
    memset(config, 0, size);
    assert_int_equal(tltcp_live_link_new(&link, &here, config, NULL, NULL),
                     TLTCP_ERR_INVAL);
    assert_null(link);
    free(config);
}

TEST(structs_of_newer_programs_are_filled_in_as_far_as_they_are_known) {
    struct {
        tltcp_live_stats known;
        uint64_t later;
    } st;
    struct pair p = open_pair("latency=2000");
    tltcp_live_stats_init_sized(&st.known, sizeof(st));
    assert_int_equal(tltcp_live_get_stats(p.in, &st.known), 0);
    assert_int_equal(st.known.struct_size, sizeof(st));
    assert_int_equal(st.later, 0);
    close_pair(&p);
}

TEST(structs_that_were_not_initialised_are_refused) {
    struct pair p = open_pair("latency=2000");
    tltcp_live_frame f = {.data = "x", .len = 1};
    tltcp_live_format format = {.codec = "theora"};
    tltcp_live_stats st = {.connections = 0};
    tltcp_live_event ev = {.type = 0};
    assert_int_equal(tltcp_live_next_event(p.in, &ev, 0), TLTCP_ERR_INVAL);
    describe(p.out, 0, TLTCP_LIVE_VIDEO, "theora");
    assert_int_equal(tltcp_live_write(p.out, &f, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_read(p.in, &f, 0), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_set_format(p.out, 0, &format), TLTCP_ERR_INVAL);
    assert_int_equal(next(p.in, &f), TLTCP_LIVE_READ_FORMAT);
    assert_int_equal(tltcp_live_get_format(p.in, 0, &format), TLTCP_ERR_INVAL);
    assert_int_equal(tltcp_live_get_stats(p.in, &st), TLTCP_ERR_INVAL);
    close_pair(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_programs_write_and_read_shorter_frames),
        cmocka_unit_test(older_programs_give_and_get_shorter_formats),
        cmocka_unit_test(older_programs_get_shorter_statistics),
        cmocka_unit_test(older_programs_get_shorter_events),
        cmocka_unit_test(older_programs_give_links_shorter_configs),
        cmocka_unit_test(
            structs_of_newer_programs_are_filled_in_as_far_as_they_are_known),
        cmocka_unit_test(structs_that_were_not_initialised_are_refused),
    };
    return cmocka_run_group_tests_name("live structs", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Files that tltcp-recv writes of what a caller sends in any order. */
#include <libavformat/avformat.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/cmocka.h"
#include "tests/support/folder.h"
#include "tools/tltcp/libav_log.h"
#include "tools/tltcp/mux.h"

#define MS INT64_C(1000000)

struct file {
    char folder[64];
    char path[96];
    char why[MUX_WHY_MAX];
    struct mux *mux;
};

static int open_file(void **state, const char *name) {
    struct file *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    (void)snprintf(f->folder, sizeof(f->folder), "/tmp/mux-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    (void)snprintf(f->path, sizeof(f->path), "%s/%s", f->folder, name);
    f->mux = mux_open(f->path, NULL, f->why);
    assert_non_null(f->mux);
    *state = f;
    return 0;
}

static int set_up_mkv(void **state) {
    return open_file(state, "film.mkv");
}

static int set_up_mp4(void **state) {
    return open_file(state, "film.mp4");
}

static int set_up_ts(void **state) {
    return open_file(state, "film.ts");
}

static int set_up_missing_folder(void **state) {
    return open_file(state, "missing/film.mkv");
}

static int tear_down(void **state) {
    struct file *f = *state;
    (void)mux_close(f->mux, f->why);
    assert_int_equal(remove_folder(f->folder), 0);
    free(f);
    return 0;
}

static bool describe(struct file *f, unsigned stream, const char *codec,
                     unsigned streams) {
    static const uint8_t aac[] = {0x12, 0x10};
    const media_config c = {
        .type = MEDIA_TYPE_AUDIO,
        .streams = (uint8_t)streams,
        .sample_rate = 44100,
        .channels = 2,
        .width = 64,
        .height = 48,
        .codec = {codec, strlen(codec)},
        .extradata = {aac, strcmp(codec, "aac") == 0 ? sizeof(aac) : 0}};
    return mux_describe(f->mux, stream, &c, f->why);
}

static bool put_at(struct file *f, unsigned stream, int64_t ns,
                   const uint8_t *data, size_t len) {
    const media_header h = {.kind = MEDIA_KIND_FRAME,
                            .stream = (uint8_t)stream,
                            .frame_class = MEDIA_CLASS_AUDIO,
                            .length = (uint32_t)len,
                            .pts = ns,
                            .dts = ns,
                            .duration = 20 * MS};
    return mux_write(f->mux, &h, data, f->why);
}

static bool put_frame(struct file *f, unsigned stream, int64_t ms,
                      const uint8_t *data, size_t len) {
    return put_at(f, stream, ms * MS, data, len);
}

static const uint8_t sound[] = {0x21, 0x10, 0x04, 0x60, 0x8c, 0x1c};

static bool put_sound(struct file *f, unsigned stream, int64_t ms) {
    return put_frame(f, stream, ms, sound, sizeof(sound));
}

/* How many streams the file has. */
static unsigned finish(struct file *f) {
    AVFormatContext *in = NULL;
    unsigned streams;
    assert_true(mux_close(f->mux, f->why));
    f->mux = NULL;
    assert_int_equal(avformat_open_input(&in, f->path, NULL, NULL), 0);
    assert_true(avformat_find_stream_info(in, NULL) >= 0);
    streams = in->nb_streams;
    avformat_close_input(&in);
    return streams;
}

/* The container has been described without it. */
TEST(a_stream_that_comes_after_the_beginning_is_left_out) {
    struct file *f = *state;
    assert_true(describe(f, 0, "aac", 1));
    for (int i = 0; i < 10; i++) {
        assert_true(put_sound(f, 0, 20 * i));
    }
    for (unsigned stream = 1; stream < MUX_STREAMS_MAX; stream++) {
        assert_true(describe(f, stream, "aac", 1));
        for (int i = 0; i < 10; i++) {
            assert_true(put_sound(f, stream, 20 * i));
        }
    }
    for (int i = 10; i < 20; i++) {
        assert_true(put_sound(f, 0, 20 * i));
    }
    assert_int_equal(mux_missing(f->mux), MUX_STREAMS_MAX - 1);
    assert_int_equal(finish(f), 1);
}

/* They wait for a stream that is announced and does not come. */
TEST(large_frames_do_not_wait_for_long) {
    struct file *f = *state;
    size_t size = (size_t)16 << 20;
    uint8_t *large = calloc(1, size);
    int frames = 0;
    assert_non_null(large);
    assert_true(describe(f, 0, "aac", 2));
    while (access(f->path, F_OK) != 0 && frames < 100) {
        assert_true(put_frame(f, 0, 20 * frames++, large, size));
    }
    free(large);
    assert_in_range(frames, 2, 10);
}

/* Both are there, but one is silent. */
TEST(they_do_not_wait_in_the_library_either) {
    struct file *f = *state;
    size_t size = (size_t)4 << 20;
    uint8_t *large = calloc(1, size);
    struct stat st = {.st_size = 0};
    assert_non_null(large);
    assert_true(describe(f, 0, "aac", 2));
    assert_true(describe(f, 1, "aac", 2));
    for (int i = 0; i < 40; i++) {
        assert_true(put_frame(f, 0, i, large, size));
    }
    free(large);
    assert_int_equal(stat(f->path, &st), 0);
    assert_true(st.st_size > 40 << 20);
}

/* Each of them costs more in memory than in the file. */
TEST(nor_do_many_small_ones) {
    static const uint8_t small[100];
    struct file *f = *state;
    struct stat st = {.st_size = 0};
    assert_true(describe(f, 0, "aac", 2));
    assert_true(describe(f, 1, "aac", 2));
    for (int i = 0; i < 200000; i++) {
        assert_true(put_at(f, 0, i, small, sizeof(small)));
    }
    assert_int_equal(stat(f->path, &st), 0);
    assert_true(st.st_size > 8 << 20);
}

/* It has no start code. */
static const uint8_t no_picture[] = {1, 2, 3, 4, 5, 6, 7, 8};

/* A key frame without its headers. */
static const uint8_t slice[] = {0,    0,    0,    1,    0x65, 0x88,
                                0x84, 0x0a, 0xf2, 0x62, 0x80, 0x00};

TEST(a_picture_that_is_none_does_not_end_the_file) {
    static const uint8_t picture[] = {
        0, 0, 0, 1, 0x67, 0x42, 0xc0, 0x0a, 0xda, 0x10, 0x9a, 0x10, /* SPS */
        0, 0, 0, 1, 0x68, 0xce, 0x3c, 0x80,                         /* PPS */
        0, 0, 0, 1, 0x65, 0x88, 0x84, 0x0a, 0xf2, 0x62, 0x80, 0x00};
    struct file *f = *state;
    assert_true(describe(f, 0, "h264", 1));
    assert_true(put_frame(f, 0, 0, no_picture, sizeof(no_picture)));
    assert_int_not_equal(access(f->path, F_OK), 0);
    assert_true(put_frame(f, 0, 40, picture, sizeof(picture)));
    assert_int_equal(access(f->path, F_OK), 0);
    assert_int_equal(finish(f), 1);
}

/* Many pictures of which none can be written, and then the end. */
static void expect_no_file(struct file *f, unsigned stream,
                           const uint8_t *picture, size_t len) {
    bool closed;
    for (int i = 0; i < 600; i++) {
        assert_true(put_frame(f, stream, 20 * i, picture, len));
    }
    closed = mux_close(f->mux, f->why);
    f->mux = NULL;
    assert_false(closed);
    assert_string_not_equal(f->why, "");
}

TEST(a_file_of_such_pictures_alone_is_an_error) {
    struct file *f = *state;
    assert_true(describe(f, 0, "h264", 1));
    expect_no_file(f, 0, no_picture, sizeof(no_picture));
}

/* Sound is described and silent, and the pictures lack headers. */
TEST(a_file_without_a_frame_is_an_error) {
    struct file *f = *state;
    assert_true(describe(f, 0, "aac", 2));
    assert_true(describe(f, 1, "h264", 2));
    expect_no_file(f, 1, slice, sizeof(slice));
}

/* Those of the sound are enough for a file. */
TEST(pictures_whose_headers_never_come_are_left_out) {
    struct file *f = *state;
    assert_true(describe(f, 0, "aac", 2));
    assert_true(describe(f, 1, "h264", 2));
    for (int i = 0; i < 600; i++) {
        assert_true(put_sound(f, 0, 20 * i));
        if (i % 20 == 0) {
            assert_true(put_frame(f, 1, 20 * i, slice, sizeof(slice)));
        }
        assert_int_equal(mux_missing(f->mux), 1);
    }
    assert_int_equal(finish(f), 1);
}

/* One never had any, the other no headers. */
TEST(streams_that_ended_are_not_waited_for) {
    struct file *f = *state;
    assert_true(describe(f, 0, "aac", 3));
    assert_true(describe(f, 1, "h264", 3));
    assert_true(put_sound(f, 0, 0));
    assert_true(put_frame(f, 1, 0, slice, sizeof(slice)));
    assert_int_not_equal(access(f->path, F_OK), 0);
    mux_end(f->mux, 1);
    assert_true(put_sound(f, 0, 20));
    assert_int_not_equal(access(f->path, F_OK), 0);
    mux_end(f->mux, 2);
    assert_true(put_sound(f, 0, 40));
    assert_int_equal(access(f->path, F_OK), 0);
    assert_int_equal(mux_missing(f->mux), 1);
    assert_int_equal(finish(f), 1);
}

/* No two frames of a stream may have the same time in a container. */
TEST(frames_without_times_follow_those_before_them) {
    struct file *f = *state;
    assert_true(describe(f, 0, "aac", 1));
    assert_true(put_sound(f, 0, 20));
    for (int i = 0; i < 10; i++) {
        assert_true(put_at(f, 0, MEDIA_TIME_NONE, sound, sizeof(sound)));
    }
    assert_true(put_sound(f, 0, 200));
    assert_int_equal(finish(f), 1);
}

TEST(no_stream_that_is_in_the_file_is_missing) {
    struct file *f = *state;
    assert_true(describe(f, 0, "aac", 2));
    assert_int_equal(mux_missing(f->mux), 0);
    assert_true(describe(f, 1, "aac", 2));
    assert_true(put_sound(f, 0, 0));
    assert_true(describe(f, 0, "aac", 2)); /* changed */
    assert_int_equal(mux_missing(f->mux), 0);
    assert_int_equal(finish(f), 2);
}

static int lowest_descriptor(void) {
    int fd = dup(STDERR_FILENO);
    assert_true(fd >= 0);
    (void)close(fd);
    return fd;
}

/* No container takes sound without a sample rate. */
TEST(a_file_that_cannot_begin_is_closed_once) {
    static const uint8_t aac[] = {0x12, 0x10};
    const media_config c = {.type = MEDIA_TYPE_AUDIO,
                            .streams = 1,
                            .codec = {"aac", 3},
                            .extradata = {aac, sizeof(aac)}};
    struct file *f = *state;
    int lowest = lowest_descriptor();
    bool closed;
    assert_true(mux_describe(f->mux, 0, &c, f->why));
    assert_false(put_sound(f, 0, 0));
    closed = mux_close(f->mux, f->why);
    f->mux = NULL;
    assert_false(closed);
    assert_int_equal(lowest_descriptor(), lowest);
}

/* It has complained of an earlier packet. */
TEST(a_file_that_cannot_be_opened_is_not_blamed_on_a_picture) {
    struct file *f = *state;
    assert_true(describe(f, 0, "h264", 2));
    assert_true(describe(f, 1, "aac", 2));
    libav_log_listen();
    for (int i = 0; i < 511; i++) {
        assert_true(put_sound(f, 1, 20 * i));
    }
    assert_true(put_frame(f, 0, 0, no_picture, sizeof(no_picture)));
    assert_string_not_equal(libav_log_error(), "");
    assert_false(put_sound(f, 1, 20 * 511));
    av_log_set_callback(av_log_default_callback);
    assert_non_null(strstr(f->why, "No such file"));
}

#define T(name, how) \
    { #name " (" #how ")", name, set_up_##how, tear_down, NULL }

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_stream_that_comes_after_the_beginning_is_left_out, mkv),
        T(a_stream_that_comes_after_the_beginning_is_left_out, mp4),
        T(a_stream_that_comes_after_the_beginning_is_left_out, ts),
        T(large_frames_do_not_wait_for_long, mkv),
        T(they_do_not_wait_in_the_library_either, mkv),
        T(they_do_not_wait_in_the_library_either, mp4),
        T(nor_do_many_small_ones, mkv),
        T(a_picture_that_is_none_does_not_end_the_file, mkv),
        T(streams_that_ended_are_not_waited_for, mkv),
        T(a_file_of_such_pictures_alone_is_an_error, mkv),
        T(a_file_without_a_frame_is_an_error, mkv),
        T(pictures_whose_headers_never_come_are_left_out, mkv),
        T(pictures_whose_headers_never_come_are_left_out, mp4),
        T(frames_without_times_follow_those_before_them, mkv),
        T(frames_without_times_follow_those_before_them, mp4),
        T(frames_without_times_follow_those_before_them, ts),
        T(no_stream_that_is_in_the_file_is_missing, mkv),
        T(a_file_that_cannot_begin_is_closed_once, mkv),
        T(a_file_that_cannot_begin_is_closed_once, mp4),
        T(a_file_that_cannot_be_opened_is_not_blamed_on_a_picture,
          missing_folder),
    };
    av_log_set_level(AV_LOG_QUIET);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

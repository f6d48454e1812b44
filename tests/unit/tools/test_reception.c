/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "tests/support/cmocka.h"
#include "tools/tltcp/reception.h"

#define MS INT64_C(1000000)

/* Reception is linked without libavformat: what it writes is noted here. */
static struct {
    int described;
    int written;
    bool refuse;
    unsigned missing;
    unsigned ended; /* a bit for each stream */
} file;

struct mux {
    int unused;
};

bool mux_describe(struct mux *m, unsigned stream, const media_config *c,
                  char *why) {
    (void)m;
    (void)stream;
    (void)c;
    (void)strcpy(why, "does not fit");
    file.described++;
    return !file.refuse;
}

bool mux_write(struct mux *m, const media_header *h, const uint8_t *data,
               char *why) {
    (void)m;
    (void)h;
    (void)data;
    (void)why;
    file.written++;
    return true;
}

void mux_end(struct mux *m, unsigned stream) {
    (void)m;
    file.ended |= 1u << stream;
}

unsigned mux_missing(const struct mux *m) {
    (void)m;
    return file.missing;
}

bool mux_close(struct mux *m, char *why) {
    (void)m;
    (void)why;
    return true;
}

struct rig {
    struct reception_wishes wishes;
    struct reception_totals totals;
    struct reception r;
    struct mux mux;
    uint8_t section[MEDIA_HEADER_LEN + 512];
    uint64_t next;    /* number of the next section */
    uint32_t depends; /* of those that come */
    uint32_t flags;   /* likewise */
};

static int setup(void **state) {
    static struct rig rig;
    memset(&rig, 0, sizeof(rig));
    memset(&file, 0, sizeof(file));
    rig.wishes =
        (struct reception_wishes){.latency = 100 * MS, .keep_broken = true};
    reception_init(&rig.r, &rig.wishes, &rig.totals, &rig.mux);
    *state = &rig;
    return 0;
}

static size_t build(struct rig *rig, uint8_t class, uint32_t number,
                    uint32_t refs, int64_t pts) {
    media_header h = {.kind = MEDIA_KIND_FRAME,
                      .frame_class = class,
                      .picture = MEDIA_PICTURE_P,
                      .flags = rig->flags,
                      .generation = 1,
                      .number = number,
                      .refs = refs,
                      .length = 10,
                      .pts = pts,
                      .dts = pts,
                      .duration = MEDIA_TIME_NONE};
    if (class == MEDIA_CLASS_KEY) {
        h.picture = MEDIA_PICTURE_I;
    } else if (class == MEDIA_CLASS_DISPOSABLE) {
        h.picture = MEDIA_PICTURE_B;
    }
    media__header_write(&h, rig->section);
    return MEDIA_HEADER_LEN + 10;
}

/* Sections are numbered as they come. */
static void take(struct rig *rig, size_t len, uint64_t now) {
    media_section section = {.data = rig->section,
                             .len = len,
                             .complete = true,
                             .number = rig->next++};
    section.meta.depends = rig->depends;
    reception_section(&rig->r, &section, now);
}

static void cut(struct rig *rig, size_t len) {
    media_section section = {
        .data = len ? rig->section : NULL, .len = len, .number = rig->next++};
    reception_cut(&rig->r, &section, 2);
}

static void whole(struct rig *rig, uint8_t class, uint32_t number,
                  uint32_t refs, int64_t pts, uint64_t now) {
    size_t len = build(rig, class, number, refs, pts);
    take(rig, len, now);
}

TEST(frames_in_time_are_on_time_and_others_late) {
    struct rig *rig = *state;
    const uint64_t t = 1000000000;
    whole(rig, MEDIA_CLASS_KEY, 0, 0, 0, t);
    whole(rig, MEDIA_CLASS_REFERENCE, 1, 1, 40 * MS, t + 140 * MS);
    whole(rig, MEDIA_CLASS_REFERENCE, 2, 2, 80 * MS, t + 181 * MS);
    assert_int_equal(rig->totals.kind[TLTCP_LIVE_KIND_I].on_time, 1);
    assert_int_equal(rig->totals.kind[TLTCP_LIVE_KIND_P].decodable, 2);
    assert_int_equal(rig->totals.kind[TLTCP_LIVE_KIND_P].on_time, 1);
    assert_int_equal(rig->totals.kind[TLTCP_LIVE_KIND_P].late, 1);
    assert_int_equal(file.written, 3);
}

TEST(dependents_of_a_lost_frame_are_not_decodable) {
    struct rig *rig = *state;
    whole(rig, MEDIA_CLASS_KEY, 0, 0, 0, 1);
    whole(rig, MEDIA_CLASS_REFERENCE, 2, 2, 80 * MS, 80 * MS);
    whole(rig, MEDIA_CLASS_DISPOSABLE, 3, 3, 60 * MS, 81 * MS);
    whole(rig, MEDIA_CLASS_KEY, 4, 3, 120 * MS, 120 * MS);
    assert_int_equal(rig->totals.kind[TLTCP_LIVE_KIND_P].received, 1);
    assert_int_equal(rig->totals.kind[TLTCP_LIVE_KIND_P].decodable, 0);
    assert_int_equal(rig->totals.kind[TLTCP_LIVE_KIND_B].decodable, 0);
    assert_int_equal(rig->totals.kind[TLTCP_LIVE_KIND_I].decodable, 2);
    assert_int_equal(file.written, 4);
}

TEST(undecodable_frames_can_be_left_out_of_the_file) {
    struct rig *rig = *state;
    rig->wishes.keep_broken = false;
    whole(rig, MEDIA_CLASS_REFERENCE, 5, 5, 0, 1);
    assert_int_equal(file.written, 0);
    whole(rig, MEDIA_CLASS_KEY, 6, 6, 40 * MS, 40 * MS);
    assert_int_equal(file.written, 1);
}

/* A gradual refresh is needed from its beginning on. */
TEST(a_recovery_is_written_from_its_beginning) {
    struct rig *rig = *state;
    rig->wishes.keep_broken = false;
    for (uint32_t i = 0; i < 5; i++) {
        rig->flags =
            i == 1 ? MEDIA_FLAG_RECOVERY | 2u << MEDIA_RECOVERY_SHIFT : 0;
        whole(rig, MEDIA_CLASS_REFERENCE, 5 + i, 5 + i, i * 40 * MS, i + 1);
    }
    assert_int_equal(file.written, 4);
    assert_int_equal(rig->totals.kind[TLTCP_LIVE_KIND_P].decodable, 2);
}

/* The second reference is lost: it is no branch that counts, but one frame says
 * that it refers to it. */
static void
what_says_that_it_refers_to_a_lost_section_is_not_decodable(void **state) {
    struct rig *rig = *state;
    whole(rig, MEDIA_CLASS_KEY, 0, 0, 0, 1);
    rig->depends = 1;
    whole(rig, MEDIA_CLASS_REFERENCE, 1, 1, 80 * MS, 2);
    rig->next++;
    whole(rig, MEDIA_CLASS_DISPOSABLE, 3, 2, 40 * MS, 3);
    assert_int_equal(rig->totals.kind[TLTCP_LIVE_KIND_B].decodable, 0);
    rig->depends = 3;
    whole(rig, MEDIA_CLASS_REFERENCE, 4, 2, 160 * MS, 4);
    assert_int_equal(rig->totals.kind[TLTCP_LIVE_KIND_P].decodable, 2);
}

TEST(a_cut_frame_counts_and_breaks_the_chain) {
    struct rig *rig = *state;
    whole(rig, MEDIA_CLASS_KEY, 0, 0, 0, 1);
    (void)build(rig, MEDIA_CLASS_REFERENCE, 1, 1, 40 * MS);
    cut(rig, MEDIA_HEADER_LEN + 3);
    cut(rig, 3); /* not even a header */
    cut(rig, 0);
    assert_int_equal(rig->totals.kind[TLTCP_LIVE_KIND_P].cut, 1);
    whole(rig, MEDIA_CLASS_DISPOSABLE, 2, 2, 20 * MS, 3);
    assert_int_equal(rig->totals.kind[TLTCP_LIVE_KIND_B].received, 1);
    assert_int_equal(rig->totals.kind[TLTCP_LIVE_KIND_B].decodable, 0);
}

TEST(the_sender_sets_the_latency_by_default) {
    struct rig *rig = *state;
    media_config c = {.type = MEDIA_TYPE_VIDEO, .latency_ms = 500};
    media_header h = {.kind = MEDIA_KIND_CONFIG, .generation = 1};
    size_t len;
    rig->wishes.latency = -1;
    reception_init(&rig->r, &rig->wishes, &rig->totals, &rig->mux);
    len = media__config_write(&c, rig->section + MEDIA_HEADER_LEN, 512);
    assert_in_range(len, 1, 512);
    h.length = (uint32_t)len;
    media__header_write(&h, rig->section);
    take(rig, MEDIA_HEADER_LEN + len, 1);
    assert_int_equal(rig->r.latency, 500 * MS);
    rig->wishes.latency = 100 * MS;
    reception_init(&rig->r, &rig->wishes, &rig->totals, &rig->mux);
    take(rig, MEDIA_HEADER_LEN + len, 2);
    assert_int_equal(rig->r.latency, 100 * MS);
    assert_int_equal(file.described, 2);
}

TEST(a_stream_that_does_not_fit_the_file_fails) {
    struct rig *rig = *state;
    media_config c = {.type = MEDIA_TYPE_VIDEO};
    media_header h = {.kind = MEDIA_KIND_CONFIG, .generation = 1};
    size_t len = media__config_write(&c, rig->section + MEDIA_HEADER_LEN, 512);
    file.refuse = true;
    h.length = (uint32_t)len;
    media__header_write(&h, rig->section);
    take(rig, MEDIA_HEADER_LEN + len, 1);
    assert_true(rig->r.failed);
    assert_string_equal(rig->r.why, "does not fit");
    assert_false(reception_end(&rig->r));
}

TEST(bytes_that_are_no_media_are_counted_and_skipped) {
    struct rig *rig = *state;
    memset(rig->section, 0xa5, sizeof(rig->section));
    take(rig, 200, 1);
    take(rig, 1, 1);
    assert_int_equal(rig->totals.foreign, 2);
    assert_int_equal(file.written, 0);
}

TEST(streams_that_are_missing_in_the_file_are_counted) {
    struct rig *rig = *state;
    file.missing = 2;
    assert_true(reception_end(&rig->r));
    assert_int_equal(rig->r.missing, 2);
}

TEST(the_end_of_the_stream_is_noticed) {
    struct rig *rig = *state;
    media_header h = {.kind = MEDIA_KIND_EVENT,
                      .picture = MEDIA_EVENT_EOS,
                      .pts = MEDIA_TIME_NONE,
                      .dts = MEDIA_TIME_NONE,
                      .duration = MEDIA_TIME_NONE};
    media__header_write(&h, rig->section);
    assert_false(rig->r.ended);
    take(rig, MEDIA_HEADER_LEN, 1);
    assert_true(rig->r.ended);
    assert_int_equal(file.ended, 1u << 0);
}

#define T(f) cmocka_unit_test_setup(f, setup)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(frames_in_time_are_on_time_and_others_late),
        T(dependents_of_a_lost_frame_are_not_decodable),
        T(undecodable_frames_can_be_left_out_of_the_file),
        T(a_recovery_is_written_from_its_beginning),
        T(what_says_that_it_refers_to_a_lost_section_is_not_decodable),
        T(a_cut_frame_counts_and_breaks_the_chain),
        T(the_sender_sets_the_latency_by_default),
        T(a_stream_that_does_not_fit_the_file_fails),
        T(bytes_that_are_no_media_are_counted_and_skipped),
        T(streams_that_are_missing_in_the_file_are_counted),
        T(the_end_of_the_stream_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

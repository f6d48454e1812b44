/* SPDX-License-Identifier: MPL-2.0 */
/* The effect of each value of the properties that drop frames. */
#include "tests/gst/support.h"

#include <gio/gio.h>

#define MS GST_MSECOND

struct frame {
    char kind;
    guint8 mark;
    gint64 ms; /* its display time, from now on */
    gboolean late;
};

struct pair {
    GstHarness *src;
    GstHarness *sink;
    GString *dropped; /* mark:reason */
};

static void note_dropped(GstElement *sink, GSocketAddress *caller, guint stream,
                         const char *frame_class, const char *reason,
                         guint64 tag, gpointer user) {
    struct pair *p = user;

    (void)sink;
    (void)caller;
    (void)stream;
    (void)frame_class;
    g_string_append_printf(p->dropped, "%c:%s ", (char)tag, reason);
}

static struct pair begin(const char *query) {
    struct pair p = {.dropped = g_string_new(NULL)};

    p.src = support_listener("tltcpsrc", "latency=100");
    p.sink = support_caller("tltcpsink", p.src->element, query);
    gst_harness_set_src_caps_str(p.sink, SUPPORT_H264_CAPS);
    return p;
}

static void push(struct pair *p, const struct frame *f, GstClockTime from) {
    GstClockTime t = from + (GstClockTime)(f->ms * (gint64)MS);
    GstBuffer *buffer = support_frame(f->kind, f->mark, t, t);
    GstStructure *s = gst_custom_meta_get_structure(
        gst_buffer_add_custom_meta(buffer, "GstTltcpSendMeta"));

    gst_structure_set(s, "tag", G_TYPE_UINT64, (guint64)f->mark, NULL);
    if (f->late) {
        gst_structure_set(s, "deadline", G_TYPE_UINT64, (guint64)1, NULL);
    }
    support_push(p->sink, buffer);
}

/* Plays to the end; notes the marks of what arrived. */
static void end(struct pair *p, GString *got) {
    gst_harness_push_event(p->sink, gst_event_new_eos());
    gst_event_unref(support_pull_event(p->src, GST_EVENT_EOS));
    for (GstBuffer *b; (b = gst_harness_try_pull(p->src));) {
        g_string_append_c(got, (char)support_mark(b));
        gst_buffer_unref(b);
    }
    support_stop(p->sink);
    support_stop(p->src);
}

/* Of these frames, the option set to row[0], those marked row[1] arrive, and
 * row[2] says why the others do not. */
static void expect(const char *option, const char *const row[3],
                   const struct frame *frames, gsize n) {
    g_autofree char *query =
        g_strdup_printf("latency=10000&%s=%s", option, row[0]);
    struct pair p = begin(query);
    g_autoptr(GString) got = g_string_new(NULL);
    GstClockTime now = gst_element_get_current_running_time(p.sink->element);

    g_signal_connect(p.sink->element, "section-dropped",
                     G_CALLBACK(note_dropped), &p);
    for (gsize i = 0; i < n; i++) {
        push(&p, &frames[i], now);
    }
    end(&p, got);
    print_message("%s: %s, %s\n", query, got->str, p.dropped->str);
    assert_string_equal(got->str, row[1]);
    assert_string_equal(p.dropped->str, row[2]);
    g_string_free(p.dropped, TRUE);
}

/* A frame that nobody needs is late, then one that others need. */
TEST(drop_policies_differ_in_the_frames_dropped_with_a_late_one) {
    static const struct frame frames[] = {
        {'I', 'a', 0, FALSE},   {'P', 'b', 40, FALSE},  {'B', 'c', 80, TRUE},
        {'P', 'd', 120, FALSE}, {'I', 'e', 160, FALSE}, {'P', 'f', 200, TRUE},
        {'P', 'g', 240, FALSE}, {'I', 'h', 280, FALSE}, {'P', 'i', 320, FALSE}};
    static const char *const rows[][3] = {
        {"section", "abdeghi", "c:late f:late "},
        {"dependents", "abdehi", "c:late f:late g:depends "},
        {"until-keyframe", "abehi", "c:late d:depends f:late g:depends "}};

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        expect("drop-policy", rows[i], frames, G_N_ELEMENTS(frames));
    }
}

/* Of two groups the first goes on for a minute and has a frame that was to be
 * shown long ago; the second is over. */
TEST(deadline_modes_differ_in_when_a_frame_is_late) {
    static const struct frame frames[] = {{'I', 'a', 0, FALSE},
                                          {'P', 'b', 120000, FALSE},
                                          {'B', 'c', -50000, FALSE},
                                          {'I', 'd', -50000, FALSE},
                                          {'I', 'e', 130000, FALSE}};
    static const char *const rows[][3] = {{"pts", "abe", "c:late d:late "},
                                          {"gop", "abce", "d:late "},
                                          {"constant", "abcde", ""},
                                          {"none", "abcde", ""}};

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        expect("deadline-mode", rows[i], frames, G_N_ELEMENTS(frames));
    }
}

/* Of more than the connection may send in the latency. */
static guint arrived_of(guint n, const char *mode) {
    g_autofree char *query = g_strdup_printf(
        "latency=100&max-send-bitrate=1000000&deadline-mode=%s", mode);
    struct pair p = begin(query);
    GstClockTime now = gst_element_get_current_running_time(p.sink->element);
    g_autoptr(GString) got = g_string_new(NULL);

    for (guint i = 0; i < n; i++) {
        GstBuffer *frame = support_frame(i ? 'B' : 'I', 'a', now, now);
        support_push(p.sink, gst_buffer_append(
                                 frame, support_buffer(0x80, 10000, 0, 0, 0)));
    }
    end(&p, got);
    g_string_free(p.dropped, TRUE);
    return (guint)got->len;
}

TEST(without_deadlines_nothing_is_given_up) {
    assert_int_equal(arrived_of(15, "none"), 15);
    assert_true(arrived_of(15, "constant") < 15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            drop_policies_differ_in_the_frames_dropped_with_a_late_one),
        cmocka_unit_test(deadline_modes_differ_in_when_a_frame_is_late),
        cmocka_unit_test(without_deadlines_nothing_is_given_up),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* What waits in a pad of the source that downstream blocks. */
#include "gst-plugins/gsttltcpsrc.h"
#include "gst-plugins/gsttltcpsrcpad.h"
#include "tests/gst/support.h"

#define MANY 100000u
/* Far below what they would be without a limit. */
#define SOME 20000

struct blocked {
    GstElement *source;
    GstTltcpSrcPad *pad;
    gulong probe;
    gint alive; /* atomic: objects that wait */
    GMutex lock;
    GCond changed;
    GPtrArray *came; /* GstMiniObject */
    gboolean ended;
};

static GstPadProbeReturn on_block(GstPad *pad, GstPadProbeInfo *info,
                                  gpointer user) {
    (void)pad;
    (void)info;
    (void)user;
    return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn on_data(GstPad *pad, GstPadProbeInfo *info,
                                 gpointer user) {
    struct blocked *b = user;

    (void)pad;
    g_mutex_lock(&b->lock);
    g_ptr_array_add(b->came,
                    gst_mini_object_ref(GST_PAD_PROBE_INFO_DATA(info)));
    b->ended = b->ended ||
               (GST_IS_EVENT(GST_PAD_PROBE_INFO_DATA(info)) &&
                GST_EVENT_TYPE(GST_PAD_PROBE_INFO_DATA(info)) == GST_EVENT_EOS);
    g_cond_broadcast(&b->changed);
    g_mutex_unlock(&b->lock);
    return GST_PAD_PROBE_DROP;
}

static int setup(void **state) {
    struct blocked *b = g_new0(struct blocked, 1);

    b->source = gst_object_ref_sink(g_object_new(GST_TYPE_TLTCP_SRC, NULL));
    g_mutex_init(&b->lock);
    g_cond_init(&b->changed);
    b->came =
        g_ptr_array_new_with_free_func((GDestroyNotify)gst_mini_object_unref);
    g_autoptr(GstCaps) caps = gst_caps_new_empty_simple("audio/x-raw");
    b->pad = gst_tltcp_src_pad_add(b->source, 1, caps);
    b->probe =
        gst_pad_add_probe(GST_PAD(b->pad), GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM,
                          on_block, NULL, NULL);
    *state = b;
    return 0;
}

static int teardown(void **state) {
    struct blocked *b = *state;

    gst_tltcp_src_pad_remove(b->pad);
    g_ptr_array_unref(b->came);
    gst_object_unref(b->source);
    g_cond_clear(&b->changed);
    g_mutex_clear(&b->lock);
    g_free(b);
    return 0;
}

/* Lets everything pass until the end. */
static void unblock(struct blocked *b) {
    gst_pad_add_probe(GST_PAD(b->pad), GST_PAD_PROBE_TYPE_DATA_DOWNSTREAM,
                      on_data, b, NULL);
    gst_pad_remove_probe(GST_PAD(b->pad), b->probe);
    gst_tltcp_src_pad_push(b->pad, GST_MINI_OBJECT(gst_event_new_eos()));
    g_mutex_lock(&b->lock);
    while (!b->ended) {
        g_cond_wait(&b->changed, &b->lock);
    }
    g_mutex_unlock(&b->lock);
}

static void on_freed(gpointer user, GstMiniObject *object) {
    (void)object;
    (void)g_atomic_int_dec_and_test((gint *)user);
}

static void push(struct blocked *b, gpointer object) {
    g_atomic_int_inc(&b->alive);
    gst_mini_object_weak_ref(object, on_freed, &b->alive);
    gst_tltcp_src_pad_push(b->pad, object);
}

static GstEvent *caps_event(guint i) {
    g_autoptr(GstCaps) caps =
        gst_caps_new_simple("audio/x-raw", "rate", G_TYPE_INT, (gint)i, NULL);

    return gst_event_new_caps(caps);
}

static GstEvent *tag_event(guint i) {
    return gst_event_new_tag(gst_tag_list_new(GST_TAG_BITRATE, (guint)i, NULL));
}

TEST(empty_buffers_do_not_fill_the_memory) {
    struct blocked *b = *state;

    for (guint i = 0; i < MANY; i++) {
        push(b, gst_buffer_new());
    }
    assert_in_range(g_atomic_int_get(&b->alive), 1, SOME);
    unblock(b);
}

TEST(nor_do_gaps) {
    struct blocked *b = *state;

    for (guint i = 0; i < MANY; i++) {
        push(b, gst_event_new_gap(i, 1));
    }
    assert_in_range(g_atomic_int_get(&b->alive), 1, SOME);
    unblock(b);
}

/* Each of them may be large. */
TEST(nor_do_caps_and_tags) {
    struct blocked *b = *state;

    for (guint i = 1; i <= 1000; i++) {
        push(b, caps_event(i));
        push(b, tag_event(i));
    }
    assert_in_range(g_atomic_int_get(&b->alive), 1, 300);
    unblock(b);
}

TEST(nor_do_ends) {
    struct blocked *b = *state;

    for (guint i = 0; i < MANY; i++) {
        push(b, gst_event_new_eos());
    }
    assert_in_range(g_atomic_int_get(&b->alive), 1, SOME);
    unblock(b);
}

/* Buffers would have wrong caps without them. */
TEST(the_newest_caps_precede_what_follows_a_full_queue) {
    struct blocked *b = *state;
    gint rate = 0;

    for (guint i = 1; i <= 1000; i++) {
        push(b, caps_event(i));
        push(b, gst_buffer_new());
    }
    unblock(b);
    for (guint i = 0; i < b->came->len; i++) {
        GstEvent *event = g_ptr_array_index(b->came, i);
        GstCaps *caps;
        if (GST_IS_EVENT(event) && GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
            gst_event_parse_caps(event, &caps);
            gst_structure_get_int(gst_caps_get_structure(caps, 0), "rate",
                                  &rate);
        }
    }
    assert_int_equal(rate, 1000);
}

/* As a raw picture of 4096 by 2160 pixels, behind descriptions that wait. */
TEST(a_buffer_larger_than_the_queue_passes) {
    struct blocked *b = *state;
    gsize most = 0;

    for (guint i = 1; i <= 3; i++) {
        push(b, caps_event(i));
    }
    gst_tltcp_src_pad_push(
        b->pad, GST_MINI_OBJECT(gst_buffer_new_allocate(NULL, 35 << 20, NULL)));
    unblock(b);
    for (guint i = 0; i < b->came->len; i++) {
        GstBuffer *buffer = g_ptr_array_index(b->came, i);
        most = GST_IS_BUFFER(buffer) ? MAX(most, gst_buffer_get_size(buffer))
                                     : most;
    }
    assert_int_equal(most, 35 << 20);
}

/* The element is linked. The plug-in, whose types have the same names, must not
 * be loaded, not even for the registry. */
static int begin(void **state) {
    (void)state;
    g_setenv("GST_PLUGIN_PATH", "", TRUE);
    g_setenv("GST_PLUGIN_SYSTEM_PATH", "", TRUE);
    gst_init(NULL, NULL);
    return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(empty_buffers_do_not_fill_the_memory),
        T(nor_do_gaps),
        T(nor_do_caps_and_tags),
        T(nor_do_ends),
        T(the_newest_caps_precede_what_follows_a_full_queue),
        T(a_buffer_larger_than_the_queue_passes),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* How a source ends streams that had no frame. */
#include <string.h>

#include <tltcp/socket.h>

#include "internal/media/codec/config.h"
#include "tests/gst/pipelines.h"

static gint told; /* no-more-pads; outlives a failure */

static void on_no_more_pads(GstElement *source, gpointer user) {
    (void)source;
    (void)user;
    g_atomic_int_inc(&told);
}

/* A sender that writes its sections itself. */
static tltcp_socket *call(struct run *r) {
    guint port = run_receive(r, "tltcp://127.0.0.1:0?mode=listener");
    g_autofree gchar *text = g_strdup_printf("%u", port);
    g_autoptr(GstIterator) it = gst_bin_iterate_sources(GST_BIN(r->receiver));
    g_auto(GValue) source = G_VALUE_INIT;
    tltcp_socket *s = NULL;

    g_atomic_int_set(&told, 0);
    assert_int_equal(gst_iterator_next(it, &source), GST_ITERATOR_OK);
    g_signal_connect(g_value_get_object(&source), "no-more-pads",
                     G_CALLBACK(on_no_more_pads), NULL);
    assert_int_equal(tltcp_connect(&s, "127.0.0.1", text, NULL, PATIENCE_MS),
                     0);
    return s;
}

static void write_section(tltcp_socket *s, const media_header *h,
                          guint8 *payload) {
    guint8 head[MEDIA_HEADER_LEN];
    const struct iovec parts[] = {{head, sizeof(head)}, {payload, h->length}};
    const tltcp_section section = {.data = parts,
                                   .count = h->length ? 2 : 1,
                                   .deadline = TLTCP_TIME_NEVER};

    media__header_write(h, head);
    assert_int_equal(tltcp_send(s, &section, 1, 0), sizeof(head) + h->length);
}

static media_header header(guint8 kind, guint8 stream) {
    return (media_header){.kind = kind,
                          .stream = stream,
                          .generation = 1,
                          .pts = MEDIA_TIME_NONE,
                          .dts = MEDIA_TIME_NONE,
                          .duration = MEDIA_TIME_NONE};
}

/* One of two streams. */
static void announce(tltcp_socket *s, guint8 stream, guint8 type,
                     const char *codec) {
    media_config config = {.type = type,
                           .streams = 2,
                           .sample_rate = 48000,
                           .channels = 1,
                           .codec = {codec, strlen(codec)}};
    media_header h = header(MEDIA_KIND_CONFIG, stream);
    guint8 payload[500];

    h.length = (guint32)media__config_write(&config, payload, sizeof(payload));
    assert_in_range(h.length, 1, sizeof(payload));
    write_section(s, &h, payload);
}

static void announce_both(tltcp_socket *s) {
    announce(s, 0, MEDIA_TYPE_AUDIO, "opus");
    announce(s, 1, MEDIA_TYPE_VIDEO, "vp8");
}

static void end_stream(tltcp_socket *s, guint8 stream) {
    media_header h = header(MEDIA_KIND_EVENT, stream);

    h.picture = MEDIA_EVENT_EOS;
    write_section(s, &h, NULL);
}

static void send_frame(tltcp_socket *s, guint8 stream) {
    media_header h = header(MEDIA_KIND_FRAME, stream);
    guint8 frame[5] = {0};

    h.frame_class = MEDIA_CLASS_KEY;
    h.pts = h.dts = 0;
    h.length = sizeof(frame);
    write_section(s, &h, frame);
}

/* Requires the lock. */
static gboolean has_ended(const struct run *r, const char *name) {
    for (guint i = 0; i < r->outputs->len; i++) {
        const struct output *o = g_ptr_array_index(r->outputs, i);
        if (strcmp(o->name, name) == 0) {
            return o->eos;
        }
    }
    return FALSE;
}

/* Waits until one pad has ended; another one, if any, has not. */
static void wait_ended(struct run *r, const char *name, const char *other) {
    gint64 end = g_get_monotonic_time() + PATIENCE / 1000;

    g_mutex_lock(&r->lock);
    while (!has_ended(r, name) &&
           g_cond_wait_until(&r->changed, &r->lock, end)) {
    }
    gboolean right = has_ended(r, name) && (!other || !has_ended(r, other));
    g_mutex_unlock(&r->lock);
    assert_true(right);
}

static void assert_both_ended(struct run *r) {
    pipeline_wait(r->receiver, GST_MESSAGE_EOS);
    assert_int_equal(r->outputs->len, 2);
    wait_ended(r, "src", NULL);
    wait_ended(r, "src_0", NULL);
    assert_int_equal(g_atomic_int_get(&told), 1);
}

TEST(streams_without_a_frame_have_pads_and_end) {
    struct run *r = *state;
    tltcp_socket *s = call(r);

    announce_both(s);
    end_stream(s, 0);
    end_stream(s, 1);
    assert_both_ended(r);
    tltcp_close(s, 0);
}

TEST(they_end_with_their_connection) {
    struct run *r = *state;
    tltcp_socket *s = call(r);

    announce_both(s);
    tltcp_close(s, PATIENCE_MS);
    assert_both_ended(r);
}

TEST(a_stream_without_a_frame_ends_before_the_others) {
    struct run *r = *state;
    tltcp_socket *s = call(r);

    announce_both(s);
    end_stream(s, 0);
    send_frame(s, 1);
    wait_ended(r, "src_0", "src");
    tltcp_close(s, 0);
}

TEST(so_does_the_first) {
    struct run *r = *state;
    tltcp_socket *s = call(r);

    announce_both(s);
    end_stream(s, 1);
    send_frame(s, 0);
    run_wait_output(r, "audio/x-opus", 1);
    wait_ended(r, "src", "src_0");
    tltcp_close(s, 0);
}

TEST(a_single_stream_has_no_more_pads) {
    struct run *r = *state;
    tltcp_socket *s = call(r);

    announce(s, 0, MEDIA_TYPE_AUDIO, "opus");
    send_frame(s, 0);
    run_wait_output(r, "audio/x-opus", 1);
    send_frame(s, 0);
    tltcp_close(s, PATIENCE_MS);
    pipeline_wait(r->receiver, GST_MESSAGE_EOS);
    assert_int_equal(g_atomic_int_get(&told), 1);
}

TEST(a_connection_without_a_stream_is_an_error) {
    struct run *r = *state;
    tltcp_socket *s = call(r);
    g_autoptr(GstBus) bus = gst_element_get_bus(r->receiver);

    tltcp_close(s, PATIENCE_MS);
    support_expect_error(bus, GST_RESOURCE_ERROR_READ, "before");
}

#define T(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(streams_without_a_frame_have_pads_and_end),
        T(they_end_with_their_connection),
        T(a_stream_without_a_frame_ends_before_the_others),
        T(so_does_the_first),
        T(a_single_stream_has_no_more_pads),
        T(a_connection_without_a_stream_is_an_error),
    };
    return cmocka_run_group_tests(tests, support_setup, NULL);
}

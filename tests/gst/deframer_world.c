/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/gst/deframer_world.h"

#include <stdlib.h>

#include "gst-plugins/gsttltcpmeta.h"

int world_init(void **state) {
    (void)state;
    gst_init(NULL, NULL);
    gst_tltcp_meta_register();
    return 0;
}

int world_setup(void **state) {
    struct world *w = g_new0(struct world, 1);

    gst_tltcp_deframer_init(&w->d);
    *state = w;
    return 0;
}

void world_forget(struct world *w) {
    gst_clear_buffer(&w->deframed.buffer);
    gst_clear_event(&w->deframed.event);
    gst_clear_event(&w->deframed.tags);
    gst_clear_caps(&w->deframed.caps);
    memset(&w->deframed, 0, sizeof(w->deframed));
}

int world_teardown(void **state) {
    struct world *w = *state;

    world_forget(w);
    gst_tltcp_deframer_clear(&w->d);
    g_free(w);
    return 0;
}

void give_section(struct world *w, const media_header *h, const void *payload,
                  gboolean complete, GstClockTime now) {
    media_section section = {
        .complete = complete, .begins = TRUE, .number = w->section++};

    section.meta.depends = w->depends;
    section.len = MEDIA_HEADER_LEN + h->length;
    section.data = malloc(section.len);
    assert_non_null(section.data);
    media__header_write(h, section.data);
    memcpy(section.data + MEDIA_HEADER_LEN, payload, h->length);
    world_forget(w);
    gst_tltcp_deframer_section(&w->d, &section, now, &w->deframed);
}

media_header header_of(unsigned kind, guint8 stream) {
    return (media_header){.kind = (guint8)kind,
                          .stream = stream,
                          .generation = 1,
                          .pts = MEDIA_TIME_NONE,
                          .dts = MEDIA_TIME_NONE,
                          .duration = MEDIA_TIME_NONE};
}

void give_config(struct world *w, guint8 stream, const media_config *c) {
    guint8 payload[512];
    media_header h = header_of(MEDIA_KIND_CONFIG, stream);

    h.length = (guint32)media__config_write(c, payload, sizeof(payload));
    give_section(w, &h, payload, TRUE, 0);
}

void give_caps(struct world *w, guint8 stream, guint8 type, const char *caps) {
    media_config c = {.type = type, .caps = {caps, strlen(caps)}};

    give_config(w, stream, &c);
}

void give_end(struct world *w, guint8 stream) {
    media_header h = header_of(MEDIA_KIND_EVENT, stream);

    h.picture = MEDIA_EVENT_EOS;
    give_section(w, &h, "", TRUE, 0);
}

void give_frame(struct world *w, guint8 stream, char kind, gboolean complete) {
    char upper = (char)(kind & ~0x20);
    media_header h = {.kind = MEDIA_KIND_FRAME,
                      .stream = stream,
                      .frame_class = upper == 'I'   ? MEDIA_CLASS_KEY
                                     : upper == 'B' ? MEDIA_CLASS_DISPOSABLE
                                                    : MEDIA_CLASS_REFERENCE,
                      .flags = upper == 'I' ? MEDIA_FLAG_KEY
                               : upper == 'V'
                                   ? MEDIA_FLAG_DELTA | MEDIA_FLAG_BRANCH
                               : upper == 'R' ? MEDIA_FLAG_DELTA | RECOVERY_IN_2
                                              : MEDIA_FLAG_DELTA,
                      .number = w->number,
                      .refs = w->refs,
                      .length = 5,
                      .pts = w->number * 40 * MS,
                      .dts = w->number * 40 * MS,
                      .duration = 40 * MS};

    w->number++;
    w->refs += upper != 'B' && upper != 'V';
    if (upper == kind) {
        give_section(w, &h, "bytes", complete,
                     (GstClockTime)(1000 * MS + h.pts));
    } else {
        w->section++;
    }
}

void give_picture(struct world *w, char kind) {
    give_frame(w, 0, kind, TRUE);
}

gboolean flagged(const struct world *w, GstBufferFlags flag) {
    return GST_BUFFER_FLAG_IS_SET(w->deframed.buffer, flag);
}

guint64 count_of(struct world *w, guint64 *counter) {
    guint64 value;

    g_mutex_lock(&w->d.lock);
    value = *counter;
    g_mutex_unlock(&w->d.lock);
    return value;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* A deframer with sections as input, without a connection. */
#ifndef TESTS_GST_DEFRAMER_WORLD_H
#define TESTS_GST_DEFRAMER_WORLD_H

#include "gst-plugins/gsttltcpdeframer.h"

#include "internal/media/codec/config.h"
#include "tests/gst/support.h"

#define MS INT64_C(1000000)

/* From here on everything is decodable after two more frames. */
#define RECOVERY_IN_2 (MEDIA_FLAG_RECOVERY | 2u << MEDIA_RECOVERY_SHIFT)

struct world {
    GstTltcpDeframer d;
    GstTltcpDeframed deframed; /* of the last section */
    guint32 number;            /* of the next frame */
    guint32 refs;
    guint64 section; /* number of the next one */
    guint32 depends; /* its declared references */
};

/* CMocka set-ups, of all tests and of each. */
int world_init(void **state);
int world_setup(void **state);
int world_teardown(void **state);
/* Frees the results of the last section. */
void world_forget(struct world *w);

void give_section(struct world *w, const media_header *h, const void *payload,
                  gboolean complete, GstClockTime now);
media_header header_of(unsigned kind, guint8 stream);
void give_config(struct world *w, guint8 stream, const media_config *c);
void give_caps(struct world *w, guint8 stream, guint8 type, const char *caps);
void give_end(struct world *w, guint8 stream);

/* 'I', 'P', 'B', 'R', a recovery point, or 'V', a branch; lower case: it never
 * comes; the time is the number of the frame times 40 ms, at once. */
void give_frame(struct world *w, guint8 stream, char kind, gboolean complete);
/* The same, of stream 0 and whole. */
void give_picture(struct world *w, char kind);

/* Whether the buffer has a flag. */
gboolean flagged(const struct world *w, GstBufferFlags flag);
guint64 count_of(struct world *w, guint64 *counter);

#endif /* TESTS_GST_DEFRAMER_WORLD_H */

/* SPDX-License-Identifier: MPL-2.0 */
/* The frame scanner against real encoders, with the decoders as judges: what
 * it calls disposable can be left out and every other picture is decoded as
 * before, from what it calls a closed key frame on decoding is right, and when
 * a frame is lost that others need, all that it does not say to refer to that
 * one is decoded as before.  What is cut short does no harm. */
#include <stdlib.h>
#include <string.h>

#include "internal/media/codec/framing.h"
#include "tests/gst/clip.h"
#include "tests/gst/support.h"

/* Number of frames that are lost, one at a time, from this one on. */
#define LOSSES 4
#define LOSE_FIRST 3

/* Every second frame stores nothing. */
#define LAYER_FLAGS                                                \
    "temporal-scalability-layer-flags=\"<"                         \
    "(GstVPXEncTsLayerFlags)no-upd-golden+no-upd-alt,"             \
    "(GstVPXEncTsLayerFlags)no-upd-last+no-upd-golden+no-upd-alt+" \
    "no-upd-entropy>\" "                                           \
    "temporal-scalability-layer-sync-flags=<(boolean)false,(boolean)false> "

#define X264 "x264enc bframes=2 b-pyramid=false key-int-max=25 "
#define X265                                                      \
    "x265enc key-int-max=20 option-string=\"bframes=3:b-adapt=0:" \
    "pools=1:frame-threads=1:log-level=none:"
#define AVDEC_H264 "avdec_h264 max-threads=1"
#define AVDEC_H265 "avdec_h265 max-threads=1"
#define AVDEC_MPEG2 "avdec_mpeg2video max-threads=1"
#define AVDEC_MPEG4 "avdec_mpeg4 max-threads=1"
#define AV1_UNITS \
    "! av1parse ! video/x-av1,alignment=tu,stream-format=obu-stream"

struct row {
    const char *name;
    const char *encoder;
    const char *decoder;
    guint disposable;  /* at least so many of CLIP_FRAMES */
    guint keys;        /* at least */
    gboolean recovery; /* there are recovery points */
    guint branches;    /* at least so many references go without harm to the
                          trunk */
};

static const struct row rows[] = {
    {"MPEG-1",
     "mpeg2enc format=0 b-per-refframe=2 max-gop-size=12 ! mpegvideoparse",
     AVDEC_MPEG2, 30, 4, FALSE, 0},
    {"MPEG-1 out of a file without times",
     "mpeg2enc format=0 b-per-refframe=2 max-gop-size=12 @ mpegvideoparse",
     AVDEC_MPEG2, 30, 4, FALSE, 0},
    {"MPEG-2, two parsers",
     "mpeg2enc format=3 b-per-refframe=2 max-gop-size=12 ! mpegvideoparse ! "
     "mpegvideoparse",
     AVDEC_MPEG2, 30, 4, FALSE, 0},
    {"MPEG-1 out of a program stream",
     "mpeg2enc format=0 b-per-refframe=2 max-gop-size=12 ! mpegvideoparse ! "
     "mpegpsmux ! mpegpsdemux ! mpegvideoparse",
     AVDEC_MPEG2, 30, 4, FALSE, 0},
    {"MPEG-2 out of a transport stream",
     "mpeg2enc format=3 b-per-refframe=2 max-gop-size=12 ! mpegvideoparse ! "
     "mpegtsmux ! tsdemux ! mpegvideoparse",
     AVDEC_MPEG2, 30, 4, FALSE, 0},
    {"MPEG-4 part 2", "avenc_mpeg4 max-bframes=2 gop-size=12", AVDEC_MPEG4, 30,
     4, FALSE, 0},
    {"MPEG-4 part 2, parsed",
     "avenc_mpeg4 max-bframes=2 gop-size=12 ! mpeg4videoparse", AVDEC_MPEG4, 30,
     4, FALSE, 0},
    {"H.264", X264, "h264parse ! " AVDEC_H264, 25, 3, FALSE, 0},
    {"H.264 with lengths", X264 "! h264parse ! video/x-h264,stream-format=avc",
     AVDEC_H264, 25, 3, FALSE, 0},
    {"H.264, NAL units alone",
     X264 "option-string=slices=3 ! h264parse ! "
          "video/x-h264,stream-format=byte-stream ! " CLIP_CUT,
     "h264parse ! " AVDEC_H264, 25, 3, FALSE, 0},
    {"H.264, two parsers", X264 "! h264parse ! h264parse", AVDEC_H264, 25, 3,
     FALSE, 0},
    {"H.264 with B frames that are references",
     "x264enc bframes=3 b-adapt=false key-int-max=25 ! h264parse", AVDEC_H264,
     25, 3, FALSE, 0},
    {"H.264, open GOPs",
     "x264enc bframes=3 b-adapt=false key-int-max=20 "
     "option-string=open-gop=1 ! h264parse",
     AVDEC_H264, 20, 3, FALSE, 0},
    {"H.264, no picture goes on with a B picture",
     "x264enc bframes=3 b-adapt=false b-pyramid=true key-int-max=25 ref=1 "
     "option-string=b-pyramid=strict ! h264parse",
     AVDEC_H264, 25, 3, FALSE, 5},
    {"H.264, many references, weights, slices, with lengths",
     "x264enc bframes=5 b-adapt=false b-pyramid=true key-int-max=25 ref=5 "
     "weightb=true option-string=weightp=2:slices=3 ! h264parse ! "
     "video/x-h264,stream-format=avc",
     AVDEC_H264, 25, 3, FALSE, 0},
    {"H.264, intra refresh",
     "x264enc bframes=0 intra-refresh=true key-int-max=20 ! h264parse",
     AVDEC_H264, 0, 1, TRUE, 0},
    {"H.264 out of a demuxer, where every buffer looks like a key frame",
     X264 "! mpegtsmux ! tsdemux", "h264parse ! " AVDEC_H264, 25, 3, FALSE, 0},
    {"H.264 in RTP", X264 "! rtph264pay mtu=300",
     "rtph264depay ! h264parse ! " AVDEC_H264, 25, 3, FALSE, 0},
    {"H.264 in RTP, aggregated",
     X264 "! rtph264pay mtu=300 aggregate-mode=zero-latency "
          "config-interval=-1",
     "rtph264depay ! h264parse ! " AVDEC_H264, 25, 3, FALSE, 0},
    {"H.264 by another encoder", "openh264enc gop-size=20 ! h264parse",
     AVDEC_H264, 0, 3, FALSE, 0},
    {"H.265", X265 "open-gop=1\" ! h265parse", AVDEC_H265, 20, 3, FALSE, 0},
    {"H.265, temporal layers",
     X265 "temporal-layers=1\" ! h265parse ! "
          "video/x-h265,stream-format=hvc1",
     AVDEC_H265, 20, 3, FALSE, 0},
    {"H.265, closed GOPs that begin with leading pictures",
     X265 "open-gop=0:radl=2\" ! h265parse", AVDEC_H265, 20, 3, FALSE, 0},
    {"H.265, NAL units alone",
     X265 "open-gop=0:slices=2\" ! h265parse ! "
          "video/x-h265,stream-format=byte-stream ! " CLIP_CUT,
     "h265parse ! " AVDEC_H265, 20, 3, FALSE, 0},
    {"H.265, no picture goes on with a B picture",
     X265 "open-gop=1:ref=1\" ! h265parse", AVDEC_H265, 20, 3, FALSE, 5},
    {"H.265, temporal layers whose trunk is alone",
     X265 "open-gop=0:ref=1:temporal-layers=1\" ! h265parse", AVDEC_H265, 20, 3,
     FALSE, 5},
    {"H.265, slices, many references, weights",
     X265 "open-gop=0:ref=5:slices=2:weightb=1\" ! h265parse", AVDEC_H265, 20,
     3, FALSE, 0},
    {"H.265 in RTP", X265 "open-gop=0\" ! h265parse ! rtph265pay mtu=300",
     "rtph265depay ! h265parse ! " AVDEC_H265, 20, 3, FALSE, 0},
    {"VP8", "vp8enc deadline=1 keyframe-max-dist=20", "vp8dec", 0, 3, FALSE, 0},
    {"VP8, temporal layers",
     "vp8enc name=layered deadline=1 keyframe-max-dist=20 " LAYER_FLAGS
     "error-resilient=default",
     "vp8dec", 20, 3, FALSE, 0},
    {"VP9", "vp9enc deadline=1 cpu-used=8 keyframe-max-dist=20", "vp9dec", 0, 3,
     FALSE, 0},
    {"VP9 with hidden frames",
     "vp9enc deadline=1000000 cpu-used=8 keyframe-max-dist=30 "
     "lag-in-frames=10 auto-alt-ref=true",
     "vp9dec", 0, 2, FALSE, 0},
    {"VP9, temporal layers",
     "vp9enc name=layered deadline=1 cpu-used=8 "
     "keyframe-max-dist=20 " LAYER_FLAGS "error-resilient=default",
     "vp9dec", 15, 3, FALSE, 0},
    {"AV1",
     "av1enc usage-profile=realtime cpu-used=8 keyframe-max-dist=20 " AV1_UNITS,
     "av1dec", 0, 3, FALSE, 0},
    {"AV1 with hidden frames",
     "av1enc cpu-used=8 lag-in-frames=8 keyframe-max-dist=30 " AV1_UNITS,
     "av1dec", 1, 2, FALSE, 0},
};

static gboolean is_needed(const struct clip *clip, guint i, guint unused) {
    (void)unused;
    return clip->frames[i].frame_class != MEDIA_CLASS_DISPOSABLE;
}

static gboolean is_behind(const struct clip *clip, guint i, guint first) {
    (void)clip;
    return i >= first;
}

static guint count_class(const struct clip *clip, guint frame_class) {
    guint n = 0;

    for (guint i = 0; i < clip->buffers->len; i++) {
        n += clip->frames[i].frame_class == frame_class;
    }
    return n;
}

static void check_disposables(const struct clip *clip, const struct row *row,
                              GPtrArray *whole) {
    guint dropped = count_class(clip, MEDIA_CLASS_DISPOSABLE);
    g_autoptr(GPtrArray) part = clip_decode(clip, row->decoder, is_needed, 0);

    print_message("%s: %u frames, %u shown, %u key, %u disposable\n", row->name,
                  clip->buffers->len, whole->len,
                  count_class(clip, MEDIA_CLASS_KEY), dropped);
    assert_int_equal(clip_matches(whole, part), part->len);
    assert_true(part->len + dropped >= whole->len);
    assert_true(dropped >= row->disposable);
}

static void check_keys(const struct clip *clip, const struct row *row,
                       GPtrArray *whole) {
    guint last = 0;

    assert_true(count_class(clip, MEDIA_CLASS_KEY) >= row->keys);
    while (clip->frames[last].frame_class == MEDIA_CLASS_HEADER ||
           clip->frames[last].frame_class == MEDIA_CLASS_OTHER) {
        last++;
    }
    assert_true(clip->frames[last].key);
    for (guint i = 0; i < clip->buffers->len; i++) {
        const media_frame *f = &clip->frames[i];
        last = f->key && f->closed_gop && !f->continues ? i : last;
    }
    g_autoptr(GPtrArray) part =
        clip_decode(clip, row->decoder, is_behind, last);
    assert_int_equal(clip_matches(whole, part), part->len);
    assert_true(part->len > 0);
}

static gboolean is_picture(const struct clip *clip, guint i) {
    guint frame_class = clip->frames[i].frame_class;

    return frame_class == MEDIA_CLASS_KEY ||
           frame_class == MEDIA_CLASS_REFERENCE ||
           frame_class == MEDIA_CLASS_DISPOSABLE;
}

static gboolean is_alive(const struct clip *clip, guint i, guint unused) {
    (void)unused;
    return !clip->dead[i];
}

/* A frame is lost, and with it what refers to it.  Returns how many pictures
 * are left. */
static guint lose(struct clip *clip, guint lost) {
    guint left = 0;

    for (guint i = 0; i < clip->buffers->len; i++) {
        guint to = clip->refers_to[i];
        clip->dead[i] = i == lost || (to && clip->dead[to - 1]);
        left +=
            !clip->dead[i] && is_picture(clip, i) && !clip->frames[i].continues;
    }
    return left;
}

/* All branches can be left out at once, with what refers to them. */
static void check_branches(struct clip *clip, const struct row *row,
                           GPtrArray *whole) {
    guint branches = 0;
    guint left = 0;

    for (guint i = 0; i < clip->buffers->len; i++) {
        guint to = clip->refers_to[i];
        clip->dead[i] = clip->frames[i].branch || (to && clip->dead[to - 1]);
        assert_false(clip->dead[i] &&
                     clip->frames[i].picture == MEDIA_PICTURE_P);
        branches += clip->frames[i].branch;
        left +=
            !clip->dead[i] && is_picture(clip, i) && !clip->frames[i].continues;
    }
    assert_true(branches >= row->branches);
    if (branches) {
        g_autoptr(GPtrArray) part =
            clip_decode(clip, row->decoder, is_alive, 0);
        guint right = clip_matches(whole, part);
        print_message("  without %u branches: %u left, %u right\n", branches,
                      left, right);
        assert_true(right >= left);
    }
}

/* Of key frames only closed ones are lost here: what is shown before an open
 * one refers to two, of which the chain names the other. */
static gboolean may_be_lost(const media_frame *f) {
    return !f->continues &&
           (f->frame_class == MEDIA_CLASS_REFERENCE ||
            (f->frame_class == MEDIA_CLASS_KEY && f->closed_gop));
}

/* The decoder of GStreamer 1.22 has no room for the pictures that FFmpeg makes
 * up where H.264's frame numbers jump, and only a closed key frame lets them.
 */
static gboolean would_jump(const struct clip *clip, const struct row *row,
                           guint lost) {
    guint next = lost + 1;

    while (next < clip->buffers->len && !clip->frames[next].key) {
        next++;
    }
    return strstr(row->decoder, AVDEC_H264) && next < clip->buffers->len &&
           !clip->frames[next].closed_gop;
}

static void check_references(struct clip *clip, const struct row *row,
                             GPtrArray *whole) {
    guint step = clip->buffers->len / LOSSES;
    guint losses = 0;

    clip_refer(clip);
    for (guint i = LOSE_FIRST; i < clip->buffers->len; i += step) {
        while (i < clip->buffers->len &&
               (!may_be_lost(&clip->frames[i]) || would_jump(clip, row, i))) {
            i++;
        }
        if (i == clip->buffers->len) {
            break;
        }
        guint left = lose(clip, i);
        g_autoptr(GPtrArray) part =
            clip_decode(clip, row->decoder, is_alive, 0);
        guint right = clip_matches(whole, part);
        print_message("  without %u: %u left, %u right\n", i, left, right);
        assert_true(right >= left);
        losses++;
    }
    assert_true(losses > 0);
}

static int compare(gconstpointer a, gconstpointer b) {
    gint64 x = *(const gint64 *)a;
    gint64 y = *(const gint64 *)b;

    return x < y ? -1 : x > y;
}

/* Every frame that is shown has a display time of its own, one frame after
 * another, whatever the container says. */
static void check_display(const struct clip *clip, guint shown) {
    guint n = clip->buffers->len;
    g_autofree gint64 *sorted = g_memdup2(clip->display, n * sizeof(gint64));
    guint steps = 0;

    qsort(sorted, n, sizeof(sorted[0]), compare);
    for (guint i = 1; i < n; i++) {
        gint64 off = sorted[i] - sorted[i - 1] - (gint64)CLIP_FRAME_NS;
        steps += ABS(off) < (gint64)GST_MSECOND * 10; /* demuxers jitter */
    }
    assert_true(steps + 3 >= shown - 1);
}

TEST(encoder_is_understood) {
    const struct row *row = *state;
    struct clip clip = {0};
    guint recoveries = 0;

    clip_encode(&clip, row->encoder);
    clip_classify(&clip);
    g_autoptr(GPtrArray) whole = clip_decode(&clip, row->decoder, NULL, 0);
    assert_true(whole->len >= CLIP_FRAMES - 2);
    check_disposables(&clip, row, whole);
    check_keys(&clip, row, whole);
    check_display(&clip, whole->len);
    assert_int_equal(clip_cut_short(&clip), clip.frames[0].frame_class);
    if (!row->recovery) { /* what is right only later is sent, too */
        check_references(&clip, row, whole);
        check_branches(&clip, row, whole);
    }
    for (guint i = 0; i < clip.buffers->len; i++) {
        recoveries += clip.frames[i].recovery;
    }
    assert_true(row->recovery == (recoveries > 0));
    clip_clear(&clip);
}

int main(void) {
    struct CMUnitTest tests[G_N_ELEMENTS(rows)];

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        tests[i] = (struct CMUnitTest){rows[i].name, encoder_is_understood,
                                       NULL, NULL, (void *)(gsize)&rows[i]};
    }
    return cmocka_run_group_tests(tests, support_setup, NULL);
}

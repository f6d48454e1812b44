/* SPDX-License-Identifier: MPL-2.0 */
/* Sets the bit rates of encoders to the target of the connection. */
#include "gst-plugins/gsttltcpencoder.h"

#include "gst-plugins/gsttltcpovershoot.h"
#include "gst-plugins/gsttltcpqos.h"

GST_DEBUG_CATEGORY_STATIC(tltcpencoder_debug);
#define GST_CAT_DEFAULT tltcpencoder_debug

/* The rest of the target is for headers and retransmissions. */
#define MEDIA_PERCENT 95
/* Video gets at least one part in this many of the target. */
#define VIDEO_LEAST 4
/* For encoders that do not report their bit rate. */
#define AUDIO_BPS 128000
#define VIDEO_BPS 1000000
/* Smaller changes are skipped: many encoders restart their rate control. */
#define CHANGE_PERCENT 5
#define DOWN_US (100 * G_TIME_SPAN_MILLISECOND)
#define UP_US (150 * G_TIME_SPAN_MILLISECOND)
/* A fall below this part of the rate is applied at once: frames of the old size
 * would fill a queue. */
#define AT_ONCE_PERCENT 80
/* Maximum number of elements between a sink and an encoder. */
#define DEPTH_MAX 64
#define MEMORY "tltcp-encoder"
/* Property of vp8enc and vp9enc, bit/s. */
#define LAYER_RATES "temporal-scalability-target-bitrate"
#define LAYERS 8
/* Maximum number of sinks that share an encoder. */
#define WISHES 8
/* A request older than this no longer counts. */
#define WISH_US (10 * G_TIME_SPAN_SECOND)

/* The first match applies. */
static const GstTltcpEncoderKind kinds[] = {
    {"x264enc", "bitrate", NULL, 1000},
    {"x265enc", "bitrate", NULL, 1000},
    {"vp8enc", "target-bitrate", NULL, 1},
    {"vp9enc", "target-bitrate", NULL, 1},
    {"openh264enc", "bitrate", NULL, 1},
    {"av1enc", "target-bitrate", NULL, 1000},
    {"svtav1enc", "target-bitrate", NULL, 1000},
    {"rav1enc", "bitrate", NULL, 1},
    {"v4l2*enc", "extra-controls", "video_bitrate", 1},
    {"nvv4l2*enc", "bitrate", NULL, 1},
    {"nv*enc", "bitrate", NULL, 1000},
    {"va*enc", "bitrate", NULL, 1000},
    {"qsv*enc", "bitrate", NULL, 1000},
    {"msdk*enc", "bitrate", NULL, 1000},
};

/* Audio encoders whose unit is not bit/s. */
static const GstTltcpEncoderKind audio_kinds[] = {
    {"lamemp3enc", "bitrate", NULL, 1000},
    {"twolamemp2enc", "bitrate", NULL, 1000},
    {"*", "bitrate", NULL, 1},
};

/* The bit rate that a sink requests of an encoder. */
typedef struct {
    gconstpointer sink; /* NULL: free */
    guint64 bps;
    gint64 at; /* monotonic us */
} EncoderWish;

/* Data attached to an encoder, under its lock. */
typedef struct {
    guint64 initial; /* bit/s, not set by a sink */
    gint64 applied;  /* value; -1: none yet */
    gboolean warned;
    EncoderWish wishes[WISHES]; /* of the sinks that share the encoder */
    gint layers[LAYERS];        /* initial rates of its temporal layers */
    guint layer_count;
} EncoderMemory;

typedef struct {
    GPtrArray *video; /* GstElement */
    GPtrArray *audio;
} EncoderList;

static const GstTltcpEncoderKind *
encoder_look_up(const GstTltcpEncoderKind *table, gsize len,
                const gchar *factory) {
    for (gsize i = 0; i < len; i++) {
        if (g_pattern_match_simple(table[i].factory, factory)) {
            return &table[i];
        }
    }
    return NULL;
}

const GstTltcpEncoderKind *gst_tltcp_encoder_kind(const gchar *factory) {
    return encoder_look_up(kinds, G_N_ELEMENTS(kinds), factory);
}

gint64 gst_tltcp_encoder_value(const GstTltcpEncoderKind *kind, guint64 bps) {
    return (gint64)CLAMP(bps / kind->unit, 1, (guint64)G_MAXINT);
}

guint64 gst_tltcp_encoder_budget(guint64 target, guint64 audio, guint64 initial,
                                 const GstTltcpEncoderLimits *limits) {
    guint64 media = target / 100 * MEDIA_PERCENT;
    guint64 video = media > audio ? media - audio : 0;
    guint64 max = limits->max ? limits->max : initial;

    video = MAX(video, media / VIDEO_LEAST);
    if (max) {
        video = MIN(video, max);
    }
    return MAX(video, limits->min);
}

guint64 gst_tltcp_encoder_share(guint64 video, guint64 own, guint64 all) {
    return all ? gst_util_uint64_scale(video, own, all) : video;
}

gboolean gst_tltcp_encoder_due(const GstTltcpEncoderState *state, guint64 video,
                               gint64 now_us) {
    guint64 old = state->video;
    guint64 step = video > old ? video - old : old - video;
    gint64 wait = DOWN_US;

    if (video > old) {
        wait = UP_US;
    } else if (video < old / 100 * AT_ONCE_PERCENT) {
        wait = 0;
    }
    return !old || (step > old / 100 * CHANGE_PERCENT &&
                    now_us - state->applied_at >= wait);
}

gboolean gst_tltcp_encoder_may_look(const GstTltcpEncoderState *state,
                                    guint64 target) {
    return target && (target != state->target ||
                      g_get_monotonic_time() - state->polled_at >= DOWN_US);
}

/* ---- traversal upstream ---- */

static void encoder_add(GPtrArray *list, GstElement *element) {
    if (!g_ptr_array_find(list, element, NULL)) {
        g_ptr_array_add(list, gst_object_ref(element));
    }
}

/* Whether the element is an encoder; the search ends there. */
static gboolean encoder_take(EncoderList *list, GstElement *element) {
    GstElementFactory *factory = gst_element_get_factory(element);

    if (!factory || GST_IS_BIN(element)) {
        return FALSE;
    }
    if (gst_element_factory_list_is_type(
            factory, GST_ELEMENT_FACTORY_TYPE_VIDEO_ENCODER)) {
        encoder_add(list->video, element);
        return TRUE;
    }
    if (gst_element_factory_list_is_type(
            factory, GST_ELEMENT_FACTORY_TYPE_AUDIO_ENCODER)) {
        encoder_add(list->audio, element);
        return TRUE;
    }
    return FALSE;
}

/* The pads that feed a source pad. Ghost pads answer this too, so it works
 * across bin boundaries. */
static GPtrArray *encoder_inputs(GstPad *pad) {
    GPtrArray *inputs = g_ptr_array_new_with_free_func(gst_object_unref);
    GstIterator *it = gst_pad_iterate_internal_links(pad);
    GstIteratorResult result = it ? GST_ITERATOR_OK : GST_ITERATOR_DONE;
    GValue item = G_VALUE_INIT;

    while (result == GST_ITERATOR_OK || result == GST_ITERATOR_RESYNC) {
        result = gst_iterator_next(it, &item);
        if (result == GST_ITERATOR_OK) {
            g_ptr_array_add(inputs, g_value_dup_object(&item));
            g_value_reset(&item);
        } else if (result == GST_ITERATOR_RESYNC) {
            g_ptr_array_set_size(inputs, 0);
            gst_iterator_resync(it);
        }
    }
    g_value_unset(&item);
    g_clear_pointer(&it, gst_iterator_free);
    return inputs;
}

static void encoder_find(EncoderList *list, GstPad *sink, guint depth) {
    g_autoptr(GstPad) peer = gst_pad_get_peer(sink);

    if (!peer || depth == DEPTH_MAX) {
        return;
    }
    g_autoptr(GstElement) element = gst_pad_get_parent_element(peer);
    if (element && encoder_take(list, element)) {
        return;
    }
    g_autoptr(GPtrArray) inputs = encoder_inputs(peer);
    for (guint i = 0; i < inputs->len; i++) {
        encoder_find(list, g_ptr_array_index(inputs, i), depth + 1);
    }
}

/* ---- an encoder ---- */

static const gchar *encoder_factory(GstElement *element) {
    return GST_OBJECT_NAME(gst_element_get_factory(element));
}

static GParamSpec *encoder_spec(GstElement *element, const gchar *property) {
    return g_object_class_find_property(G_OBJECT_GET_CLASS(element), property);
}

static gint64 encoder_get_field(GstElement *element,
                                const GstTltcpEncoderKind *kind) {
    GstStructure *controls = NULL;
    gint value = 0;

    g_object_get(element, kind->property, &controls, NULL);
    if (controls) {
        gst_structure_get_int(controls, kind->field, &value);
        gst_structure_free(controls);
    }
    return value;
}

/* 0 or less: the encoder does not report it. */
static gint64 encoder_get(GstElement *element,
                          const GstTltcpEncoderKind *kind) {
    GParamSpec *spec = encoder_spec(element, kind->property);
    GValue value = G_VALUE_INIT;

    if (kind->field) {
        return encoder_get_field(element, kind);
    }
    if (!spec || !g_value_type_transformable(spec->value_type, G_TYPE_INT64)) {
        return 0;
    }
    g_value_init(&value, G_TYPE_INT64);
    g_object_get_property(G_OBJECT(element), kind->property, &value);
    return g_value_get_int64(&value);
}

static void encoder_set_field(GstElement *element,
                              const GstTltcpEncoderKind *kind, gint64 value) {
    GstStructure *controls = NULL;

    g_object_get(element, kind->property, &controls, NULL);
    if (!controls) {
        controls = gst_structure_new_empty("controls");
    }
    gst_structure_set(controls, kind->field, G_TYPE_INT, (gint)value, NULL);
    g_object_set(element, kind->property, controls, NULL);
    gst_structure_free(controls);
}

static void encoder_set(GstElement *element, const GstTltcpEncoderKind *kind,
                        gint64 value) {
    GParamSpec *spec = encoder_spec(element, kind->property);
    GValue wanted = G_VALUE_INIT;
    GValue fit = G_VALUE_INIT;

    if (kind->field) {
        encoder_set_field(element, kind, value);
        return;
    }
    g_value_init(&wanted, G_TYPE_INT64);
    g_value_set_int64(&wanted, value);
    g_value_init(&fit, spec->value_type);
    g_value_transform(&wanted, &fit);
    g_param_value_validate(spec, &fit);
    g_object_set_property(G_OBJECT(element), kind->property, &fit);
    g_value_unset(&fit);
}

static EncoderMemory *encoder_memory(GstElement *element) {
    GST_OBJECT_LOCK(element);
    EncoderMemory *memory = g_object_get_data(G_OBJECT(element), MEMORY);
    if (!memory) {
        memory = g_new0(EncoderMemory, 1);
        memory->applied = -1;
        g_object_set_data_full(G_OBJECT(element), MEMORY, memory, g_free);
    }
    GST_OBJECT_UNLOCK(element);
    return memory;
}

/* The entry for a sink's request: its own, else the oldest. */
static EncoderWish *encoder_wish(EncoderMemory *memory, gconstpointer sink) {
    EncoderWish *found = memory->wishes;

    for (guint i = 0; i < WISHES; i++) {
        EncoderWish *wish = &memory->wishes[i];
        if (wish->sink == sink) {
            return wish;
        }
        found = wish->at < found->at ? wish : found;
    }
    return found;
}

guint64 gst_tltcp_encoder_agree(GstElement *element, gconstpointer sink,
                                guint64 bps, gint64 now_us) {
    EncoderMemory *memory = encoder_memory(element);
    guint64 least = bps;

    GST_OBJECT_LOCK(element);
    *encoder_wish(memory, sink) = (EncoderWish){sink, bps, now_us};
    for (guint i = 0; i < WISHES; i++) {
        const EncoderWish *wish = &memory->wishes[i];
        if (wish->sink && now_us - wish->at < WISH_US) {
            least = MIN(least, wish->bps);
        }
    }
    GST_OBJECT_UNLOCK(element);
    return least;
}

/* The kind of a video encoder whose bit rate can be set; NULL: none. */
static const GstTltcpEncoderKind *encoder_steerable(GstElement *element) {
    const gchar *factory = encoder_factory(element);
    const GstTltcpEncoderKind *kind = gst_tltcp_encoder_kind(factory);
    EncoderMemory *memory = encoder_memory(element);

    if (kind && encoder_spec(element, kind->property)) {
        return kind;
    }
    if (!memory->warned && (encoder_spec(element, "bitrate") ||
                            encoder_spec(element, "target-bitrate"))) {
        GST_CAT_WARNING_OBJECT(
            tltcpencoder_debug, element,
            "%s is not controlled: the unit of its bit rate is "
            "not known",
            factory);
        memory->warned = TRUE;
    }
    return NULL;
}

/* The bit rate before a sink first set it. A value that anything else has set
 * since then replaces it. */
static guint64 encoder_initial(GstElement *element,
                               const GstTltcpEncoderKind *kind) {
    EncoderMemory *memory = encoder_memory(element);
    gint64 value = encoder_get(element, kind);

    if (value != memory->applied) {
        memory->initial = value > 0 ? (guint64)value * kind->unit : 0;
        memory->applied = value;
    }
    return memory->initial;
}

static guint64 encoder_audio(const EncoderList *list) {
    guint64 sum = 0;

    for (guint i = 0; i < list->audio->len; i++) {
        GstElement *element = g_ptr_array_index(list->audio, i);
        const GstTltcpEncoderKind *kind = encoder_look_up(
            audio_kinds, G_N_ELEMENTS(audio_kinds), encoder_factory(element));
        gint64 value = encoder_get(element, kind);
        sum += value > 0 ? (guint64)value * kind->unit : AUDIO_BPS;
    }
    return sum;
}

/* Keeps the initial rates of the layers: encoders round them, and repeated
 * scaling would drift. */
static void encoder_keep_layers(GstElement *element, GValueArray *rates) {
    EncoderMemory *memory = encoder_memory(element);
    guint layers = rates ? MIN(rates->n_values, LAYERS) : 0;

    GST_OBJECT_LOCK(element);
    for (guint i = memory->layer_count; i < layers; i++) {
        memory->layers[i] = MAX(g_value_get_int(&rates->values[i]), 0);
        memory->layer_count++;
    }
    GST_OBJECT_UNLOCK(element);
}

/* Encoders with temporal layers use the cumulative rates of the layers and
 * ignore the total rate. */
static void encoder_scale_layers(GstElement *element, guint64 bps) {
    GParamSpec *spec = encoder_spec(element, LAYER_RATES);
    EncoderMemory *memory = encoder_memory(element);
    GValue value = G_VALUE_INIT;

    G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    if (!spec || spec->value_type != g_value_array_get_type()) {
        return;
    }
    G_GNUC_END_IGNORE_DEPRECATIONS
    g_value_init(&value, spec->value_type);
    g_object_get_property(G_OBJECT(element), LAYER_RATES, &value);
    GValueArray *rates = g_value_get_boxed(&value);
    encoder_keep_layers(element, rates);
    guint layers = memory->layer_count;
    gint top = layers ? memory->layers[layers - 1] : 0;
    if (top > 0 && rates && rates->n_values == layers) {
        for (guint i = 0; i < layers; i++) {
            guint64 rate =
                gst_util_uint64_scale_int(bps, memory->layers[i], top);
            g_value_set_int(&rates->values[i],
                            (gint)CLAMP(rate, 1, (guint64)G_MAXINT));
        }
        g_object_set_property(G_OBJECT(element), LAYER_RATES, &value);
    }
    g_value_unset(&value);
}

static void encoder_apply(GstElement *element, guint64 bps) {
    const GstTltcpEncoderKind *kind =
        gst_tltcp_encoder_kind(encoder_factory(element));

    encoder_scale_layers(element, bps);
    encoder_set(element, kind, gst_tltcp_encoder_value(kind, bps));
    encoder_memory(element)->applied = encoder_get(element, kind);
    gst_tltcp_overshoot_asked(element, bps);
    GST_CAT_DEBUG_OBJECT(tltcpencoder_debug, element,
                         "%" G_GUINT64_FORMAT " bit/s", bps);
}

static guint64 encoder_weight(GstElement *element) {
    guint64 initial = encoder_initial(
        element, gst_tltcp_encoder_kind(encoder_factory(element)));
    return initial ? initial : VIDEO_BPS;
}

/* Removes encoders that cannot be steered. Returns the sum of the initial bit
 * rates of the others; 0: not all are known. */
static guint64 encoder_weigh(EncoderList *list, guint64 *weights) {
    guint64 initial = 0;
    gboolean known = TRUE;

    *weights = 0;
    for (guint i = list->video->len; i-- > 0;) {
        GstElement *element = g_ptr_array_index(list->video, i);
        const GstTltcpEncoderKind *kind = encoder_steerable(element);
        if (!kind) {
            g_ptr_array_remove_index(list->video, i);
            continue;
        }
        guint64 own = encoder_initial(element, kind);
        known = known && own;
        initial += own;
        *weights += encoder_weight(element);
    }
    return known ? initial : 0;
}

/* The bit rate to set, after agreement among the sinks that share the encoder.
 */
static guint64 encoder_agreed(GstTltcpEncoderState *state, GstElement *element,
                              guint64 video, guint64 least, guint64 weights) {
    guint64 weight = encoder_weight(element);
    guint64 bps = gst_tltcp_encoder_agree(
        element, state, gst_tltcp_encoder_share(video, weight, weights),
        state->polled_at);
    guint64 min = MIN(bps, gst_tltcp_encoder_share(least, weight, weights));

    return MAX(gst_tltcp_overshoot_correct_encoder(element, bps), min);
}

static void encoder_steer_list(GstTltcpEncoderState *state, EncoderList *list,
                               guint64 target,
                               const GstTltcpEncoderLimits *limits) {
    gint64 now = state->polled_at;
    guint64 weights;
    guint64 initial = encoder_weigh(list, &weights);
    guint64 video =
        gst_tltcp_encoder_budget(target, encoder_audio(list), initial, limits);
    g_autofree guint64 *agreed = g_new(guint64, list->video->len + 1);
    guint64 sum = 0;

    for (guint i = 0; i < list->video->len; i++) {
        agreed[i] = encoder_agreed(state, g_ptr_array_index(list->video, i),
                                   video, limits->min, weights);
        sum += agreed[i];
    }
    if (!list->video->len || !gst_tltcp_encoder_due(state, sum, now)) {
        return;
    }
    state->video = sum;
    state->applied_at = now;
    for (guint i = 0; i < list->video->len; i++) {
        encoder_apply(g_ptr_array_index(list->video, i), agreed[i]);
    }
}

void gst_tltcp_encoder_steer(GstTltcpEncoderState *state, GPtrArray *pads,
                             guint64 target,
                             const GstTltcpEncoderLimits *limits) {
    static gsize once;
    g_autoptr(GPtrArray) video =
        g_ptr_array_new_with_free_func(gst_object_unref);
    g_autoptr(GPtrArray) audio =
        g_ptr_array_new_with_free_func(gst_object_unref);
    EncoderList list = {video, audio};

    if (g_once_init_enter(&once)) {
        GST_DEBUG_CATEGORY_INIT(tltcpencoder_debug, "tltcpencoder", 0,
                                "TLTCP: encoders upstream");
        g_once_init_leave(&once, 1);
    }
    state->target = target;
    state->polled_at = g_get_monotonic_time();
    for (guint i = 0; i < pads->len; i++) {
        encoder_find(&list, g_ptr_array_index(pads, i), 0);
    }
    /* Also those that cannot be steered. */
    for (guint i = 0; i < video->len; i++) {
        gst_tltcp_qos_watch(g_ptr_array_index(video, i));
        gst_tltcp_overshoot_watch(g_ptr_array_index(video, i));
    }
    encoder_steer_list(state, &list, target, limits);
}

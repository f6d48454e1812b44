/* SPDX-License-Identifier: MPL-2.0 */
/* Both directions of the link in real time: clock, changes, log, JSON. */
#include "tools/linkem/emulator.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "sim/link_settings.h"
#include "tools/common/tool.h"

#define TOOL "linkem"

static const char *const direction_names[LINKEM_DIRECTIONS] = {"up", "down"};

static uint64_t system_now(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t emulator_now(const struct emulator *em) {
    return system_now() - em->start;
}

static int open_log(struct emulator *em, const char *path) {
    em->log = fopen(path, "we");
    if (!em->log) {
        return tool_fail(TOOL, "cannot write %s: %s", path, strerror(errno));
    }
    (void)fputs("seconds,direction,rate_bps,offered_bytes,delivered_bytes,"
                "dropped_packets,marked_packets,queue_packets,transit_ms\n",
                em->log);
    return TOOL_OK;
}

int emulator_init(struct emulator *em, const struct linkem_options *o) {
    memset(em, 0, sizeof(*em));
    em->options = o;
    if (o->log && open_log(em, o->log) != TOOL_OK) {
        return TOOL_FAILED;
    }
    for (int d = 0; d < LINKEM_DIRECTIONS; d++) {
        /* the directions need independent random numbers */
        em->link[d] = sim_link_new(&o->link[d], o->seed * 2 + (uint64_t)d);
        if (!em->link[d]) {
            (void)emulator_free(em);
            return tool_fail(TOOL, "out of memory");
        }
    }
    em->start = system_now();
    return TOOL_OK;
}

bool emulator_free(struct emulator *em) {
    bool whole = true;
    for (int d = 0; d < LINKEM_DIRECTIONS; d++) {
        sim_link_free(em->link[d]);
        em->link[d] = NULL;
    }
    if (em->log) {
        whole = !ferror(em->log);
        whole = fclose(em->log) == 0 && whole;
        em->log = NULL;
    }
    if (!whole) {
        (void)tool_fail(TOOL, "cannot write %s", em->options->log);
    }
    return whole;
}

void emulator_offer(struct emulator *em, const struct emulator_packet *info,
                    const void *data, size_t len) {
    struct sim_packet *p = sim_packet_new(data, len);
    if (!p) {
        return; /* counts as lost */
    }
    p->src = info->owner;
    p->ecn = info->ecn;
    sim_link_send(em->link[info->direction], p, emulator_now(em));
}

static void add_transit(struct linkem_transit *t, uint64_t ns) {
    t->packets++;
    t->sum_ns += ns;
    t->max_ns = ns > t->max_ns ? ns : t->max_ns;
}

static double mean_ms(const struct linkem_transit *t) {
    return t->packets ? (double)t->sum_ns / (double)t->packets / 1e6 : 0;
}

/* Advances the link event by event, so that each packet's exact time is known,
 * however late this is called. */
static struct sim_packet *step(struct sim_link *link, uint64_t now,
                               uint64_t *due) {
    struct sim_packet *p = NULL;
    while (!p && (*due = sim_link_next(link)) <= now) {
        p = sim_link_recv(link, *due);
    }
    return p;
}

struct sim_packet *emulator_take(struct emulator *em, int direction) {
    struct linkem_lateness *late = &em->late[direction];
    uint64_t now = emulator_now(em);
    uint64_t due;
    struct sim_packet *p = step(em->link[direction], now, &due);
    if (!p) {
        return NULL;
    }
    if (late->packets == 0) {
        em->first_out[direction] = due;
        em->first_bytes[direction] =
            p->len + sim_link_get(em->link[direction])->overhead;
    }
    em->last_out[direction] = due;
    add_transit(&em->transit[direction], due - p->sent);
    add_transit(&em->recent[direction], due - p->sent);
    late->packets++;
    late->sum_ns += now - due;
    late->max_ns = now - due > late->max_ns ? now - due : late->max_ns;
    return p;
}

static void emulator_apply(struct emulator *em, const struct linkem_change *c,
                           uint64_t now) {
    char why[SETTINGS_WHY_MAX];
    for (unsigned d = 0; d < LINKEM_DIRECTIONS; d++) {
        struct sim_link_config config = *sim_link_get(em->link[d]);
        if ((c->directions >> d & 1U) &&
            settings_apply(c->settings, &config, why)) {
            sim_link_set(em->link[d], &config, now);
        }
    }
}

/* Returns when the next change is due. */
static uint64_t run_changes(struct emulator *em, uint64_t now) {
    const struct linkem_options *o = em->options;
    while (o->changes) {
        uint64_t at;
        if (em->change_next == o->changes) {
            if (!o->repeat) {
                return UINT64_MAX;
            }
            em->change_next = 0;
            em->round_start += o->repeat;
        }
        at = em->round_start + o->change[em->change_next].at;
        if (at > now) {
            return at;
        }
        emulator_apply(em, &o->change[em->change_next++], now);
    }
    return UINT64_MAX;
}

static uint64_t dropped(const struct sim_link_stats *s) {
    return s->dropped_queue + s->dropped_red + s->dropped_aqm +
           s->dropped_police + s->dropped_loss + s->dropped_blackout +
           s->dropped_mtu + s->dropped_nomem;
}

/* Bytes on the link, the headers included. */
static uint64_t wire_bytes(const struct sim_link *link, uint64_t bytes,
                           uint64_t packets) {
    return bytes + packets * sim_link_get(link)->overhead;
}

/* The rate, or the capacity of the trace since the last line. */
static double capacity_since(struct emulator *em, int d, uint64_t now) {
    uint64_t bytes = sim_link_offered_capacity(em->link[d], now);
    uint64_t more = bytes - em->log_capacity[d];
    uint64_t ns = now - em->log_last;
    bool known = bytes >= em->log_capacity[d] && ns > 0;
    em->log_capacity[d] = bytes;
    if (!sim_link_get(em->link[d])->trace) {
        return sim_link_rate(em->link[d]);
    }
    return known ? (double)more * 8e9 / (double)ns : 0;
}

static void log_line(struct emulator *em, int d, uint64_t now) {
    const struct sim_link *link = em->link[d];
    const struct sim_link_stats *s = sim_link_stats(link);
    (void)fprintf(
        em->log,
        "%.3f,%s,%.0f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
        ",%.3f\n",
        (double)now / 1e9, direction_names[d], capacity_since(em, d, now),
        wire_bytes(link, s->offered_bytes, s->offered),
        wire_bytes(link, s->delivered_bytes, s->delivered), dropped(s),
        s->marked, sim_link_waiting(link), mean_ms(&em->recent[d]));
    em->recent[d] = (struct linkem_transit){0};
}

static uint64_t run_log(struct emulator *em, uint64_t now) {
    if (!em->log) {
        return UINT64_MAX;
    }
    if (now >= em->log_next) {
        for (int d = 0; d < LINKEM_DIRECTIONS; d++) {
            log_line(em, d, now);
        }
        em->log_last = now;
        em->log_next =
            now - now % em->options->log_interval + em->options->log_interval;
    }
    return em->log_next;
}

static uint64_t min_u64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint64_t emulator_run(struct emulator *em) {
    uint64_t now = emulator_now(em);
    uint64_t next = min_u64(run_changes(em, now), run_log(em, now));
    if (em->options->duration) {
        next = min_u64(next, em->options->duration);
    }
    for (int d = 0; d < LINKEM_DIRECTIONS; d++) {
        next = min_u64(next, sim_link_next(em->link[d]));
    }
    if (next == UINT64_MAX) {
        return next;
    }
    return next > now ? next - now : 0;
}

bool emulator_is_over(const struct emulator *em) {
    return em->options->duration && emulator_now(em) >= em->options->duration;
}

/* From the first packet's arrival to the last one's; the first packet is not
 * counted, since it started earlier. */
static double delivered_bps(const struct emulator *em, int d) {
    const struct sim_link_stats *s = sim_link_stats(em->link[d]);
    uint64_t bytes = wire_bytes(em->link[d], s->delivered_bytes, s->delivered);
    uint64_t ns = em->last_out[d] - em->first_out[d];
    return ns ? (double)(bytes - em->first_bytes[d]) * 8e9 / (double)ns : 0;
}

static json_t *lateness_json(const struct linkem_lateness *l) {
    double mean = l->packets ? (double)l->sum_ns / (double)l->packets : 0;
    return json_pack("{s:o,s:o}", "mean_us", tool_number(mean / 1e3, 1),
                     "max_us", tool_number((double)l->max_ns / 1e3, 1));
}

static json_t *transit_json(const struct linkem_transit *t) {
    return json_pack("{s:o,s:o}", "mean_ms", tool_number(mean_ms(t), 3),
                     "max_ms", tool_number((double)t->max_ns / 1e6, 3));
}

static json_t *direction_json(const struct emulator *em, int d) {
    const struct sim_link *link = em->link[d];
    const struct sim_link_stats *s = sim_link_stats(link);
    json_t *drops = json_pack(
        "{s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "queue", (json_int_t)s->dropped_queue,
        "red", (json_int_t)s->dropped_red, "aqm", (json_int_t)s->dropped_aqm,
        "police", (json_int_t)s->dropped_police, "loss",
        (json_int_t)s->dropped_loss, "blackout",
        (json_int_t)s->dropped_blackout, "mtu", (json_int_t)s->dropped_mtu);
    return json_pack(
        "{s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o}",
        "rate_bps", tool_number(sim_link_rate(link), 0), "delivered_bps",
        tool_number(delivered_bps(em, d), 0), "opportunity_bytes",
        (json_int_t)sim_link_offered_capacity(link, emulator_now(em)),
        "offered_packets", (json_int_t)s->offered, "offered_bytes",
        (json_int_t)wire_bytes(link, s->offered_bytes, s->offered),
        "delivered_packets", (json_int_t)s->delivered, "delivered_bytes",
        (json_int_t)wire_bytes(link, s->delivered_bytes, s->delivered),
        "dropped", drops, "marked", (json_int_t)s->marked, "duplicated",
        (json_int_t)s->duplicated, "corrupted", (json_int_t)s->corrupted,
        "reordered", (json_int_t)s->reordered, "queue_peak_packets",
        (json_int_t)s->queue_peak, "queue_peak_bytes",
        (json_int_t)s->queue_peak_bytes, "lateness",
        lateness_json(&em->late[d]), "transit", transit_json(&em->transit[d]));
}

json_t *emulator_json(const struct emulator *em) {
    return json_pack("{s:o,s:I,s:o,s:o}", "seconds",
                     tool_number((double)emulator_now(em) / 1e9, 3), "seed",
                     (json_int_t)em->options->seed, "up",
                     direction_json(em, LINKEM_UP), "down",
                     direction_json(em, LINKEM_DOWN));
}

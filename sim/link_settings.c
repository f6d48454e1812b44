/* SPDX-License-Identifier: MPL-2.0 */
/* What a link is like, as text: "rate=2mbit,delay=20ms". */
#include "sim/link_settings.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "internal/settings/units.h"
#include "sim/trace_file.h"

#define FULL_PACKET 1500
#define LIST_MAX 4096
#define PARTS_MAX 4

const char settings_help[] =
    "Settings (NAME=VALUE, several separated by commas):\n"
    "  rate=2mbit           of the link, counting whole IP packets; 0: no "
    "limit\n"
    "  trace=FILE[:START]   instead of a rate: a recorded link in mahimahi's\n"
    "                       format. Each line is a time in ms at which 1500\n"
    "                       bytes may leave; it repeats. Begins at START "
    "(10s)\n"
    "  delay=20ms           propagation, one way\n"
    "  jitter=5ms[:10%]     up to this much more, uniform; packets keep "
    "order;\n"
    "                       of a part of them: as behind repairs of a radio\n"
    "  slots=5ms[:20ms]     packets arrive in slots, of this or random length\n"
    "  queue=50kB|40p|80ms  drop-tail limit in bytes, packets or time waited;\n"
    "                       default: 100ms, at least 10 packets (of a "
    "trace:\n"
    "                       at its mean rate)\n"
    "  queue-rule=ns2|waiting\n"
    "                       what a limit in packets counts: as ns-2 does, one\n"
    "                       fewer may wait; or packets that wait (ns-3, "
    "Linux)\n"
    "  lower-effort=on|off  packets of DSCP 1 give way to all others\n"
    "  red=MIN:MAX[:MAXP[:WEIGHT]]\n"
    "                       random early detection on the mean queue in\n"
    "                       packets\n"
    "  red-gentle=on|off    drops rise slowly above MAX (default on)\n"
    "  codel=on|off|TARGET[:INTERVAL]\n"
    "                       CoDel (RFC 8289); on: 5ms:100ms\n"
    "  pie=on|off|TARGET    PIE (RFC 8033); on: 15ms\n"
    "  fq=on|off|QUANTUM    fair queueing of flows by address, bytes a turn\n"
    "                       (on: 1500); with codel each flow has its own "
    "(RFC\n"
    "                       8290)\n"
    "  ecn=on|off           RED, CoDel and PIE mark ECN-capable packets "
    "instead\n"
    "                       of dropping\n"
    "  police=RATE[:BURST]  token bucket: what exceeds it is lost (burst:\n"
    "                       100ms, at least 15kB); 0: none\n"
    "  mark=N               marks ECN-capable packets that find N waiting\n"
    "  ecn-path=keep|bleach|ce|swap\n"
    "                       what the path does to ECN codepoints\n"
    "  loss=1%              random loss, behind the queue\n"
    "  burst=IN:OUT[:LOSS]  Gilbert-Elliott: chances per packet to enter and\n"
    "                       to leave the bad state, loss there (default 100%)\n"
    "  ber=1e-6             bit errors; a packet with one is lost\n"
    "  reorder=1%[:10ms]    delays packets by this much more (default 10ms)\n"
    "  duplicate=1%         packets that arrive twice\n"
    "  corrupt=0.1%         packets with one bit flipped\n"
    "  mtu=1400             larger IP packets vanish\n"
    "  blackout=10s+2s[/30s]\n"
    "                       from the 10th second on nothing passes for 2 s,\n"
    "                       and again every 30 s\n"
    "  carrier=off|on       off: nothing passes, until changed\n";

/* A value split at its colons. */
struct value {
    char text[LIST_MAX];
    char *part[PARTS_MAX];
    size_t parts;
};

typedef const char *(*setter)(struct sim_link_config *c, struct value *v);

static const char *set_rate(struct sim_link_config *c, struct value *v) {
    const char *why = units_rate(v->part[0], &c->rate);
    if (!why) {
        c->trace = NULL;
    }
    return why;
}

/* Removes ":30s" from the end of a path, if present. */
static bool cut_start(char *path, uint64_t *start) {
    char *colon = strrchr(path, ':');
    *start = 0;
    if (!colon || strchr(colon, '/')) {
        return true;
    }
    if (units_time(colon + 1, start)) {
        return false;
    }
    *colon = '\0';
    return true;
}

static const char *set_trace(struct sim_link_config *c, struct value *v) {
    static char complaint[SETTINGS_WHY_MAX];
    char why[SIM_TRACE_WHY_MAX];
    const struct sim_trace *t;
    uint64_t start;
    if (!cut_start(v->part[0], &start)) {
        return "FILE or FILE:START, such as link.down:30s";
    }
    t = trace_file(v->part[0], why);
    if (t && start < sim_trace_length(t)) {
        c->trace = t;
        c->trace_start = start;
        c->rate = 0;
        return NULL;
    }
    if (t) {
        (void)snprintf(why, sizeof(why), "START must be below its length, %g s",
                       (double)sim_trace_length(t) / 1e9);
    }
    (void)snprintf(complaint, sizeof(complaint),
                   "a file in mahimahi's format: %s", why);
    return complaint;
}

static const char *link_settings_set_delay(struct sim_link_config *c,
                                           struct value *v) {
    return units_time(v->part[0], &c->delay);
}

static const char *set_jitter(struct sim_link_config *c, struct value *v) {
    double share = 0;
    if (v->parts > 1 && units_probability(v->part[1], &share)) {
        return "a time, and the part of the packets: 5ms:10%";
    }
    c->jitter_share = share;
    return units_time(v->part[0], &c->jitter);
}

static const char *set_slots(struct sim_link_config *c, struct value *v) {
    uint64_t least = 0;
    uint64_t most = 0;
    if (units_time(v->part[0], &least) ||
        units_time(v->part[v->parts - 1], &most) || most < least) {
        return "a length, or the shortest and the longest one: 5ms:20ms";
    }
    c->slot_min = least;
    c->slot_max = most;
    return NULL;
}

static const char *set_queue(struct sim_link_config *c, struct value *v) {
    char *text = v->part[0];
    size_t len = strlen(text);
    uint64_t packets = 0;
    uint64_t bytes = 0;
    uint64_t time = 0;
    if (len > 1 && text[len - 1] == 'p') {
        text[len - 1] = '\0';
        if (units_count(text, 1, UINT32_MAX, &packets)) {
            return "a number of packets from 1 on, such as 40p";
        }
    } else if (len > 1 && text[len - 1] == 's') {
        if (units_time(text, &time)) {
            return "a time, such as 80ms";
        }
    } else if (units_size(text, &bytes) || bytes == 0) {
        return "a size, a number of packets or a time, such as 50kB, 40p, 80ms";
    }
    c->limit_packets = packets;
    c->limit_bytes = bytes;
    c->limit_time = time;
    return NULL;
}

static const char *set_red(struct sim_link_config *c, struct value *v) {
    struct sim_red_config red = c->red;
    if (v->parts < 2 || units_number(v->part[0], &red.thresh) ||
        units_number(v->part[1], &red.maxthresh) ||
        (v->parts > 2 && units_probability(v->part[2], &red.max_p)) ||
        (v->parts > 3 && units_probability(v->part[3], &red.q_weight)) ||
        red.thresh >= red.maxthresh || red.max_p <= 0) {
        return "two thresholds in packets, the lower first, a probability and "
               "a weight, such as 5:15:10%:0.2%";
    }
    c->red = red;
    c->red_on = true;
    return NULL;
}

static const char *set_red_gentle(struct sim_link_config *c, struct value *v) {
    return units_flag(v->part[0], &c->red.gentle);
}

static const char *set_codel(struct sim_link_config *c, struct value *v) {
    struct sim_codel_config codel;
    bool on = true;
    sim_codel_config_init(&codel);
    if (units_flag(v->part[0], &on) &&
        (units_time(v->part[0], &codel.target) ||
         (v->parts > 1 && units_time(v->part[1], &codel.interval)))) {
        return "on, off, or a target and an interval, such as 5ms:100ms";
    }
    c->codel_on = on;
    c->codel = codel;
    return NULL;
}

static const char *set_pie(struct sim_link_config *c, struct value *v) {
    struct sim_pie_config pie;
    bool on = true;
    sim_pie_config_init(&pie);
    if (units_flag(v->part[0], &on) && units_time(v->part[0], &pie.target)) {
        return "on, off, or a target, such as 15ms";
    }
    c->pie_on = on;
    c->pie = pie;
    return NULL;
}

static const char *set_fq(struct sim_link_config *c, struct value *v) {
    uint64_t quantum = FULL_PACKET;
    bool on = true;
    if (units_flag(v->part[0], &on) &&
        units_count(v->part[0], 1, UINT16_MAX, &quantum)) {
        return "on, off, or a number of bytes up to 65535";
    }
    c->fair_quantum = on ? (uint32_t)quantum : 0;
    return NULL;
}

static const char *set_police(struct sim_link_config *c, struct value *v) {
    double rate;
    uint64_t burst = UINT64_C(10) * FULL_PACKET;
    if (units_rate(v->part[0], &rate)) {
        return "a rate and a size, such as 2mbit:20kB";
    }
    if (rate / 80 > (double)burst) {
        burst = (uint64_t)(rate / 80);
    }
    if (v->parts > 1 && (units_size(v->part[1], &burst) || burst == 0)) {
        return "a rate and a size, such as 2mbit:20kB";
    }
    c->police_rate = rate;
    c->police_burst = burst;
    return NULL;
}

static const char *set_lower_effort(struct sim_link_config *c,
                                    struct value *v) {
    return units_flag(v->part[0], &c->lower_effort);
}

static const char *set_queue_rule(struct sim_link_config *c, struct value *v) {
    bool ns2 = strcmp(v->part[0], "ns2") == 0;
    if (!ns2 && strcmp(v->part[0], "waiting") != 0) {
        return "ns2 or waiting";
    }
    c->rule = ns2 ? SIM_QUEUE_NS2 : SIM_QUEUE_WAITING;
    return NULL;
}

static const char *set_ecn(struct sim_link_config *c, struct value *v) {
    const char *why = units_flag(v->part[0], &c->red.setbit);
    c->aqm_ecn = c->red.setbit;
    return why;
}

static const char *set_mark(struct sim_link_config *c, struct value *v) {
    return units_count(v->part[0], 0, UINT32_MAX, &c->mark_above);
}

static const char *set_ecn_path(struct sim_link_config *c, struct value *v) {
    static const char *const names[] = {"keep", "bleach", "ce", "swap"};
    static const enum sim_ecn_path paths[] = {SIM_ECN_KEEP, SIM_ECN_BLEACH,
                                              SIM_ECN_ALL_CE, SIM_ECN_SWAP};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(v->part[0], names[i]) == 0) {
            c->ecn = paths[i];
            return NULL;
        }
    }
    return "keep, bleach, ce or swap";
}

static const char *set_loss(struct sim_link_config *c, struct value *v) {
    return units_probability(v->part[0], &c->loss);
}

static const char *set_ber(struct sim_link_config *c, struct value *v) {
    return units_probability(v->part[0], &c->bit_error);
}

static const char *set_burst(struct sim_link_config *c, struct value *v) {
    double enter;
    double leave;
    double loss = 1;
    if (v->parts < 2 || units_probability(v->part[0], &enter) ||
        units_probability(v->part[1], &leave) ||
        (v->parts > 2 && units_probability(v->part[2], &loss))) {
        return "two or three probabilities, such as 1%:25% or 1%:25%:80%";
    }
    c->burst_enter = enter;
    c->burst_leave = leave;
    c->burst_loss = loss;
    return NULL;
}

static const char *set_reorder(struct sim_link_config *c, struct value *v) {
    double p;
    uint64_t delay = 10000000;
    if (units_probability(v->part[0], &p) ||
        (v->parts > 1 && units_time(v->part[1], &delay))) {
        return "a probability and a time, such as 1%:10ms";
    }
    c->reorder = p;
    c->reorder_delay = delay;
    return NULL;
}

static const char *set_duplicate(struct sim_link_config *c, struct value *v) {
    return units_probability(v->part[0], &c->duplicate);
}

static const char *set_corrupt(struct sim_link_config *c, struct value *v) {
    return units_probability(v->part[0], &c->corrupt);
}

static const char *set_mtu(struct sim_link_config *c, struct value *v) {
    uint64_t mtu;
    if (units_count(v->part[0], 0, 65535, &mtu) ||
        (mtu != 0 && mtu <= c->overhead)) {
        return "a size of IP packets in bytes up to 65535, or 0 for none";
    }
    c->mtu = mtu ? (uint32_t)mtu - c->overhead : 0;
    return NULL;
}

static const char *set_blackout(struct sim_link_config *c, struct value *v) {
    char *length = strchr(v->part[0], '+');
    char *period = length ? strchr(length, '/') : NULL;
    uint64_t start_ns;
    uint64_t length_ns;
    uint64_t period_ns = 0;
    static const char form[] =
        "START+LENGTH or START+LENGTH/PERIOD, such as 10s+2s/30s";
    if (!length) {
        return form;
    }
    *length++ = '\0';
    if (period) {
        *period++ = '\0';
    }
    if (units_time(v->part[0], &start_ns) || units_time(length, &length_ns) ||
        (period && units_time(period, &period_ns))) {
        return form;
    }
    c->blackout_start = start_ns;
    c->blackout_length = length_ns;
    c->blackout_period = period_ns;
    return NULL;
}

static const char *set_carrier(struct sim_link_config *c, struct value *v) {
    bool on;
    const char *why = units_flag(v->part[0], &on);
    if (!why) {
        c->no_carrier = !on;
    }
    return why;
}

static const struct {
    const char *name;
    setter set;
    size_t parts_max; /* maximum parts separated by colons; 0: colons are
                         literal */
} settings[] = {
    {"rate", set_rate, 1},
    {"trace", set_trace, 0},
    {"delay", link_settings_set_delay, 1},
    {"jitter", set_jitter, 2},
    {"slots", set_slots, 2},
    {"queue", set_queue, 1},
    {"queue-rule", set_queue_rule, 1},
    {"lower-effort", set_lower_effort, 1},
    {"red", set_red, 4},
    {"red-gentle", set_red_gentle, 1},
    {"codel", set_codel, 2},
    {"pie", set_pie, 1},
    {"fq", set_fq, 1},
    {"ecn", set_ecn, 1},
    {"police", set_police, 2},
    {"mark", set_mark, 1},
    {"ecn-path", set_ecn_path, 1},
    {"loss", set_loss, 1},
    {"burst", set_burst, 3},
    {"ber", set_ber, 1},
    {"reorder", set_reorder, 2},
    {"duplicate", set_duplicate, 1},
    {"corrupt", set_corrupt, 1},
    {"mtu", set_mtu, 1},
    {"blackout", set_blackout, 1},
    {"carrier", set_carrier, 1},
};

static bool split(const char *text, size_t parts_max, struct value *v) {
    size_t most = parts_max ? parts_max : 1;
    if (strlen(text) >= sizeof(v->text)) {
        return false;
    }
    (void)snprintf(v->text, sizeof(v->text), "%s", text);
    v->parts = 0;
    for (char *at = v->text; at; v->parts++) {
        if (v->parts == most) {
            return false;
        }
        v->part[v->parts] = at;
        at = parts_max ? strchr(at, ':') : NULL;
        if (at) {
            *at++ = '\0';
        }
    }
    return true;
}

static void list_names(char *why, size_t room, const char *name) {
    int n = snprintf(why, room, "no setting '%s'; valid settings are", name);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (n < 0 || (size_t)n >= room) {
            return;
        }
        n += snprintf(why + n, room - (size_t)n, " %s", settings[i].name);
    }
}

static bool apply_one(char *text, struct sim_link_config *c, char *why) {
    char *equals = strchr(text, '=');
    struct value v;
    const char *allowed;
    if (!equals) {
        (void)snprintf(why, SETTINGS_WHY_MAX,
                       "'%s' is no setting; write NAME=VALUE", text);
        return false;
    }
    *equals = '\0';
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (strcmp(text, settings[i].name) != 0) {
            continue;
        }
        allowed = "shorter";
        if (split(equals + 1, settings[i].parts_max, &v)) {
            allowed = settings[i].set(c, &v);
        }
        if (allowed) {
            (void)snprintf(why, SETTINGS_WHY_MAX, "%s=%s: must be %s", text,
                           equals + 1, allowed);
        }
        return allowed == NULL;
    }
    list_names(why, SETTINGS_WHY_MAX, text);
    return false;
}

bool settings_apply(const char *list, struct sim_link_config *config,
                    char *why) {
    char copy[LIST_MAX];
    char *rest = copy;
    char *word;
    struct sim_link_config c = *config;
    if (strlen(list) >= sizeof(copy)) {
        (void)snprintf(why, SETTINGS_WHY_MAX, "the list is too long");
        return false;
    }
    (void)snprintf(copy, sizeof(copy), "%s", list);
    while ((word = strsep(&rest, ", ")) != NULL) {
        if (*word != '\0' && !apply_one(word, &c, why)) {
            return false;
        }
    }
    if (!sim_link_config_check(&c, why)) {
        return false;
    }
    *config = c;
    return true;
}

void settings_default_queue(struct sim_link_config *c) {
    const double packets = 10 * FULL_PACKET;
    double rate = c->trace ? sim_trace_rate(c->trace) : c->rate;
    if (rate <= 0 || c->limit_bytes || c->limit_packets || c->limit_time) {
        return;
    }
    if (c->trace) { /* a limit in time would fail in an outage */
        c->limit_bytes = (uint64_t)(rate / 80 > packets ? rate / 80 : packets);
    } else {
        c->limit_time =
            (uint64_t)(packets * 8e9 / rate > 1e8 ? packets * 8e9 / rate : 1e8);
    }
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Defaults and checks of options and configuration. */
#include "libsaratoga/engine/config.h"

#include <string.h>

#include "internal/common/sized.h"
#include "internal/common/strings.h"

/* A field in tail padding would not change the size, and struct_size could no
 * longer distinguish old callers from new ones. */
_Static_assert(sizeof(saratoga_options) ==
                   offsetof(saratoga_options, congestion_values) +
                       sizeof(void *),
               "tail padding in saratoga_options");
_Static_assert(sizeof(saratoga_config) ==
                   offsetof(saratoga_config, reserved3) + sizeof(uint32_t),
               "tail padding in saratoga_config");

void saratoga_options_init_sized(saratoga_options *o, size_t size) {
    const saratoga_options defaults = {
        .struct_size = size,
        .checksum = SARATOGA_MD5,
        .descriptor = SARATOGA_DESCRIPTOR_FIT,
        .max_descriptor = SARATOGA_64_BIT,
        .timestamps = SARATOGA_TS_POSIX64_F,
        .copies = 2,
        .cycles = 1,
        .request_retry = SARATOGA_S,
        .request_tries = 5,
        .max_holes = 200000,
        .status_spacing = SARATOGA_S,
        .first_spacing = 100 * SARATOGA_MS,
        .spacing_packets = 64,
        .quiet_status = 250 * SARATOGA_MS,
        .metadata_wait = 2 * SARATOGA_S,
        .inactivity = 30 * SARATOGA_S,
        .linger = 5 * SARATOGA_S,
        .poll = 200 * SARATOGA_MS,
        .poll_max = 5 * SARATOGA_S,
        .symmetry = 0.5,
        .window = (size_t)1 << 20,
        .block = (size_t)256 << 10,
        .early = (uint64_t)64 << 20,
        .blocks = 8,
    };
    memset(o, 0, size);
    memcpy(o, &defaults, size < sizeof(defaults) ? size : sizeof(defaults));
}

int saratoga_options_set_profile(saratoga_options *o, uint32_t profile) {
    switch (profile) {
    case SARATOGA_DRAFT:
        break;
    case SARATOGA_NASA_PERL:
        o->half_open_holes = true;
        o->timestamps = SARATOGA_TS_OFF;
        o->wide_entries = true;
        break;
    case SARATOGA_VALLONA:
        o->unconfirmed = UINT64_MAX;     /* reports nothing before the end */
        o->descriptor = SARATOGA_64_BIT; /* takes that of the REQUEST for all */
        o->max_descriptor = SARATOGA_64_BIT;
        o->timestamps = SARATOGA_TS_OFF;
        o->well_known_port = true;
        o->accept_ieee_crc = true;
        break;
    case SARATOGA_GO:
        o->half_open_holes = true;
        o->timestamps = SARATOGA_TS_OFF;
        o->accept_ieee_crc = true;
        break;
    default:
        return SARATOGA_ERR_INVAL;
    }
    o->profile = profile;
    return 0;
}

void saratoga_config_init_sized(saratoga_config *c, size_t size) {
    const saratoga_config defaults = {
        .struct_size = size,
        .mtu = 1500,
        .overhead = 28,
        .timer_granularity_us = 1000,
        .max_transfers = 1024,
        .max_per_host = 128,
        .can_send = true,
        .willing_to_send = true,
        .can_receive = true,
        .willing_to_receive = true,
        .streams = true,
        .status_share = 0.5,
        .status_packets = 1024,
        .error_rate = 20,
        .unproven_rate = 32,
        .max_unproven = 64,
        .auth_window = 300 * SARATOGA_S,
    };
    memset(c, 0, size);
    memcpy(c, &defaults, size < sizeof(defaults) ? size : sizeof(defaults));
}

void saratoga__options_take(saratoga_options *out, const saratoga_options *in) {
    saratoga_options_init_sized(out, sizeof(*out));
    if (in != NULL) {
        cmn__sized_take(out, sizeof(*out), in);
    }
}

int saratoga__options_own(saratoga_options *o, const cmn__mem *mem,
                          void **block) {
    *block = cmn__strings_copy(
        mem, &(cmn__strings){.text = {&o->congestion},
                             .names = &o->congestion_params,
                             .values = &o->congestion_values});
    return *block != NULL ? 0 : SARATOGA_ERR_NOMEM;
}

void saratoga__config_take(saratoga_config *out, const saratoga_config *in) {
    saratoga_config_init_sized(out, sizeof(*out));
    if (in != NULL) {
        cmn__sized_take(out, sizeof(*out), in);
    }
}

enum saratoga__law saratoga__options_law(const saratoga_options *o,
                                         const struct cong_ops **ops) {
    const char *name = o->congestion;
    *ops = NULL;
    if (name == NULL) {
        name = o->rate_bps > 0 ? "open" : "stfrc";
    }
    if (strcmp(name, "open") == 0) {
        return SARATOGA__OPEN_LOOP;
    }
    *ops = cong_find(name);
    if (*ops == NULL) {
        return SARATOGA__NO_LAW;
    }
    if (strcmp(name, "stfrc") == 0) {
        return SARATOGA__STFRC;
    }
    return strcmp(name, "tfrc") == 0 ? SARATOGA__TFRC : SARATOGA__WINDOW;
}

/* Appends to a sentence, cut to what fits. */
static void say(char *why, const char *text) {
    size_t n;
    if (why == NULL) {
        return;
    }
    n = strlen(why);
    while (*text != '\0' && n + 1 < SARATOGA_WHY_MAX) {
        why[n++] = *text++;
    }
    why[n] = '\0';
}

static void list_controllers(char *why, const char *wrong) {
    say(why, "no congestion controller '");
    say(why, wrong);
    say(why, "'; valid names are open");
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        say(why, ", ");
        say(why, *name);
    }
}

struct rule {
    bool good;
    const char *what;
};

static int config_judge(const struct rule *rule, size_t n, char *why) {
    for (size_t i = 0; i < n; i++) {
        if (!rule[i].good) {
            say(why, rule[i].what);
            return SARATOGA_ERR_INVAL;
        }
    }
    return 0;
}

static bool is_between(uint64_t x, uint64_t low, uint64_t high) {
    return x >= low && x <= high;
}

/* Whether text is UTF-8: each lead octet has its continuation octets. */
static bool is_utf8(const char *text) {
    const uint8_t *p = (const uint8_t *)text;
    while (*p != 0) {
        size_t more = *p < 0x80 ? 0 : *p < 0xE0 ? 1 : *p < 0xF0 ? 2 : 3;
        if ((*p >= 0x80 && *p < 0xC2) || *p > 0xF4) {
            return false;
        }
        for (p++; more > 0; more--, p++) {
            if ((*p & 0xC0) != 0x80) {
                return false;
            }
        }
    }
    return true;
}

/* Without its size, a struct would count as one without any member. */
static int check_set(const void *sized, const char *what, char *why) {
    if (why != NULL) {
        why[0] = '\0';
    }
    if (sized == NULL || cmn__sized_is_set(sized)) {
        return 0;
    }
    say(why, what);
    return SARATOGA_ERR_INVAL;
}

static int check_options(const saratoga_options *o, char *why) {
    const struct cong_ops *ops;
    enum saratoga__law law = saratoga__options_law(o, &ops);
    bool known_sum = o->checksum <= SARATOGA_SHA1 ||
                     o->checksum == SARATOGA_HMAC_SHA256 ||
                     o->checksum == SARATOGA_SHA256;
    const struct rule rule[] = {
        {o->profile <= SARATOGA_GO, "profile must be 0 to 3"},
        {known_sum,
         "checksum must be none, CRC-32C, MD5, SHA-1, SHA-256 or HMAC-SHA-256"},
        {o->descriptor <= SARATOGA_DESCRIPTOR_FIT, "descriptor must be 0 to 4"},
        {o->max_descriptor <= SARATOGA_128_BIT,
         "max_descriptor must be 0 to 3"},
        {o->timestamps <= SARATOGA_TS_OFF, "timestamps must be 0 to 6"},
        {is_between(o->copies, 1, 4), "copies must be 1 to 4"},
        {o->cycles >= 1, "cycles must be at least 1"},
        {is_between(o->max_holes, 16, 1u << 24),
         "max_holes must be 16 to 16777216"},
        {is_between(o->block, 4096, (size_t)1 << 26),
         "block must be 4 KiB to 64 MiB"},
        {is_between(o->blocks, 1, 1024), "blocks must be 1 to 1024"},
        {is_between(o->window, 4096, (size_t)1 << 30),
         "window must be 4 KiB to 1 GiB"},
        {is_between(o->request_tries, 1, 1000000),
         "request_tries must be 1 to 1000000"},
        {o->request_retry > 0 && o->inactivity > 0,
         "request_retry and inactivity must be above 0"},
        {o->symmetry >= 0 && o->symmetry <= 1, "symmetry must be 0 to 1"},
        {o->poll > 0 && o->poll_max >= o->poll,
         "poll must be above 0 and at most poll_max"},
        {o->status_spacing > 0 && o->first_spacing > 0,
         "status_spacing and first_spacing must be above 0"},
        {law != SARATOGA__OPEN_LOOP || o->rate_bps > 0,
         "an open loop needs a rate: set rate_bps"},
        {o->congestion_params == NULL || o->congestion_values != NULL,
         "congestion_params needs congestion_values"},
    };
    if (law == SARATOGA__NO_LAW) {
        list_controllers(why, o->congestion);
        return SARATOGA_ERR_ALGORITHM;
    }
    return config_judge(rule, sizeof(rule) / sizeof(rule[0]), why);
}

int saratoga_options_check(const saratoga_options *o, char *why) {
    saratoga_options full;
    int rv = check_set(
        o, "the options were not set up by saratoga_options_init()", why);
    if (rv != 0) {
        return rv;
    }
    saratoga__options_take(&full, o);
    return check_options(&full, why);
}

int saratoga_config_check(const saratoga_config *c, char *why) {
    saratoga_config full;
    size_t eid;
    int rv = check_set(c, "the config was not set up by saratoga_config_init()",
                       why);
    if (rv != 0) {
        return rv;
    }
    saratoga__config_take(&full, c);
    eid = full.eid != NULL ? strlen(full.eid) : 1;
    const struct rule rule[] = {
        {is_between(full.mtu, 576, 65535), "mtu must be 576 to 65535"},
        {is_between(full.overhead, 8, 128), "overhead must be 8 to 128"},
        {full.carrier_overhead <= 128, "carrier_overhead must be 0 to 128"},
        {is_between(full.max_transfers, 1, 1u << 20),
         "max_transfers must be 1 to 1048576"},
        {is_between(full.max_unproven, 1, 1u << 20),
         "max_unproven must be 1 to 1048576"},
        {full.unproven_rate >= 1, "unproven_rate must be at least 1"},
        {full.status_share > 0 && full.status_share <= 1,
         "status_share must be above 0, at most 1"},
        {full.status_packets >= 1, "status_packets must be at least 1"},
        {full.auth_key == NULL
             ? full.auth_key_len == 0
             : is_between(full.auth_key_len, 16, SARATOGA_KEY_MAX),
         "auth_key must have 16 to 256 bytes"},
        {!full.auth_files || full.auth_key != NULL,
         "auth_files needs an auth_key"},
        {is_between(eid, 1, SARATOGA_EID_MAX),
         "an EID must have 1 to 255 bytes"},
        {full.eid == NULL || is_utf8(full.eid), "an EID must be UTF-8"},
    };
    rv = config_judge(rule, sizeof(rule) / sizeof(rule[0]), why);
    return rv != 0 ? rv : saratoga_options_check(full.transfer, why);
}

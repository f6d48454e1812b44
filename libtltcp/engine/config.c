/* SPDX-License-Identifier: MPL-2.0 */
/* Defaults of a configuration, and checks. */
#include "libtltcp/engine/config.h"

#include <congestion/recovery.h>

#include <string.h>

#include "internal/common/sized.h"
#include "internal/secure/curve.h"
#include "internal/secure/keys.h"
#include "internal/secure/packet.h"
#include "libtltcp/engine/fec.h"

#define BUFFER_MIN ((size_t)4096)
#define BUFFER_MAX ((size_t)1 << 30)
#define DEFAULT_CONGESTION "auto"
#define DEFAULT_BUFFER ((size_t)4 << 20)
#define MEMORY_MIN (UINT64_C(1) << 20)
#define MEMORY_DEFAULT (UINT64_C(1) << 30)

/* A field in tail padding would not change the size, and struct_size could no
 * longer distinguish old callers from new ones. */
_Static_assert(sizeof(tltcp_config) == offsetof(tltcp_config, identity) +
                                           sizeof(tltcp_identity_options),
               "tail padding in tltcp_config");
_Static_assert(sizeof(tltcp_stats) == offsetof(tltcp_stats, transport) +
                                          sizeof(((tltcp_stats *)0)->transport),
               "tail padding in tltcp_stats");

void tltcp_config_init_sized(tltcp_config *c, size_t size) {
    const tltcp_config defaults = {
        .struct_size = size,
        .send_buffer = DEFAULT_BUFFER,
        .recv_buffer = DEFAULT_BUFFER,
        .max_sections = 16384,
        .connect_timeout_ms = 5000,
        .idle_timeout_ms = 30000,
        .look_ahead = true,
        .listener = {.max_connections = 65536,
                     .max_per_address = 16384,
                     .max_half_open = 256,
                     .max_half_open_per_address = 64,
                     .max_memory = MEMORY_DEFAULT},
        .io = {.timer_granularity_us = 1000,
               .batches = true,
               .offload = true,
               .threads = 1},
        .packets = {.max_datagram = 1472,
                    .base_datagram = SEC__DATAGRAM_MIN,
                    .ack_every = 2,
                    .max_ack_delay_ms = 25,
                    .mtu_probing = true,
                    .ecn = true},
        .controller = {.pacing = true},
        .paper = {.rto_min_ms = 200},
    };
    memset(c, 0, size);
    memcpy(c, &defaults, size < sizeof(defaults) ? size : sizeof(defaults));
}

void tltcp__config_take(tltcp_config *out, const tltcp_config *in) {
    tltcp_config_init_sized(out, sizeof(*out));
    if (in != NULL) {
        cmn__sized_take(out, sizeof(*out), in);
    }
}

/* Writes a message, truncated to fit. */
static void say(char *why, const char *what, const char *name) {
    const char *part[] = {what, name};
    size_t n = 0;
    for (size_t i = 0; why != NULL && i < 2; i++) {
        for (const char *p = part[i]; p != NULL && *p != '\0'; p++) {
            if (n < TLTCP_REASON_MAX) {
                why[n++] = *p;
            }
        }
    }
    if (why != NULL) {
        why[n] = '\0';
    }
}

/* Appends what fits as a whole. */
static void say_more(char *why, const char *more) {
    size_t n = strlen(why);
    if (n + strlen(more) <= TLTCP_REASON_MAX) {
        memcpy(why + n, more, strlen(more) + 1);
    }
}

static void list_controllers(char *why, const char *wrong) {
    const char *before = "'; valid names are ";
    if (why == NULL) {
        return;
    }
    say(why, "no congestion controller '", NULL);
    say_more(why, wrong);
    for (const char *const *name = cong_list(); *name != NULL; name++) {
        say_more(why, before);
        say_more(why, *name);
        before = ", ";
    }
}

static bool is_between(uint64_t x, uint64_t low, uint64_t high) {
    return x >= low && x <= high;
}

sec__key_source tltcp__config_keys(const tltcp_config *c) {
    return (sec__key_source){.passphrase = c->passphrase,
                             .key = c->key,
                             .key_len = c->key_len,
                             .more_passphrases = c->listener.more_passphrases,
                             .more_keys = c->listener.more_keys,
                             .statics = {.secret = c->identity.secret,
                                         .listener = c->identity.listener}};
}

bool tltcp__config_calls_sealed(const tltcp_config *c) {
    const sec__key_source keys = tltcp__config_keys(c);
    return sec__keys_own(&keys);
}

int tltcp_identity_public(const uint8_t *secret, uint8_t *public_key) {
    return sec__curve_public(secret, public_key) ? 0 : TLTCP_ERR_NOMEM;
}

static const char *bad_value(const tltcp_config *c) {
    sec__key_source keys;
    const struct {
        bool good;
        const char *what;
    } rule[] = {
        {is_between(c->send_buffer, BUFFER_MIN, BUFFER_MAX),
         "send_buffer must be 4 KiB to 1 GiB"},
        {is_between(c->recv_buffer, BUFFER_MIN, BUFFER_MAX),
         "recv_buffer must be 4 KiB to 1 GiB"},
        {c->listener.max_memory >= MEMORY_MIN,
         "max_memory must be at least 1 MiB"},
        {is_between(c->max_sections, 16, 1u << 20),
         "max_sections must be 16 to 1048576"},
        {is_between(c->packets.base_datagram, SEC__DATAGRAM_MIN,
                    c->packets.max_datagram),
         "base_datagram must be 1200 up to max_datagram"},
        {c->packets.max_datagram <= SEC__DATAGRAM_MAX,
         "max_datagram must be 1200 to 65000"},
        {is_between(c->packets.ack_every, 1, 64), "ack_every must be 1 to 64"},
        {c->packets.max_ack_delay_ms <= 1000,
         "max_ack_delay_ms must be 0 to 1000"},
        {is_between(c->paper.rto_min_ms, 1, 60000),
         "rto_min_ms must be 1 to 60000"},
        {c->stream_id == NULL || strlen(c->stream_id) <= TLTCP_STREAM_ID_MAX,
         "stream_id is longer than 512 bytes"},
        {c->drop_policy <= TLTCP_DROP_UNTIL_KEY,
         "drop_policy must be one of enum tltcp_drop_policy"},
        {c->fec <= TLTCP_FEC_ON, "fec must be one of enum tltcp_fec"},
        {c->io.transport <= TLTCP_TRANSPORT_TCP,
         "transport must be one of enum tltcp_transport"},
        {c->io.dscp <= 63, "dscp must be 0 to 63"},
        {is_between(c->io.threads, 1, TLTCP_THREADS_MAX),
         "threads must be 1 to 64"},
        {c->controller.params == NULL || c->controller.values != NULL,
         "controller.params needs controller.values"},
        {c->identity.secret != NULL ||
             (c->identity.listener == NULL && c->identity.callers == NULL),
         "identity.listener and identity.callers need identity.secret"},
    };
    for (size_t i = 0; i < sizeof(rule) / sizeof(rule[0]); i++) {
        if (!rule[i].good) {
            return rule[i].what;
        }
    }
    keys = tltcp__config_keys(c);
    return sec__keys_check(&keys);
}

const struct cong_ops *tltcp__config_congestion(const tltcp_config *c) {
    return cong_find(c->congestion != NULL ? c->congestion
                                           : DEFAULT_CONGESTION);
}

/* The paper's recoveries. Plain "dupack" selects the one that matches the
 * controller. */
bool tltcp__config_recovery(const tltcp_config *c, int *kind) {
    static const struct {
        const char *recovery;
        const char *congestion; /* NULL: any */
        int kind;
    } table[] = {
        {"packet", NULL, -1},
        {"dupack-tahoe", NULL, CONG_RECOVERY_TAHOE},
        {"dupack-reno", NULL, CONG_RECOVERY_RENO},
        {"dupack-newreno", NULL, CONG_RECOVERY_NEWRENO},
        {"dupack-sack", NULL, CONG_RECOVERY_SACK},
        {"dupack", "tahoe", CONG_RECOVERY_TAHOE},
        {"dupack", "newreno", CONG_RECOVERY_NEWRENO},
        {"dupack", "sack", CONG_RECOVERY_SACK},
        {"dupack", NULL, CONG_RECOVERY_RENO},
    };
    const char *name = c->recovery != NULL ? c->recovery : "packet";
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(name, table[i].recovery) == 0 &&
            (table[i].congestion == NULL ||
             (c->congestion != NULL &&
              strcmp(c->congestion, table[i].congestion) == 0))) {
            *kind = table[i].kind;
            return true;
        }
    }
    return false;
}

/* Datagrams are steered to threads by the kernel. */
static const char *threads_unsupported(const tltcp_config *c) {
    if (c->io.threads == 1) {
        return NULL;
    }
#if !defined(__linux__)
    return "several I/O threads need Linux";
#endif
    if (!c->io.batches) {
        return "several I/O threads need batches";
    }
    return c->io.transport == TLTCP_TRANSPORT_TCP
               ? "several I/O threads need UDP"
               : NULL;
}

int tltcp_config_check(const tltcp_config *config, char *why) {
    tltcp_config c;
    const char *bad;
    int kind;
    say(why, NULL, NULL);
    if (config != NULL && !cmn__sized_is_set(config)) {
        say(why, "the config was not set up by tltcp_config_init()", NULL);
        return TLTCP_ERR_INVAL;
    }
    tltcp__config_take(&c, config);
    bad = bad_value(&c);
    if (bad != NULL) {
        say(why, bad, NULL);
        return TLTCP_ERR_INVAL;
    }
    if (c.fec == TLTCP_FEC_ON && !tltcp__fec_available()) {
        say(why, "forward error correction is not in this build", NULL);
        return TLTCP_ERR_UNSUPPORTED;
    }
    bad = threads_unsupported(&c);
    if (bad != NULL) {
        say(why, bad, NULL);
        return TLTCP_ERR_UNSUPPORTED;
    }
    if (tltcp__config_congestion(&c) == NULL) {
        list_controllers(why, c.congestion);
        return TLTCP_ERR_ALGORITHM;
    }
    if (!tltcp__config_recovery(&c, &kind)) {
        say(why, "recovery must be packet, dupack, dupack-tahoe, dupack-reno, ",
            "dupack-newreno or dupack-sack");
        return TLTCP_ERR_ALGORITHM;
    }
    if (c.io.transport != TLTCP_TRANSPORT_UDP && kind >= 0) {
        say(why, "over TCP, recovery must be packet", NULL);
        return TLTCP_ERR_UNSUPPORTED;
    }
    return 0;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* The command line of saratoga. */
#include "tools/saratoga/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "internal/settings/units.h"
#include "tools/common/brief.h"
#include "tools/common/command_line.h"
#include "tools/common/secrets_watch.h"
#include "tools/common/tool.h"
#include "tools/saratoga/help.h"
#include "tools/saratoga/settings.h"
#include "tools/saratoga/values.h"

#define TOOL "saratoga"
#define MIRROR_TRIES 3

enum {
    OPT_RATE = 256,
    OPT_CONGESTION,
    OPT_CHECKSUM,
    OPT_DESCRIPTOR,
    OPT_TIMESTAMPS,
    OPT_PROFILE,
    OPT_RESUME,
    OPT_OVERWRITE,
    OPT_JSON,
    OPT_BIND,
    OPT_PORT_FILE,
    OPT_RATE_FILE,
    OPT_MTU,
    OPT_UPLINK,
    OPT_RTT,
    OPT_INACTIVITY,
    OPT_RETRY,
    OPT_PARALLEL,
    OPT_SET,
    OPT_ONE_WAY,
    OPT_MULTICAST,
    OPT_UDP_LITE,
    OPT_UPDATE,
    OPT_UNRELIABLE,
    OPT_STREAMS,
    OPT_GROUP,
    OPT_AUTH_KEY,
    OPT_AUTH_FILES,
    OPT_PASSPHRASE,
    OPT_PASSPHRASE_FILE,
    OPT_KEY_FILE,
    OPT_ROOT,
    OPT_NO_READ,
    OPT_WRITE,
    OPT_DELETE,
    OPT_BEACON,
    OPT_BEACON_TO,
    OPT_EID,
    OPT_MAX_SESSIONS,
    OPT_MAX_PER_PEER,
    OPT_MAX_PEERS,
    OPT_QUOTA,
    OPT_INTERVAL,
    OPT_MIN_AGE,
    OPT_WAIT,
    OPT_ONCE
};
_Static_assert(OPT_ONCE - OPT_RATE < 64, "saratoga_args::given has 64 bits");

static const struct option options[] = {
    {"rate", required_argument, NULL, OPT_RATE},
    {"congestion", required_argument, NULL, OPT_CONGESTION},
    {"checksum", required_argument, NULL, OPT_CHECKSUM},
    {"descriptor", required_argument, NULL, OPT_DESCRIPTOR},
    {"timestamps", optional_argument, NULL, OPT_TIMESTAMPS},
    {"profile", required_argument, NULL, OPT_PROFILE},
    {"resume", no_argument, NULL, OPT_RESUME},
    {"overwrite", no_argument, NULL, OPT_OVERWRITE},
    {"recursive", no_argument, NULL, 'r'},
    {"json", required_argument, NULL, OPT_JSON},
    {"bind", required_argument, NULL, OPT_BIND},
    {"port-file", required_argument, NULL, OPT_PORT_FILE},
    {"rate-file", required_argument, NULL, OPT_RATE_FILE},
    {"mtu", required_argument, NULL, OPT_MTU},
    {"uplink", required_argument, NULL, OPT_UPLINK},
    {"rtt", required_argument, NULL, OPT_RTT},
    {"inactivity", required_argument, NULL, OPT_INACTIVITY},
    {"retry", required_argument, NULL, OPT_RETRY},
    {"parallel", required_argument, NULL, OPT_PARALLEL},
    {"set", required_argument, NULL, OPT_SET},
    {"one-way", no_argument, NULL, OPT_ONE_WAY},
    {"multicast", no_argument, NULL, OPT_MULTICAST},
    {"udp-lite", no_argument, NULL, OPT_UDP_LITE},
    {"update", no_argument, NULL, OPT_UPDATE},
    {"unreliable", no_argument, NULL, OPT_UNRELIABLE},
    {"streams", no_argument, NULL, OPT_STREAMS},
    {"group", required_argument, NULL, OPT_GROUP},
    {"auth-key", required_argument, NULL, OPT_AUTH_KEY},
    {"auth-files", no_argument, NULL, OPT_AUTH_FILES},
    {"passphrase", required_argument, NULL, OPT_PASSPHRASE},
    {"passphrase-file", required_argument, NULL, OPT_PASSPHRASE_FILE},
    {"key-file", required_argument, NULL, OPT_KEY_FILE},
    {"root", required_argument, NULL, OPT_ROOT},
    {"no-read", no_argument, NULL, OPT_NO_READ},
    {"write", no_argument, NULL, OPT_WRITE},
    {"delete", no_argument, NULL, OPT_DELETE},
    {"beacon", required_argument, NULL, OPT_BEACON},
    {"beacon-to", required_argument, NULL, OPT_BEACON_TO},
    {"eid", required_argument, NULL, OPT_EID},
    {"max-sessions", required_argument, NULL, OPT_MAX_SESSIONS},
    {"max-per-peer", required_argument, NULL, OPT_MAX_PER_PEER},
    {"max-peers", required_argument, NULL, OPT_MAX_PEERS},
    {"quota", required_argument, NULL, OPT_QUOTA},
    {"interval", required_argument, NULL, OPT_INTERVAL},
    {"min-age", required_argument, NULL, OPT_MIN_AGE},
    {"wait", required_argument, NULL, OPT_WAIT},
    {"once", no_argument, NULL, OPT_ONCE},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"help-all", no_argument, NULL, 'H'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0}};

/* Reads the bytes of a key file. */
static const char *read_key(struct saratoga_args *a, const char *path) {
    FILE *f = fopen(path, "re");
    bool all;
    if (!f) {
        return "a file that can be read";
    }
    a->key_len = fread(a->key, 1, sizeof(a->key), f);
    all = fgetc(f) == EOF && !ferror(f);
    (void)fclose(f);
    return all && a->key_len >= 16 ? NULL
                                   : "a file of 16 to 256 bytes, the key";
}

static const char *take_transfer(struct saratoga_args *a, int opt,
                                 const char *text) {
    const char *why;
    switch (opt) {
    case OPT_RATE:
        return saratoga_rate(text, &a->transfer.rate_bps);
    case OPT_CONGESTION:
        a->transfer.congestion = text;
        return NULL;
    case OPT_CHECKSUM:
        return values_checksum(text, &a->transfer.checksum);
    case OPT_DESCRIPTOR:
        why = values_descriptor(text, &a->transfer.descriptor);
        if (!why) { /* for sending, and the widest accepted */
            a->transfer.max_descriptor = a->transfer.descriptor;
        }
        return why;
    case OPT_PROFILE:
        return values_profile(text, &a->transfer);
    case OPT_MTU:
        return values_mtu(text, &a->mtu);
    case OPT_UPLINK:
        return saratoga_rate(text, &a->uplink_bps);
    case OPT_RTT:
        return units_time(text, &a->transfer.rtt_hint);
    case OPT_AUTH_KEY:
        return read_key(a, text);
    case OPT_SET:
        return saratoga_set(&a->transfer, text);
    case OPT_PARALLEL:
        return values_parallel(text, &a->parallel);
    case OPT_INACTIVITY:
        return saratoga_seconds(text, &a->transfer.inactivity);
    default:
        return saratoga_seconds(text, &a->transfer.request_retry);
    }
}

static const char *take_node(struct saratoga_args *a, int opt,
                             const char *text) {
    switch (opt) {
    case OPT_BEACON:
        return saratoga_seconds(text, &a->beacon);
    case OPT_MAX_SESSIONS:
        return values_limit(text, &a->max_sessions);
    case OPT_MAX_PER_PEER:
        return values_limit(text, &a->max_per_peer);
    case OPT_MAX_PEERS:
        return values_limit(text, &a->max_peers);
    case OPT_QUOTA:
        return units_size(text, &a->quota);
    case OPT_INTERVAL:
        return saratoga_seconds(text, &a->interval);
    case OPT_MIN_AGE:
        return saratoga_seconds(text, &a->min_age);
    case OPT_WAIT:
        return saratoga_seconds(text, &a->wait);
    default:
        return NULL;
    }
}

/* Options whose value is kept unchanged. */
static const char **text_of(struct saratoga_args *a, int opt) {
    switch (opt) {
    case OPT_JSON:
        return &a->json;
    case OPT_BIND:
        return &a->bind;
    case OPT_PORT_FILE:
        return &a->port_file;
    case OPT_RATE_FILE:
        return &a->rate_file;
    case OPT_ROOT:
        return &a->root;
    case OPT_BEACON_TO:
        return &a->beacon_to;
    case OPT_EID:
        return &a->eid;
    case OPT_GROUP:
        return &a->group;
    default:
        return NULL;
    }
}

static bool *flag_of(struct saratoga_args *a, int opt) {
    switch (opt) {
    case OPT_RESUME:
        return &a->resume;
    case OPT_ONE_WAY:
        return &a->transfer.no_status;
    case OPT_MULTICAST:
        return &a->transfer.multicast;
    case OPT_UNRELIABLE:
        return &a->transfer.unreliable;
    case OPT_STREAMS:
        return &a->streams;
    case OPT_AUTH_FILES:
        return &a->auth_files;
    case OPT_UDP_LITE:
        return &a->transfer.lite;
    case OPT_UPDATE:
        return &a->update;
    case OPT_OVERWRITE:
        return &a->overwrite;
    case 'r':
        return &a->recursive;
    case 'q':
        return &a->quiet;
    case OPT_NO_READ:
        return &a->no_read;
    case OPT_WRITE:
        return &a->write;
    case OPT_DELETE:
        return &a->remove;
    case OPT_ONCE:
        return &a->once;
    default:
        return NULL;
    }
}

static const char *take_value(struct saratoga_args *a, int opt,
                              const char *text) {
    const char **kept = text_of(a, opt);
    if (kept) {
        *kept = text;
        return NULL;
    }
    if (opt == OPT_TIMESTAMPS) {
        return values_timestamps(text, &a->transfer.timestamps);
    }
    return opt < OPT_ROOT ? take_transfer(a, opt, text)
                          : take_node(a, opt, text);
}

static bool is_secret_file(const char *name) {
    return strcmp(name, "passphrase-file") == 0 ||
           strcmp(name, "key-file") == 0 || strcmp(name, "auth-key") == 0;
}

static int take_option(struct saratoga_args *a, int opt, const char *name,
                       char **argv) {
    bool *flag = flag_of(a, opt);
    const char *why;
    if (opt >= OPT_RATE) {
        a->given |= UINT64_C(1) << (opt - OPT_RATE);
    }
    if (flag) {
        *flag = true;
        return -1;
    }
    switch (opt) {
    case 'V':
        return tool_version(TOOL);
    case 'h':
        tool_print_brief(TOOL, saratoga_help, saratoga_details);
        return TOOL_OK;
    case 'H':
        tool_print_whole(saratoga_help);
        return TOOL_OK;
    case '?':
    case ':':
        return tool_bad_option(TOOL, opt, options, argv);
    default:
        if (!secrets_option(&a->secrets, name, optarg, &why)) {
            why = take_value(a, opt, optarg);
        }
        if (!why && is_secret_file(name)) {
            secrets_check_file(TOOL, optarg);
        }
        tool_hide_secret(name, optarg);
        return why ? tool_misuse(TOOL, "--%s %s: must be %s", name, optarg, why)
                   : -1;
    }
}

static const struct {
    const char *name;
    enum saratoga_command command;
    int least; /* words */
    int most;
    const char *usage;
} commands[] = {
    {"serve", SARATOGA_CMD_SERVE, 0, 0, "serve [--root DIR]"},
    {"get", SARATOGA_CMD_GET, 1, 100000, "get URL... [FILE or DIR]"},
    {"put", SARATOGA_CMD_PUT, 2, 100000, "put FILE... URL"},
    {"take", SARATOGA_CMD_TAKE, 1, 100000, "take URL... [FILE or DIR]"},
    {"give", SARATOGA_CMD_GIVE, 2, 100000, "give FILE... URL"},
    {"ls", SARATOGA_CMD_LS, 1, 1, "ls URL"},
    {"rm", SARATOGA_CMD_RM, 1, 100000, "rm URL..."},
    {"peers", SARATOGA_CMD_PEERS, 0, 0, "peers"},
    {"mirror", SARATOGA_CMD_MIRROR, 2, 2, "mirror URL DIR"}};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int take_words(struct saratoga_args *a, int words, char **word) {
    if (words == 0) {
        return tool_misuse(TOOL, "a command is missing: serve, get, put, take, "
                                 "give, ls, rm, peers or mirror");
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, word[0]) != 0) {
            continue;
        }
        a->command = commands[i].command;
        a->name = commands[i].name;
        a->words = words - 1;
        a->word = word + 1;
        if (a->words < commands[i].least || a->words > commands[i].most) {
            return tool_misuse(TOOL, "usage: saratoga %s", commands[i].usage);
        }
        return -1;
    }
    return tool_misuse(TOOL, "there is no command '%s'", word[0]);
}

/* A mirror gives up a request early and starts again with the first, short
 * wait: later waits would exceed the rest of a pass. */
static uint32_t usual_tries(enum saratoga_command command) {
    saratoga_options defaults;
    saratoga_options_init(&defaults);
    return command == SARATOGA_CMD_MIRROR ? MIRROR_TRIES
                                          : defaults.request_tries;
}

#define WITH(command) (1U << SARATOGA_CMD_##command)

/* Options that other commands would ignore. */
static const struct {
    int opt;
    unsigned commands;
    const char *with;
} bound[] = {
    {OPT_ROOT, WITH(SERVE), "serve"},
    {OPT_NO_READ, WITH(SERVE), "serve"},
    {OPT_STREAMS, WITH(SERVE), "serve"},
    {OPT_WRITE, WITH(SERVE), "serve"},
    {OPT_DELETE, WITH(SERVE), "serve"},
    {OPT_BEACON, WITH(SERVE), "serve"},
    {OPT_BEACON_TO, WITH(SERVE), "serve"},
    {OPT_EID, WITH(SERVE), "serve"},
    {OPT_RATE_FILE, WITH(SERVE), "serve"},
    {OPT_MAX_SESSIONS, WITH(SERVE), "serve"},
    {OPT_MAX_PER_PEER, WITH(SERVE), "serve"},
    {OPT_MAX_PEERS, WITH(SERVE), "serve"},
    {OPT_QUOTA, WITH(SERVE), "serve"},
    {OPT_PORT_FILE, WITH(SERVE), "serve"},
    {OPT_INTERVAL, WITH(MIRROR), "mirror"},
    {OPT_MIN_AGE, WITH(MIRROR), "mirror"},
    {OPT_ONCE, WITH(MIRROR), "mirror"},
    {OPT_WAIT, WITH(PEERS), "peers"},
    {OPT_ONE_WAY, WITH(PUT), "put"},
    {OPT_UPDATE, WITH(GET) | WITH(SERVE), "get and serve"},
    {OPT_OVERWRITE, WITH(GET) | WITH(TAKE) | WITH(MIRROR) | WITH(SERVE),
     "get, take, mirror and serve; for a put the server decides"},
    {OPT_MULTICAST, WITH(PUT) | WITH(GET) | WITH(MIRROR) | WITH(SERVE),
     "put, get, mirror and serve"},
    {OPT_GROUP, WITH(GET) | WITH(MIRROR) | WITH(SERVE),
     "get, mirror and serve; for a put the host is the group"},
};

static const char *name_of(int opt) {
    const struct option *o = options;
    while (o->val != opt) {
        o++;
    }
    return o->name;
}

static int check_bound(const struct saratoga_args *a) {
    for (size_t i = 0; i < sizeof(bound) / sizeof(bound[0]); i++) {
        if ((a->given >> (bound[i].opt - OPT_RATE) & 1) != 0 &&
            (bound[i].commands >> a->command & 1) == 0) {
            return tool_misuse(TOOL, "--%s works only with %s",
                               name_of(bound[i].opt), bound[i].with);
        }
    }
    return -1;
}

/* Reports options that have no effect because the sender decides. */
static void tell_idle(const struct saratoga_args *a) {
    static const int senders[] = {OPT_RATE, OPT_CONGESTION};
    unsigned with = WITH(PUT) | WITH(GIVE) | WITH(SERVE);
    for (size_t i = 0; i < sizeof(senders) / sizeof(senders[0]); i++) {
        if (!a->quiet && (with >> a->command & 1) == 0 &&
            (a->given >> (senders[i] - OPT_RATE) & 1) != 0) {
            (void)fprintf(stderr,
                          "%s: --%s has no effect with %s: the sending end "
                          "decides; use serve --%s there\n",
                          TOOL, name_of(senders[i]), a->name,
                          name_of(senders[i]));
        }
    }
}

/* --multicast selects where the file goes: for a put that is its host; for a
 * get, server and client must name the same group. */
static void options_set_group(struct saratoga_args *a) {
    if (a->transfer.multicast && a->command != SARATOGA_CMD_PUT) {
        a->group = a->group ? a->group : SARATOGA_GROUP_IPV4;
        a->transfer.multicast = false; /* applies only to data for the group */
    }
}

static int read_rate(struct saratoga_args *a) {
    const char *wanted;
    if (!a->rate_file) {
        return -1;
    }
    wanted = saratoga_rate_in(a->rate_file, &a->transfer.rate_bps);
    return wanted ? tool_misuse(TOOL, "--rate-file %s: must be %s",
                                a->rate_file, wanted)
                  : -1;
}

/* Sets the defaults that depend on the command. The peer of a take deletes its
 * copy when it learns of the completion; it may ask for that as long as it
 * waits.
 */
static void set_defaults(struct saratoga_args *a) {
    saratoga_options *o = &a->transfer;
    if (o->request_tries == 0) { /* not set */
        o->request_tries = usual_tries(a->command);
    }
    if (a->command == SARATOGA_CMD_TAKE && o->linger < o->inactivity) {
        o->linger = o->inactivity;
    }
}

static int check(struct saratoga_args *a) {
    char why[SARATOGA_WHY_MAX] = "";
    int rc;
    if (a->command != SARATOGA_CMD_PEERS) {
        secrets_finish(&a->secrets);
    } else if (a->secrets.texts + a->secrets.keys > 0) {
        return tool_misuse(TOOL, "peers listens for beacons, which are not "
                                 "sealed; it takes no passphrase or key");
    }
    rc = check_bound(a);
    if (rc < 0) {
        rc = read_rate(a);
    }
    if (rc >= 0) {
        return rc;
    }
    set_defaults(a);
    rc = saratoga_options_check(&a->transfer, why);
    if (rc < 0) {
        return tool_misuse(TOOL, "%s", why[0] ? why : saratoga_strerror(rc));
    }
    if ((a->auth_files || a->transfer.checksum == SARATOGA_HMAC_SHA256) &&
        a->key_len == 0) {
        return tool_misuse(TOOL, "--auth-files and --checksum hmac-sha256 need "
                                 "--auth-key");
    }
    if (a->update && a->key_len > 0) {
        return tool_misuse(TOOL, "--update cannot be used with --auth-key");
    }
    a->transfer.update_check = a->update && a->command == SARATOGA_CMD_GET;
    options_set_group(a);
    tell_idle(a);
    return -1;
}

int saratoga_args_parse(int argc, char **argv, struct saratoga_args *a) {
    int opt;
    int rc = -1;
    int index = 0;
    memset(a, 0, sizeof(*a));
    saratoga_options_init(&a->transfer);
    a->root = ".";
    a->transfer.request_tries = 0;
    a->interval = 30 * SARATOGA_S;
    a->parallel = 4;
    while (rc < 0 &&
           (opt = getopt_long(argc, argv, ":rqhV", options, &index)) != -1) {
        rc = take_option(a, opt, options[index].name, argv);
    }
    if (rc < 0) {
        rc = take_words(a, argc - optind, argv + optind);
    }
    return rc >= 0 ? rc : check(a);
}

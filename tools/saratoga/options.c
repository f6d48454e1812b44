/* SPDX-License-Identifier: MPL-2.0 */
/* The command line of saratoga. */
#include "tools/saratoga/options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "internal/settings/units.h"
#include "tools/common/command_line.h"
#include "tools/common/secrets_watch.h"
#include "tools/common/tool.h"
#include "tools/saratoga/help.h"
#include "tools/saratoga/settings.h"
#include "tools/saratoga/values.h"

#define TOOL "saratoga"
#define MIRROR_TRIES 3

/* --- Values --------------------------------------------------------------- */

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

static const char *take_checksum(struct saratoga_args *a, const char *text) {
    return values_checksum(text, &a->transfer.checksum);
}

/* For sending, and the widest accepted. */
static const char *take_descriptor(struct saratoga_args *a, const char *text) {
    const char *why = values_descriptor(text, &a->transfer.descriptor);
    if (!why) {
        a->transfer.max_descriptor = a->transfer.descriptor;
    }
    return why;
}

static const char *take_timestamps(struct saratoga_args *a, const char *text) {
    return values_timestamps(text, &a->transfer.timestamps);
}

static const char *take_profile(struct saratoga_args *a, const char *text) {
    return values_profile(text, &a->transfer);
}

static const char *take_mtu(struct saratoga_args *a, const char *text) {
    return values_mtu(text, &a->mtu);
}

static const char *take_parallel(struct saratoga_args *a, const char *text) {
    return values_parallel(text, &a->parallel);
}

static const char *take_setting(struct saratoga_args *a, const char *text) {
    return saratoga_set(&a->transfer, text);
}

/* --- Options -------------------------------------------------------------- */

#define WITH(command) (1U << SARATOGA_CMD_##command)

/* Commands that an option works with; others would ignore it. */
struct scope {
    unsigned commands;
    const char *names;
};

static const struct scope serve_only = {WITH(SERVE), "serve"};
static const struct scope mirror_only = {WITH(MIRROR), "mirror"};
static const struct scope peers_only = {WITH(PEERS), "peers"};
static const struct scope put_only = {WITH(PUT), "put"};
static const struct scope updaters = {WITH(GET) | WITH(SERVE), "get and serve"};
static const struct scope writers = {
    WITH(GET) | WITH(TAKE) | WITH(MIRROR) | WITH(SERVE),
    "get, take, mirror and serve; for a put the server decides"};
static const struct scope senders_to_groups = {WITH(PUT) | WITH(GET) |
                                                   WITH(MIRROR) | WITH(SERVE),
                                               "put, get, mirror and serve"};
static const struct scope group_choosers = {
    WITH(GET) | WITH(MIRROR) | WITH(SERVE),
    "get, mirror and serve; for a put the host is the group"};

/* An option. Secrets have neither a place nor a function. */
struct row {
    const char *name;
    int has_arg;
    const struct scope *scope; /* NULL: every command */
    size_t place;              /* of its value in struct saratoga_args */
    const char *(*number)(const char *text, uint64_t *value);
    const char *(*take)(struct saratoga_args *a, const char *text);
};

#define AT(member) offsetof(struct saratoga_args, member)
#define ARG(member) (((struct saratoga_args *)0)->member)
/* These do not compile if the member has another type. */
#define FLAG(member) _Generic(ARG(member), bool : AT(member))
#define NUMBER(member) _Generic(ARG(member), uint64_t : AT(member))
#define TEXT(member) _Generic(ARG(member), const char * : AT(member))

static const struct row rows[] = {
    {"rate", required_argument, .place = NUMBER(transfer.rate_bps),
     .number = saratoga_rate},
    {"congestion", required_argument, .place = TEXT(transfer.congestion)},
    {"checksum", required_argument, .take = take_checksum},
    {"descriptor", required_argument, .take = take_descriptor},
    {"timestamps", optional_argument, .take = take_timestamps},
    {"profile", required_argument, .take = take_profile},
    {"resume", no_argument, .place = FLAG(resume)},
    {"overwrite", no_argument, .scope = &writers, .place = FLAG(overwrite)},
    {"recursive", no_argument, .place = FLAG(recursive)},
    {"json", required_argument, .place = TEXT(json)},
    {"bind", required_argument, .place = TEXT(bind)},
    {"port-file", required_argument, .scope = &serve_only,
     .place = TEXT(port_file)},
    {"rate-file", required_argument, .scope = &serve_only,
     .place = TEXT(rate_file)},
    {"mtu", required_argument, .take = take_mtu},
    {"uplink", required_argument, .place = NUMBER(uplink_bps),
     .number = saratoga_rate},
    {"rtt", required_argument, .place = NUMBER(transfer.rtt_hint),
     .number = units_time},
    {"inactivity", required_argument, .place = NUMBER(transfer.inactivity),
     .number = saratoga_some_seconds},
    {"retry", required_argument, .place = NUMBER(transfer.request_retry),
     .number = saratoga_some_seconds},
    {"parallel", required_argument, .take = take_parallel},
    {"set", required_argument, .take = take_setting},
    {"one-way", no_argument, .scope = &put_only,
     .place = FLAG(transfer.no_status)},
    {"multicast", no_argument, .scope = &senders_to_groups,
     .place = FLAG(transfer.multicast)},
    {"udp-lite", no_argument, .place = FLAG(transfer.lite)},
    {"update", no_argument, .scope = &updaters, .place = FLAG(update)},
    {"unreliable", no_argument, .place = FLAG(transfer.unreliable)},
    {"streams", no_argument, .scope = &serve_only, .place = FLAG(streams)},
    {"group", required_argument, .scope = &group_choosers,
     .place = TEXT(group)},
    {"auth-key", required_argument, .take = read_key},
    {"auth-files", no_argument, .place = FLAG(auth_files)},
    {"passphrase", required_argument, .scope = NULL},
    {"passphrase-file", required_argument, .scope = NULL},
    {"key-file", required_argument, .scope = NULL},
    {"root", required_argument, .scope = &serve_only, .place = TEXT(root)},
    {"no-read", no_argument, .scope = &serve_only, .place = FLAG(no_read)},
    {"write", no_argument, .scope = &serve_only, .place = FLAG(write)},
    {"delete", no_argument, .scope = &serve_only, .place = FLAG(remove)},
    {"beacon", required_argument, .scope = &serve_only, .place = NUMBER(beacon),
     .number = saratoga_seconds},
    {"beacon-to", required_argument, .scope = &serve_only,
     .place = TEXT(beacon_to)},
    {"eid", required_argument, .scope = &serve_only, .place = TEXT(eid)},
    {"max-sessions", required_argument, .scope = &serve_only,
     .place = NUMBER(max_sessions), .number = values_limit},
    {"max-per-peer", required_argument, .scope = &serve_only,
     .place = NUMBER(max_per_peer), .number = values_limit},
    {"max-peers", required_argument, .scope = &serve_only,
     .place = NUMBER(max_peers), .number = values_limit},
    {"quota", required_argument, .scope = &serve_only, .place = NUMBER(quota),
     .number = units_size},
    {"interval", required_argument, .scope = &mirror_only,
     .place = NUMBER(interval), .number = saratoga_seconds},
    {"min-age", required_argument, .scope = &mirror_only,
     .place = NUMBER(min_age), .number = saratoga_seconds},
    {"wait", required_argument, .scope = &peers_only, .place = NUMBER(wait),
     .number = saratoga_seconds},
    {"once", no_argument, .scope = &mirror_only, .place = FLAG(once)}};

#define ROWS (sizeof(rows) / sizeof(rows[0]))
_Static_assert(ROWS <= 64, "saratoga_args::given has 64 bits");

static const struct row *row_of(const char *name) {
    const struct row *row = rows;
    while (strcmp(row->name, name) != 0) {
        row++;
    }
    return row;
}

static bool is_given(const struct saratoga_args *a, const struct row *row) {
    return (a->given >> (row - rows) & 1) != 0;
}

static const char *take_value(struct saratoga_args *a, const struct row *row,
                              const char *text) {
    void *place = (char *)a + row->place;
    if (row->take) {
        return row->take(a, text);
    }
    if (row->number) {
        return row->number(text, place);
    }
    if (row->has_arg == no_argument) {
        *(bool *)place = true;
    } else {
        *(const char **)place = text;
    }
    return NULL;
}

static bool is_secret_file(const char *name) {
    return strcmp(name, "passphrase-file") == 0 ||
           strcmp(name, "key-file") == 0 || strcmp(name, "auth-key") == 0;
}

static const char *take(void *user, const char *name, const char *text) {
    struct saratoga_args *a = user;
    const struct row *row;
    const char *why;
    if (strcmp(name, "quiet") == 0) {
        a->quiet = true;
        return NULL;
    }
    row = row_of(name);
    a->given |= UINT64_C(1) << (row - rows);
    if (!secrets_option(&a->secrets, name, text, &why)) {
        why = take_value(a, row, text);
    }
    if (!why && is_secret_file(name)) {
        secrets_check_file(TOOL, text);
    }
    return why;
}

/* --- Commands ------------------------------------------------------------- */

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

static int check_scope(const struct saratoga_args *a) {
    for (size_t i = 0; i < ROWS; i++) {
        const struct scope *scope = rows[i].scope;
        if (scope && is_given(a, &rows[i]) &&
            (scope->commands >> a->command & 1) == 0) {
            return tool_misuse(TOOL, "--%s works only with %s", rows[i].name,
                               scope->names);
        }
    }
    return -1;
}

/* Reports options that have no effect because the sender decides. */
static void tell_idle(const struct saratoga_args *a) {
    static const char *const senders[] = {"rate", "congestion"};
    unsigned with = WITH(PUT) | WITH(GIVE) | WITH(SERVE);
    for (size_t i = 0; i < sizeof(senders) / sizeof(senders[0]); i++) {
        if (!a->quiet && (with >> a->command & 1) == 0 &&
            is_given(a, row_of(senders[i]))) {
            (void)fprintf(stderr,
                          "%s: --%s has no effect with %s: the sending end "
                          "decides; use serve --%s there\n",
                          TOOL, senders[i], a->name, senders[i]);
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
    rc = check_scope(a);
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
    static struct option options[ROWS + 1];
    const struct tool_line line = {TOOL, saratoga_help, options, take,
                                   saratoga_details};
    int rc;
    for (size_t i = 0; i < ROWS; i++) {
        options[i] = (struct option){rows[i].name, rows[i].has_arg, NULL,
                                     rows[i].place == AT(recursive) ? 'r' : 0};
    }
    memset(a, 0, sizeof(*a));
    saratoga_options_init(&a->transfer);
    a->root = ".";
    a->transfer.request_tries = 0;
    a->interval = 30 * SARATOGA_S;
    a->parallel = 4;
    rc = tool_options(&line, a, argc, argv);
    if (rc < 0) {
        rc = take_words(a, argc - optind, argv + optind);
    }
    return rc >= 0 ? rc : check(a);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* linkem's command line. */
#include "tools/linkem/options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal/settings/units.h"
#include "sim/link_settings.h"
#include "tools/common/brief.h"
#include "tools/common/command_line.h"
#include "tools/common/tool.h"

#define TOOL "linkem"
#define OVERHEAD_IPV4 28
#define OVERHEAD_IPV6 48
#define BOTH ((1U << LINKEM_UP) | (1U << LINKEM_DOWN))

static const char help[] =
    "Usage: linkem [OPTION...] LISTEN_HOST:PORT TARGET_HOST:PORT\n"
    "  or:  linkem [OPTION...] --share LISTEN=TARGET --share LISTEN=TARGET...\n"
    "  or:  linkem [OPTION...] --tun NETNS1,NETNS2\n"
    "\n"
    "Relays UDP through an emulated link of limited rate, with delay and "
    "faults.\n"
    "Every client that sends to LISTEN gets its own socket towards TARGET. "
    "Port 0\n"
    "selects a free port, which is printed.\n"
    "\n"
    "Options:\n"
    "  --both SETTINGS        properties of the link, both directions\n"
    "  --up SETTINGS          from clients to target only\n"
    "  --down SETTINGS        from target to clients only\n"
    "  --NAME VALUE           a single setting, both directions: --rate 2mbit\n"
    "  --at TIME[,DIR:]SETTINGS\n"
    "                         changes after TIME: --at 10s,rate=1mbit or\n"
    "                         --at 10s,up:loss=5%,delay=80ms\n"
    "  --repeat TIME          restarts the changes after TIME\n"
    "  --share LISTEN=TARGET  adds a pair that uses the same link\n"
    "  --tun NS1,NS2          carries IP between two network namespaces "
    "instead\n"
    "                         (created if missing), so that TCP and other "
    "protocols\n"
    "                         can pass; up is from NS1 to NS2; needs root\n"
    "  --tun-addresses A1,A2  their IPv4 addresses (10.77.0.1,10.77.0.2)\n"
    "  --seed N               seed of all random choices (1)\n"
    "  --max-clients N        limit on simultaneous clients, 1 to 4096 (256)\n"
    "  --duration TIME        ends after TIME\n"
    "  --json FILE            writes statistics at the end; -: standard "
    "output\n"
    "  --log FILE             writes a line of counters as CSV at intervals\n"
    "  --log-interval TIME    time between its lines (100ms)\n"
    "  --port-file FILE       writes the addresses listened on, one per line\n"
    "  -q, --quiet            prints only errors\n"
    "  -h, --help             this text\n"
    "  -V, --version          the version\n"
    "\n";

static const char help_end[] =
    "\n"
    "Exit status: 0 on success, 1 on failure, 2 on wrong usage.\n"
    "\n"
    "Examples:\n"
    "  $ linkem --rate 2mbit --delay 20ms --loss 1% 127.0.0.1:6000 "
    "127.0.0.1:5000\n"
    "  $ linkem --up trace=link.up --down trace=link.down:30s --queue 250kB "
    "\\\n"
    "      --delay 20ms 127.0.0.1:6000 127.0.0.1:5000\n"
    "  $ linkem --up rate=4mbit,codel=on,ecn=on --down rate=64kbit,loss=30% "
    "\\\n"
    "      --delay 20ms 127.0.0.1:6000 127.0.0.1:5000\n";

static const char *const texts[] = {help, settings_help, help_end, NULL};

static const char *const details[] = {"--repeat",    "--share",
                                      "--tun",       "--tun-addresses",
                                      "--seed",      "--max-clients",
                                      "--duration",  "--log",
                                      "--json",      "--log-interval",
                                      "--port-file", "--at",
                                      "queue-rule",  "lower-effort",
                                      "red",         "red-gentle",
                                      "ecn",         "mark",
                                      "ecn-path",    "ber",
                                      "corrupt",     "duplicate",
                                      "mtu",         "carrier",
                                      "codel",       "pie",
                                      "fq",          "police",
                                      "trace",       "burst",
                                      "Exit status", NULL};

enum {
    OPT_BOTH = 256,
    OPT_UP,
    OPT_DOWN,
    OPT_AT,
    OPT_REPEAT,
    OPT_SHARE,
    OPT_TUN,
    OPT_TUN_ADDRESSES,
    OPT_SEED,
    OPT_CLIENTS,
    OPT_DURATION,
    OPT_JSON,
    OPT_LOG,
    OPT_LOG_INTERVAL,
    OPT_PORT_FILE,
    OPT_PORT,
    OPT_SETTING
};

/* Unique values: getopt_long() takes the first option that an abbreviation fits
 * if their values are equal. */
#define SETTING(name) \
    { name, required_argument, NULL, OPT_SETTING + __LINE__ }

static const struct option options[] = {
    {"both", required_argument, NULL, OPT_BOTH},
    {"up", required_argument, NULL, OPT_UP},
    {"down", required_argument, NULL, OPT_DOWN},
    {"at", required_argument, NULL, OPT_AT},
    {"repeat", required_argument, NULL, OPT_REPEAT},
    {"share", required_argument, NULL, OPT_SHARE},
    {"tun", required_argument, NULL, OPT_TUN},
    {"tun-addresses", required_argument, NULL, OPT_TUN_ADDRESSES},
    {"seed", required_argument, NULL, OPT_SEED},
    {"max-clients", required_argument, NULL, OPT_CLIENTS},
    {"duration", required_argument, NULL, OPT_DURATION},
    {"json", required_argument, NULL, OPT_JSON},
    {"log", required_argument, NULL, OPT_LOG},
    {"log-interval", required_argument, NULL, OPT_LOG_INTERVAL},
    {"port-file", required_argument, NULL, OPT_PORT_FILE},
    {TOOL_PORT, required_argument, NULL, OPT_PORT},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"help-all", no_argument, NULL, 'H'},
    {"version", no_argument, NULL, 'V'},
    SETTING("rate"),
    SETTING("trace"),
    SETTING("delay"),
    SETTING("jitter"),
    SETTING("slots"),
    SETTING("queue"),
    SETTING("queue-rule"),
    SETTING("lower-effort"),
    SETTING("red"),
    SETTING("red-gentle"),
    SETTING("codel"),
    SETTING("pie"),
    SETTING("fq"),
    SETTING("police"),
    SETTING("ecn"),
    SETTING("mark"),
    SETTING("ecn-path"),
    SETTING("loss"),
    SETTING("burst"),
    SETTING("ber"),
    SETTING("reorder"),
    SETTING("duplicate"),
    SETTING("corrupt"),
    SETTING("mtu"),
    SETTING("blackout"),
    SETTING("carrier"),
    {NULL, 0, NULL, 0}};

static int options_apply(struct linkem_options *o, unsigned directions,
                         const char *settings) {
    char why[SETTINGS_WHY_MAX];
    for (unsigned d = 0; d < LINKEM_DIRECTIONS; d++) {
        if ((directions >> d & 1U) &&
            !settings_apply(settings, &o->link[d], why)) {
            return tool_misuse(TOOL, "%s", why);
        }
    }
    return -1;
}

static int apply_named(struct linkem_options *o, const char *name,
                       const char *value) {
    char text[SETTINGS_WHY_MAX * 8];
    int n = snprintf(text, sizeof(text), "%s=%s", name, value);
    if (n < 0 || (size_t)n >= sizeof(text)) {
        return tool_misuse(TOOL, "--%s: the value is too long", name);
    }
    return options_apply(o, BOTH, text);
}

/* The newest change goes after all that are not later. */
static void sort_in(struct linkem_options *o) {
    struct linkem_change c = o->change[o->changes];
    size_t i = o->changes++;
    for (; i > 0 && o->change[i - 1].at > c.at; i--) {
        o->change[i] = o->change[i - 1];
    }
    o->change[i] = c;
}

/* TIME[,DIR:]SETTINGS. The settings are tried out, so that mistakes show at the
 * start. */
static int add_change(struct linkem_options *o, char *text) {
    struct linkem_change *c = &o->change[o->changes];
    struct sim_link_config scratch = o->link[LINKEM_UP];
    char why[SETTINGS_WHY_MAX];
    char *rest = strpbrk(text, ", ");
    if (o->changes == LINKEM_CHANGES_MAX) {
        return tool_misuse(TOOL, "more than %d changes", LINKEM_CHANGES_MAX);
    }
    if (!rest) {
        return tool_misuse(TOOL, "--at %s: write TIME,SETTINGS", text);
    }
    *rest++ = '\0';
    if (units_time(text, &c->at)) {
        return tool_misuse(TOOL, "--at %s: must be %s", text,
                           units_time(text, &c->at));
    }
    c->directions = BOTH;
    if (strncmp(rest, "up:", 3) == 0) {
        c->directions = 1U << LINKEM_UP;
        rest += 3;
    } else if (strncmp(rest, "down:", 5) == 0) {
        c->directions = 1U << LINKEM_DOWN;
        rest += 5;
    }
    if (!settings_apply(rest, &scratch, why)) {
        return tool_misuse(TOOL, "--at: %s", why);
    }
    c->settings = rest;
    sort_in(o);
    return -1;
}

/* Allows "--at 10s rate=1mbit" as two words as well. */
static int add_change_words(struct linkem_options *o, char **argv) {
    char *first = optarg;
    char *both;
    int rc;
    size_t size;
    if (strpbrk(first, ", ") || !argv[optind] || !strchr(argv[optind], '=')) {
        return add_change(o, first);
    }
    size = strlen(first) + strlen(argv[optind]) + 2;
    both = malloc(size); /* lives as long as the program */
    if (!both) {
        return tool_fail(TOOL, "out of memory");
    }
    (void)snprintf(both, size, "%s,%s", first, argv[optind++]);
    rc = add_change(o, both);
    if (rc >= 0) {
        free(both);
    }
    /* The change points into it; NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    return rc;
}

static int add_address(const char *text, bool passive, struct address *a) {
    struct hostport hp;
    const char *why = address_split(text, &hp);
    if (!why && !passive && strcmp(hp.port, "0") == 0) {
        why = "the port of a target cannot be 0";
    }
    if (why) {
        return tool_misuse(TOOL, "%s: %s", text, why);
    }
    why = address_resolve(&hp, passive, a);
    return why ? tool_fail(TOOL, "%s: %s", text, why) : -1;
}

static int add_pair(struct linkem_options *o, const char *listen,
                    const char *target) {
    struct linkem_pair *p = &o->pair[o->pairs];
    int rc;
    if (o->pairs == LINKEM_PAIRS_MAX) {
        return tool_misuse(TOOL, "more than %d pairs", LINKEM_PAIRS_MAX);
    }
    rc = add_address(listen, true, &p->listen);
    if (rc < 0) {
        rc = add_address(target, false, &p->target);
    }
    o->pairs += rc < 0;
    return rc;
}

static int add_share(struct linkem_options *o, char *text) {
    char *equals = strchr(text, '=');
    if (!equals) {
        return tool_misuse(TOOL, "--share %s: write LISTEN=TARGET", text);
    }
    *equals = '\0';
    return add_pair(o, text, equals + 1);
}

static int set_two(const char *name, char *text, const char **two) {
    char *comma = strchr(text, ',');
    if (!comma || comma == text || comma[1] == '\0') {
        return tool_misuse(TOOL, "--%s %s: write two, separated by a comma",
                           name, text);
    }
    *comma = '\0';
    two[0] = text;
    two[1] = comma + 1;
    return -1;
}

static int set_time(const char *name, uint64_t *ns) {
    const char *why = units_time(optarg, ns);
    return why ? tool_misuse(TOOL, "--%s %s: must be %s", name, optarg, why)
               : -1;
}

static int set_count(const char *name, uint64_t min, uint64_t max,
                     uint64_t *n) {
    return units_count(optarg, min, max, n)
               ? tool_misuse(TOOL,
                             "--%s %s: must be a whole number from %" PRIu64
                             " to %" PRIu64,
                             name, optarg, min, max)
               : -1;
}

static int take_link_option(struct linkem_options *o, int opt, const char *name,
                            char **argv) {
    switch (opt) {
    case OPT_BOTH:
        return options_apply(o, BOTH, optarg);
    case OPT_UP:
        return options_apply(o, 1U << LINKEM_UP, optarg);
    case OPT_DOWN:
        return options_apply(o, 1U << LINKEM_DOWN, optarg);
    case OPT_AT:
        return add_change_words(o, argv);
    case OPT_REPEAT:
        return set_time(name, &o->repeat);
    case OPT_SHARE:
        return add_share(o, optarg);
    case OPT_TUN:
        return set_two(name, optarg, o->netns);
    case OPT_TUN_ADDRESSES:
        return set_two(name, optarg, o->tun_addr);
    default:
        return apply_named(o, name, optarg);
    }
}

static int take_option(struct linkem_options *o, int opt, const char *name,
                       char **argv) {
    switch (opt) {
    case OPT_SEED:
        return set_count(name, 0, UINT64_MAX, &o->seed);
    case OPT_CLIENTS:
        return set_count(name, 1, 4096, &o->clients_max);
    case OPT_DURATION:
        return set_time(name, &o->duration);
    case OPT_LOG_INTERVAL:
        return set_time(name, &o->log_interval);
    case OPT_JSON:
        o->json = optarg;
        return -1;
    case OPT_LOG:
        o->log = optarg;
        return -1;
    case OPT_PORT_FILE:
        o->port_file = optarg;
        return -1;
    case OPT_PORT:
        return tool_port_option(TOOL);
    case 'q':
        o->quiet = true;
        return -1;
    case 'V':
        return tool_version(TOOL);
    case 'h':
        tool_print_brief(TOOL, texts, details);
        return TOOL_OK;
    case 'H':
        tool_print_whole(texts);
        return TOOL_OK;
    case '?':
    case ':':
        return tool_bad_option(TOOL, opt, options, argv);
    default:
        return take_link_option(o, opt, name, argv);
    }
}

static bool can_mark(const struct sim_link_config *c) {
    return c->aqm_ecn && (c->red_on || c->codel_on || c->pie_on);
}

/* Applies the nth change, if it is of that direction. Those that restart come
 * after the last. */
static void change_link(const struct linkem_options *o, size_t n, unsigned d,
                        struct sim_link_config *c) {
    const struct linkem_change *next = &o->change[n % o->changes];
    char why[SETTINGS_WHY_MAX];
    if (next->directions >> d & 1U) {
        (void)settings_apply(next->settings, c, why);
    }
}

/* Whether ECN is on at some time, but never where an AQM could mark. */
static bool ecn_is_idle(const struct linkem_options *o) {
    size_t changes = o->repeat ? 2 * o->changes : o->changes;
    bool on = false;
    for (unsigned d = 0; d < LINKEM_DIRECTIONS; d++) {
        struct sim_link_config c = o->link[d];
        bool marks = can_mark(&c);
        on = on || c.aqm_ecn;
        for (size_t i = 0; i < changes && !marks; i++) {
            change_link(o, i, d, &c);
            on = on || c.aqm_ecn;
            marks = can_mark(&c);
        }
        if (marks) {
            return false;
        }
    }
    return on;
}

static int check_effect(const struct linkem_options *o) {
    if (o->repeat && !o->changes) {
        return tool_misuse(TOOL, "--repeat restarts changes: add --at");
    }
    if (o->repeat && o->change[o->changes - 1].at > o->repeat) {
        return tool_misuse(TOOL, "--repeat is shorter than the last --at");
    }
    if (ecn_is_idle(o)) {
        return tool_misuse(TOOL, "ecn=on needs red, codel or pie; mark=N marks "
                                 "without it");
    }
    return -1;
}

static int check(struct linkem_options *o, int argc, char **argv) {
    int words = argc - optind;
    int rc;
    if (o->netns[0] && (words || o->pairs)) {
        return tool_misuse(TOOL, "--tun takes no LISTEN and TARGET");
    }
    if (words != 0 && words != 2) {
        return tool_misuse(TOOL, "both LISTEN and TARGET are needed");
    }
    if (words == 2) {
        rc = add_pair(o, argv[optind], argv[optind + 1]);
        if (rc >= 0) {
            return rc;
        }
    }
    if (!o->pairs && !o->netns[0]) {
        return tool_misuse(TOOL, "LISTEN and TARGET are missing");
    }
    if (o->log_interval == 0) {
        return tool_misuse(TOOL, "--log-interval must be above 0");
    }
    return check_effect(o);
}

/* The size of the headers that the relay does not see. */
static void set_overhead(const struct linkem_options *o,
                         struct sim_link_config *c) {
    uint32_t overhead = OVERHEAD_IPV4;
    if (o->netns[0]) {
        overhead = 0;
    } else if (o->pair[0].target.sa.ss_family == AF_INET6) {
        overhead = OVERHEAD_IPV6;
    }
    if (c->mtu) {
        uint32_t whole = c->mtu + c->overhead;
        c->mtu = whole > overhead ? whole - overhead : 1;
    }
    c->overhead = overhead;
}

int linkem_options_parse(int argc, char **argv, struct linkem_options *o) {
    static const char *const addresses[] = {"10.77.0.1", "10.77.0.2"};
    int opt;
    int rc = -1;
    int index = 0;
    *o = (struct linkem_options){
        .seed = 1, .clients_max = 256, .log_interval = 100000000};
    memcpy(o->tun_addr, addresses, sizeof(addresses));
    for (int d = 0; d < LINKEM_DIRECTIONS; d++) {
        sim_link_config_init(&o->link[d]);
        o->link[d].rule = SIM_QUEUE_WAITING;
        o->link[d].overhead = OVERHEAD_IPV4;
    }
    while (rc < 0 &&
           (opt = getopt_long(argc, argv, ":qhV", options, &index)) != -1) {
        rc = take_option(o, opt, options[index].name, argv);
    }
    if (rc >= 0) {
        return rc;
    }
    rc = check(o, argc, argv);
    for (int d = 0; rc < 0 && d < LINKEM_DIRECTIONS; d++) {
        settings_default_queue(&o->link[d]);
        set_overhead(o, &o->link[d]);
    }
    return rc;
}

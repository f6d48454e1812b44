/* SPDX-License-Identifier: MPL-2.0 */
/* tltcp-live-transmit's command line: two endpoints and options. */
#include "tools/live-transmit/options.h"

#include <stdio.h>
#include <string.h>

#include "internal/settings/units.h"
#include "tools/common/command_line.h"
#include "tools/common/metrics.h"
#include "tools/common/tool.h"

#define TOOL "tltcp-live-transmit"
#define INPUT_BUFFER 4000000 /* bytes: 0.3 s of 100 Mbit/s */
#define CALLERS 64
#define KEYS "mode, callers, max-callers, threads, " PEER_KEYS ", caller-keys"
#define IDLE_MS 5000 /* as of tltcpsink; meanwhile a second call is refused */

static const char endpoints_help[] =
    "Usage: tltcp-live-transmit [OPTION...] INPUT OUTPUT\n"
    "\n"
    "Carries a live stream from INPUT to OUTPUT, at least one of which is a\n"
    "TLTCP connection. An MPEG transport stream is sent picture by picture:\n"
    "pictures that cannot arrive in time are not sent, and pictures that "
    "others\n"
    "need come first. Other data is sent unchanged, as it arrives.\n"
    "\n"
    "  tltcp://HOST:PORT[?KEY=VALUE&...]\n"
    "                         calls HOST; without HOST: listens\n"
    "  udp://HOST:PORT[?KEY=VALUE&...]\n"
    "                         as INPUT receives on PORT, from the group HOST "
    "if it\n"
    "                         is multicast; as OUTPUT sends\n"
    "  file://PATH, PATH      a file; as INPUT it is read at its own speed\n"
    "  file://con, -          standard input or output\n"
    "\n"
    "Keys of tltcp, times in ms, defaults in brackets:\n"
    "  mode                   caller or listener (without HOST: listener)\n"
    "  latency                how long a picture stays useful (200)\n"
    "  passphrase, passphrase-file, key-file\n"
    "                         secret that both ends know\n"
    "  identity-file          own static key\n"
    "  listener-key           with it, for a caller: the listener's public "
    "key\n"
    "  caller-keys            with it, for a listener: file of public keys to "
    "accept\n"
    "  streamid               name of the stream to request, or the only one "
    "served\n"
    "  localaddress, localport\n"
    "                         address to call from or to listen on (any)\n"
    "  congestion-control     name of a controller, such as cubic, bbr (auto)\n"
    "  max-rate               limit on the wire, such as 4mbit (none)\n"
    "  initial-window         initial window in packets (the controller's)\n"
    "  fec                    repair packets: auto, on, off (auto)\n"
    "  drop-policy            dependents, section, until-keyframe "
    "(dependents)\n"
    "  reference-grace        how much longer pictures that others need are "
    "sent\n"
    "                         (1000)\n"
    "  deadline-mode          pts, gop (pts)\n"
    "  connect-timeout        gives up connecting after this time (5000)\n"
    "  idle-timeout           a peer silent for this long counts as gone; the "
    "lower\n"
    "                         of both ends applies (5000)\n"
    "  dscp                   of outgoing packets, 0 to 63 (0)\n"
    "  transport              udp; tcp; auto: a caller tries TCP if UDP gets "
    "no\n"
    "                         answer, a listener serves both (udp)\n"
    "Keys of tltcp for listeners only:\n"
    "  callers                file with a stream id and its passphrase, or "
    "key: and\n"
    "                         its static public key, on each line. On SIGHUP "
    "it is\n"
    "                         read again, and callers that are no longer in it "
    "are\n"
    "                         disconnected\n"
    "  max-callers            callers that an OUTPUT serves at once (64); an "
    "INPUT\n"
    "                         takes one at a time\n"
    "  threads                threads that serve them, 1 to 64 (1)\n"
    "Keys of udp: adapter, ttl, tos, buffer (as INPUT 4MB, of the socket).\n"
    "\n";

static const char options_help[] =
    "Other users of this machine can see a passphrase in a URL, but not one in "
    "a\n"
    "file or in $PERIGEE_PASSPHRASE. Of several passphrases and keys, the "
    "first is\n"
    "used for calls; a listener accepts any.\n"
    "\n"
    "Options:\n"
    "  -t, --timeout S        ends after S seconds (0: never)\n"
    "      --timeout-mode N   0: in any case (default); 1: only if there was "
    "no\n"
    "                         connection by then\n"
    "  -a, --auto-reconnect yes|no\n"
    "                         after a connection, makes or awaits the next "
    "(yes)\n"
    "      --delivery HOW     release of received data: timed, at constant "
    "latency\n"
    "                         (default); immediate\n"
    "  -c, --chunk BYTES      size of datagrams to udp (1316)\n"
    "  -s, --stats TIME       prints statistics at intervals, such as 1s\n"
    "      --pf FORMAT        format of statistics: text, json or csv\n"
    "      --statsout FILE    writes statistics to FILE, not to standard "
    "error\n"
    "      --json FILE        writes totals at the end; -: standard output\n"
    "      --frames FILE      writes the fate of every frame as CSV\n"
    "      --qlog DIR         writes a trace of each connection\n"
    "      --metrics ADDRESS  serves statistics for Prometheus at\n"
    "                         http://HOST:PORT/metrics of ADDRESS HOST:PORT\n"
    "      --port-file FILE   writes the addresses listened on\n"
    "  -q, --quiet            prints only errors\n"
    "  -h, --help             this text\n"
    "  -V, --version          the version\n"
    "\n"
    "Before it receives anything, it drops the rights to open files except "
    "those\n"
    "named here (Landlock) and to start programs (seccomp), where the system\n"
    "supports this. It prints which rights remain.\n"
    "\n"
    "Exit status: 0 on success, 1 on failure, 2 on wrong usage.\n"
    "\n"
    "Examples:\n"
    "  $ tltcp-live-transmit udp://:1234 'tltcp://192.0.2.7:5000?latency=200'\n"
    "  $ tltcp-live-transmit tltcp://:5000 udp://127.0.0.1:1234\n"
    "  $ encoder | tltcp-live-transmit -a no - tltcp://192.0.2.7:5000\n";

static const char *const help[] = {endpoints_help, options_help, NULL};

static const struct option options[] = {
    {"timeout", required_argument, NULL, 't'},
    {"timeout-mode", required_argument, NULL, 0},
    {"auto-reconnect", required_argument, NULL, 'a'},
    {"delivery", required_argument, NULL, 0},
    {"chunk", required_argument, NULL, 'c'},
    {"stats", required_argument, NULL, 's'},
    {"pf", required_argument, NULL, 0},
    {"statsout", required_argument, NULL, 0},
    {"json", required_argument, NULL, 0},
    {"frames", required_argument, NULL, 0},
    {"qlog", required_argument, NULL, 0},
    {"metrics", required_argument, NULL, 0},
    {"port-file", required_argument, NULL, 0},
    {NULL, 0, NULL, 0}};

/* --- Options -------------------------------------------------------------- */

/* Sets one of two values by its name. */
static const char *choose(bool *value, const char *text, const char *no,
                          const char *yes, const char *both) {
    *value = strcmp(text, yes) == 0;
    return *value || strcmp(text, no) == 0 ? NULL : both;
}

static const char *set_seconds(struct transmit_options *o, const char *text) {
    double seconds;
    const char *why = units_number(text, &seconds);
    if (why) {
        return units_time(text, &o->timeout) ? "seconds, at least 0" : NULL;
    }
    if (!(seconds < 1e9)) {
        return "seconds, at most 1e9";
    }
    o->timeout = (uint64_t)(seconds * 1e9);
    return NULL;
}

static const char *set_format(struct transmit_options *o, const char *text) {
    static const char *const names[] = {"text", "json", "csv"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], text) == 0) {
            o->stats_format = i;
            return NULL;
        }
    }
    return "text, json or csv";
}

static const char *set_interval(struct transmit_options *o, const char *text) {
    const char *why = units_time(text, &o->stats_interval);
    return why || o->stats_interval ? why : "above 0";
}

static const char *take_choice(struct transmit_options *o, const char *name,
                               const char *text) {
    if (strcmp(name, "timeout") == 0) {
        return set_seconds(o, text);
    }
    if (strcmp(name, "timeout-mode") == 0) {
        return choose(&o->timeout_connecting, text, "0", "1", "0 or 1");
    }
    if (strcmp(name, "auto-reconnect") == 0) {
        return choose(&o->reconnect, text, "no", "yes", "yes or no");
    }
    if (strcmp(name, "delivery") == 0) {
        return choose(&o->immediate, text, "timed", "immediate",
                      "timed or immediate");
    }
    if (strcmp(name, "chunk") == 0) {
        return units_count(text, 1, 65507, &o->chunk) ? "bytes from 1 to 65507"
                                                      : NULL;
    }
    if (strcmp(name, "stats") == 0) {
        return set_interval(o, text);
    }
    if (strcmp(name, "pf") == 0) {
        return set_format(o, text);
    }
    if (strcmp(name, "metrics") == 0) {
        o->metrics = text;
        return metrics_check(text);
    }
    o->quiet = true;
    return NULL;
}

static const char *take(void *user, const char *name, const char *text) {
    struct transmit_options *o = user;
    const struct {
        const char *name;
        const char **to;
    } texts[] = {{"statsout", &o->stats_out},
                 {"json", &o->json},
                 {"frames", &o->frames},
                 {"qlog", &o->qlog},
                 {"port-file", &o->port_file}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(texts[i].name, name) == 0) {
            *texts[i].to = text;
            return NULL;
        }
    }
    return take_choice(o, name, text);
}

/* --- Endpoints ------------------------------------------------------------ */

static const char *set_callers(struct endpoint *e, const char *value) {
    if (value[0] == '\0' || strlen(value) >= sizeof(e->callers)) {
        return "must be the name of a file";
    }
    (void)snprintf(e->callers, sizeof(e->callers), "%s", value);
    return NULL;
}

static const char *set_max_callers(struct endpoint *e, const char *value) {
    return units_count(value, 1, CALLERS_MAX, &e->max_callers)
               ? "must be a number from 1 to 1000"
               : NULL;
}

static int take_tltcp_key(void *user, const char *key, const char *value,
                          char *why) {
    struct endpoint *e = user;
    const char *wrong;
    if (strcmp(key, "mode") == 0) {
        wrong = choose(&e->at.listens, value, "caller", "listener",
                       "must be caller or listener");
    } else if (strcmp(key, "callers") == 0) {
        wrong = set_callers(e, value);
    } else if (strcmp(key, "max-callers") == 0) {
        wrong = set_max_callers(e, value);
    } else {
        return peer_key(&e->to, key, value, KEYS, why);
    }
    return wrong ? url_refuse(why, wrong, "") : 0;
}

static const char *set_udp_key(struct endpoint *e, const char *key,
                               const char *value) {
    if (strcmp(key, "adapter") == 0) {
        if (strlen(value) >= sizeof(e->adapter)) {
            return "shorter";
        }
        (void)snprintf(e->adapter, sizeof(e->adapter), "%s", value);
        return NULL;
    }
    if (strcmp(key, "ttl") == 0) {
        return units_count(value, 1, 255, &e->ttl)
                   ? "a whole number from 1 to 255"
                   : NULL;
    }
    if (strcmp(key, "tos") == 0) {
        return units_count(value, 0, 255, &e->tos)
                   ? "a whole number from 0 to 255"
                   : NULL;
    }
    return units_size(value, &e->buffer);
}

static int take_udp_key(void *user, const char *key, const char *value,
                        char *why) {
    static const char *const keys[] = {"adapter", "ttl", "tos", "buffer"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(keys[i], key) == 0) {
            const char *wrong = set_udp_key(user, key, value);
            return wrong ? url_refuse(why, "must be ", wrong) : 0;
        }
    }
    return url_refuse(
        why, "no such key; valid keys are adapter, ttl, tos, buffer", "");
}

static bool starts(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static int parse_tltcp(struct endpoint *e, bool is_output, char *why) {
    int rc;
    e->kind = ENDPOINT_TLTCP;
    rc = tltcp_live_url_parse(&e->at, e->text, "tltcp://", take_tltcp_key, e,
                              why);
    rc = rc < 0 ? rc : tltcp_live_url_check(&e->at, why);
    if (rc == 0 && !e->at.listens && (e->callers[0] || e->max_callers)) {
        return url_refuse(why, "only a listener takes callers and max-callers",
                          "");
    }
    if (rc == 0 && !is_output && e->max_callers > 1) {
        return url_refuse(why, "INPUT takes one caller at a time", "");
    }
    if (rc == 0 && e->callers[0] && e->to.config->stream_id) {
        return url_refuse(why, "give callers or streamid, not both", "");
    }
    if (e->max_callers == 0) {
        e->max_callers = is_output && e->at.listens ? CALLERS : 1;
    }
    return rc;
}

static int parse_udp(struct endpoint *e, bool is_output, char *why) {
    int rc;
    e->kind = ENDPOINT_UDP;
    e->buffer = is_output ? 0 : INPUT_BUFFER;
    rc = tltcp_live_url_parse(&e->at, e->text, "udp://", take_udp_key, e, why);
    if (rc == 0 && is_output && e->at.host[0] == '\0') {
        rc = url_refuse(why, "the host is missing; write udp://HOST:PORT", "");
    }
    if (rc == 0 && is_output && strcmp(e->at.port, "0") == 0) {
        rc = url_refuse(why, "the port cannot be 0", "");
    }
    return rc;
}

static int parse_path(struct endpoint *e, const char *path, char *why) {
    e->kind = ENDPOINT_FILE;
    e->path = path;
    return path[0] ? 0 : url_refuse(why, "the path is missing", "");
}

static int parse_endpoint(struct endpoint *e, const char *text, bool is_output,
                          char *why) {
    e->text = text;
    if (!peer_options_init(&e->to)) {
        return url_refuse(why, "out of memory", "");
    }
    e->to.config->idle_timeout_ms = IDLE_MS;
    if (starts(text, "tltcp://") || starts(text, "tltcp+tcp://")) {
        return parse_tltcp(e, is_output, why);
    }
    if (starts(text, "udp://")) {
        return parse_udp(e, is_output, why);
    }
    if (strcmp(text, "-") == 0 || strcmp(text, "file://con") == 0) {
        e->kind = ENDPOINT_PIPE;
        return 0;
    }
    if (starts(text, "file://")) {
        return parse_path(e, text + strlen("file://"), why);
    }
    if (strstr(text, "://")) {
        return url_refuse(why,
                          "this scheme is not supported; use tltcp://, "
                          "udp://, file:// or -",
                          "");
    }
    return parse_path(e, text, why);
}

static int check(struct transmit_options *o) {
    struct endpoint *ends[] = {&o->in, &o->out};
    if (o->in.kind != ENDPOINT_TLTCP && o->out.kind != ENDPOINT_TLTCP) {
        return tool_misuse(TOOL, "one of INPUT and OUTPUT must be tltcp://");
    }
    if (o->out.kind == ENDPOINT_PIPE && o->json && strcmp(o->json, "-") == 0) {
        return tool_misuse(TOOL,
                           "OUTPUT and --json cannot both be standard output");
    }
    for (int i = 0; i < 2; i++) {
        int rc = ends[i]->kind == ENDPOINT_TLTCP
                     ? peer_options_check(TOOL, &ends[i]->to)
                     : -1;
        if (rc >= 0) {
            return rc;
        }
    }
    return -1;
}

static int take_words(struct transmit_options *o, int words, char **word) {
    struct endpoint *ends[] = {&o->in, &o->out};
    char why[TLTCP_LIVE_WHY_MAX];
    if (words != 2) {
        return tool_misuse(TOOL, "INPUT and OUTPUT are both needed");
    }
    for (int i = 0; i < 2; i++) {
        int rc = parse_endpoint(ends[i], word[i], i == 1, why);
        if (rc < 0 || ends[i]->kind != ENDPOINT_FILE) {
            tltcp_live_url_hide(word[i]); /* a path is needed unchanged */
        }
        if (rc < 0) {
            return tool_misuse(TOOL, "%s: %s", word[i], why);
        }
    }
    for (int i = 0; i < 2; i++) {
        ends[i]->to.config->qlog_dir = o->qlog;
        ends[i]->to.settings->host = ends[i]->at.host;
        ends[i]->to.settings->service = ends[i]->at.port;
        ends[i]->to.settings->listens = ends[i]->at.listens;
        ends[i]->to.settings->reconnect = o->reconnect;
        ends[i]->to.settings->report_frames = o->frames != NULL;
    }
    return check(o);
}

static const char *const details[] = {
    "--timeout-mode", "--delivery",         "--chunk",     "--pf",
    "--statsout",     "--frames",           "--qlog",      "--port-file",
    "Keys of tltcp",  "Before it receives", "Exit status", NULL};

static const struct tool_line line = {TOOL, help, options, take, details};

int transmit_options_parse(int argc, char **argv, struct transmit_options *o) {
    int rc;
    memset(o, 0, sizeof(*o));
    o->reconnect = true;
    o->chunk = (uint64_t)7 * 188;
    rc = tool_options(&line, o, argc, argv);
    return rc >= 0 ? rc : take_words(o, argc - optind, argv + optind);
}

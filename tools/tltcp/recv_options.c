/* SPDX-License-Identifier: MPL-2.0 */
/* tltcp-recv's command line. */
#include "tools/tltcp/recv_options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "internal/credentials/credentials.h"
#include "internal/settings/units.h"
#include "tools/common/command_line.h"
#include "tools/common/metrics.h"
#include "tools/common/tool.h"

#define TOOL "tltcp-recv"

static const char *const help[] = {
    "Usage: tltcp-recv [OPTION...] tltcp://[HOST]:PORT[?KEY=VALUE&...] OUTPUT\n"
    "\n"
    "Listens, and writes the video and audio that a caller sends into OUTPUT. "
    "The\n"
    "extension of its name selects the container (.mp4, .mkv, .ts ...; -: "
    "standard\n"
    "output, with --format). Incomplete frames are left out. One caller is "
    "served\n"
    "at a time; the stream of the next one goes to OUTPUT with a number before "
    "the\n"
    "extension. Port 0 selects a free port.\n"
    "\n"
    "Options:\n"
    "  --latency MS           how long after its display time a frame counts "
    "as on\n"
    "                         time (the sender's latency)\n"
    "  --once                 ends after the first caller\n"
    "  --drop-undecodable     also leaves out whole frames that depend on "
    "missing\n"
    "                         ones\n"
    "  --format NAME          the container, whatever the extension of the "
    "name\n" SECRETS_HELP
    "  --caller-keys FILE     with it: callers to accept, by public key and "
    "name\n"
    "  --streamid ID          refuses callers that request another stream\n"
    "  --fec WHEN             accepts repair packets: auto, when the sender "
    "wants\n"
    "                         them (default); off\n"
    "  --qlog DIR             writes a trace of each connection\n"
    "  --json FILE            writes statistics at the end; -: standard "
    "output\n"
    "  --frames FILE          writes when every frame arrived as CSV\n"
    "  --metrics HOST:PORT    serves statistics for Prometheus at\n"
    "                         http://HOST:PORT/metrics\n"
    "  --port-file FILE       writes the addresses listened on\n"
    "  -q, --quiet            no progress line\n"
    "  -h, --help             this text\n"
    "  -V, --version          the version\n"
    "\n"
    "Keys of the URL: mode: listener; latency, passphrase, passphrase-file,\n"
    "key-file, identity-file, caller-keys, streamid, fec; idle-timeout: drops\n"
    "a caller that is silent for this time (30000; the lower of both ends\n"
    "applies); dscp: of outgoing packets, up to 63 (0); threads: of the\n"
    "listener (1); transport: udp; tcp; auto: both (udp).\n"
    "\n"
    "How lateness is counted: the sender's time line is mapped to the local "
    "clock\n"
    "so that the frame with the lowest delay arrives the moment it was sent. "
    "A\n"
    "frame is on time when it, and all frames that it refers to, have arrived "
    "by\n"
    "its display time + latency.\n"
    "\n"
    "At its start it drops the rights to open files (Landlock), except those\n"
    "named here and those beside OUTPUT, and to start programs (seccomp), "
    "where\n"
    "the system supports this.\n"
    "\n"
    "Exit status: 0 on success, 1 on failure, 2 on wrong usage.\n"
    "\n"
    "Examples:\n"
    "  $ tltcp-recv --once --json - tltcp://:5000 film.mkv\n",
    NULL};

static const struct option options[] = {
    {"latency", required_argument, NULL, 0},
    {"once", no_argument, NULL, 0},
    {"drop-undecodable", no_argument, NULL, 0},
    {"format", required_argument, NULL, 0},
    {"passphrase", required_argument, NULL, 0},
    {"passphrase-file", required_argument, NULL, 0},
    {"key-file", required_argument, NULL, 0},
    {"identity-file", required_argument, NULL, 0},
    {"caller-keys", required_argument, NULL, 0},
    {"streamid", required_argument, NULL, 0},
    {"fec", required_argument, NULL, 0},
    {"qlog", required_argument, NULL, 0},
    {"json", required_argument, NULL, 0},
    {"frames", required_argument, NULL, 0},
    {"metrics", required_argument, NULL, 0},
    {"port-file", required_argument, NULL, 0},
    {NULL, 0, NULL, 0}};

static const char *recv_options_take(void *user, const char *name,
                                     const char *text) {
    struct recv_options *o = user;
    const struct {
        const char *name;
        const char **to;
    } texts[] = {{"format", &o->format},
                 {"json", &o->json},
                 {"frames", &o->frames},
                 {"metrics", &o->metrics},
                 {"port-file", &o->port_file}};
    const char *wrong = NULL;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(texts[i].name, name) == 0) {
            *texts[i].to = text;
            return strcmp(name, "metrics") == 0 ? metrics_check(text) : NULL;
        }
    }
    if (strcmp(name, "once") == 0) {
        o->once = true;
    } else if (strcmp(name, "drop-undecodable") == 0) {
        o->keep_broken = false;
    } else if (strcmp(name, "quiet") == 0) {
        o->quiet = true;
    } else {
        (void)peer_option(&o->from, name, text, &wrong);
    }
    return wrong;
}

static int recv_options_take_key(void *user, const char *key, const char *value,
                                 char *why) {
    static const char *const keys[] = {
        "latency",       "passphrase",  "passphrase-file", "key-file",
        "identity-file", "caller-keys", "streamid",        "fec",
        "idle-timeout",  "dscp",        "qos-dscp",        "threads",
        "transport"};
    struct recv_options *o = user;
    if (strcmp(key, "mode") == 0) {
        return strcmp(value, "listener") == 0
                   ? 0
                   : url_refuse(why, "must be listener: " TOOL " only listens",
                                "");
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(key, keys[i]) == 0) {
            return peer_key(&o->from, key, value, "", why);
        }
    }
    return url_refuse(why,
                      "no such key; valid keys are mode, latency, "
                      "passphrase, passphrase-file, key-file, identity-file, "
                      "caller-keys, streamid, fec, "
                      "idle-timeout, dscp, threads, transport",
                      "");
}

static int recv_options_take_words(struct recv_options *o, int words,
                                   char **word) {
    char why[TLTCP_LIVE_WHY_MAX];
    int rc;
    if (words != 2) {
        return tool_misuse(TOOL, "URL and OUTPUT are both needed");
    }
    o->url = word[0];
    o->output = word[1];
    rc = tltcp_live_url_parse(&o->local, o->url, "tltcp://",
                              recv_options_take_key, o, why);
    tltcp_live_url_hide(word[0]);
    if (rc < 0) {
        return tool_misuse(TOOL, "%s: %s", o->url, why);
    }
    if (strcmp(o->output, "-") == 0 && !o->format) {
        return tool_misuse(TOOL, "standard output needs --format");
    }
    if (strcmp(o->output, "-") == 0 && o->json && strcmp(o->json, "-") == 0) {
        return tool_misuse(TOOL,
                           "OUTPUT and --json cannot both be standard output");
    }
    rc = peer_options_check(TOOL, &o->from);
    return rc >= 0 ? rc : peer_options_check_identity(TOOL, &o->from, true);
}

static const char *const details[] = {"--drop-undecodable",
                                      "--passphrase",
                                      "--identity-file",
                                      "--caller-keys",
                                      "--qlog",
                                      "--frames",
                                      "--port-file",
                                      "--fec",
                                      "--metrics",
                                      "Keys of the URL",
                                      "How lateness",
                                      "At its start",
                                      "Exit status",
                                      NULL};

static const struct tool_line line = {TOOL, help, options, recv_options_take,
                                      details};

int recv_options_parse(int argc, char **argv, struct recv_options *o) {
    int rc;
    memset(o, 0, sizeof(*o));
    if (!peer_options_init(&o->from)) {
        return tool_fail(TOOL, "out of memory");
    }
    o->keep_broken = true;
    rc = tool_options(&line, o, argc, argv);
    return rc >= 0 ? rc
                   : recv_options_take_words(o, argc - optind, argv + optind);
}

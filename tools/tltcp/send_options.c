/* SPDX-License-Identifier: MPL-2.0 */
/* tltcp-send's command line. */
#include "tools/tltcp/send_options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "internal/credentials/credentials.h"
#include "internal/settings/units.h"
#include "tools/common/command_line.h"
#include "tools/common/metrics.h"
#include "tools/common/tool.h"

#define TOOL "tltcp-send"
#define SPEED_MIN 0.001
#define SPEED_MAX 1000

static const char *const help[] = {
    "Usage: tltcp-send [OPTION...] INPUT tltcp://HOST:PORT[?KEY=VALUE&...]\n"
    "\n"
    "Sends the video and audio of INPUT, anything that libavformat opens (-:\n"
    "standard input), frame by frame. Every frame has a deadline. Frames that\n"
    "cannot arrive in time are not sent, which leaves room for the others.\n"
    "\n"
    "Options:\n"
    "  --latency MS           how long after its display time a frame is "
    "useful\n"
    "                         (200)\n"
    "  --deadline-mode MODE   pts: display time + latency (default); gop: the\n"
    "                         chain of an I frame shares one deadline\n"
    "  --drop-policy POLICY   section: by deadline alone; dependents: also "
    "frames\n"
    "                         that depend on a lost one (default); "
    "until-keyframe\n"
    "  --reference-grace MS   how much longer frames that others need are "
    "sent,\n"
    "                         except with policy section (1000)\n"
    "  --speed X              plays X times as fast (1); 0: as fast as the\n"
    "                         connection accepts, without deadlines\n"
    "  --loop N               sends INPUT N times (1)\n"
    "  --congestion NAME      name of a controller, such as cubic, bbr (auto)\n"
    "  --recovery NAME        packet (default) or dupack\n" SECRETS_HELP
    "  --listener-key KEY     with it: public key of the listener to call\n"
    "  --streamid ID          name of the stream to request from the listener\n"
    "  --max-rate RATE        limit on the wire, such as 4mbit\n"
    "  --initial-window N     initial window in packets; raise it only on a "
    "path\n"
    "                         of known capacity that is not shared (0: the\n"
    "                         controller's)\n"
    "  --fec WHEN             sends repair packets: auto, when the deadline "
    "leaves\n"
    "                         no time to retransmit (default); on, off\n"
    "  --connect-timeout MS   gives up connecting after this time (5000)\n"
    "  --qlog DIR             writes a trace of the connection\n"
    "  --json FILE            writes statistics at the end; -: standard "
    "output\n"
    "  --frames FILE          writes the fate of every frame as CSV\n"
    "  --stats-interval TIME  prints a line of statistics at intervals\n"
    "  --metrics HOST:PORT    serves statistics for Prometheus at\n"
    "                         http://HOST:PORT/metrics\n"
    "  -q, --quiet            no progress bar\n"
    "  -h, --help             this text\n"
    "  -V, --version          the version\n"
    "\n"
    "Keys of the URL: mode: caller; latency, passphrase, passphrase-file,\n"
    "key-file, identity-file, listener-key, streamid, localaddress,\n"
    "localport, congestion-control, max-rate, initial-window, fec,\n"
    "drop-policy, reference-grace, deadline-mode, connect-timeout;\n"
    "idle-timeout: gives up when the peer is silent for this time (30000; the\n"
    "lower of both ends applies); dscp: of outgoing packets, up to 63 (0);\n"
    "transport: udp; auto, which is TCP if UDP gets no answer; tcp.\n"
    "tltcp+tcp:// means transport=tcp.\n"
    "\n"
    "At its start it drops the rights to open files (Landlock), except those\n"
    "named here and those beside the input, and to start programs (seccomp),\n"
    "where the system supports this. If the input is a URL of FFmpeg's, it "
    "may\n"
    "still read files.\n"
    "\n"
    "Exit status: 0 on success, 1 on failure, 2 on wrong usage.\n"
    "\n"
    "Examples:\n"
    "  $ tltcp-send --latency 200 film.mp4 tltcp://192.0.2.7:5000\n",
    NULL};

static const struct option options[] = {
    {"latency", required_argument, NULL, 0},
    {"deadline-mode", required_argument, NULL, 0},
    {"drop-policy", required_argument, NULL, 0},
    {"reference-grace", required_argument, NULL, 0},
    {"speed", required_argument, NULL, 0},
    {"loop", required_argument, NULL, 0},
    {"congestion", required_argument, NULL, 0},
    {"recovery", required_argument, NULL, 0},
    {"passphrase", required_argument, NULL, 0},
    {"passphrase-file", required_argument, NULL, 0},
    {"key-file", required_argument, NULL, 0},
    {"identity-file", required_argument, NULL, 0},
    {"listener-key", required_argument, NULL, 0},
    {"streamid", required_argument, NULL, 0},
    {"max-rate", required_argument, NULL, 0},
    {"initial-window", required_argument, NULL, 0},
    {"fec", required_argument, NULL, 0},
    {"connect-timeout", required_argument, NULL, 0},
    {"qlog", required_argument, NULL, 0},
    {"json", required_argument, NULL, 0},
    {"frames", required_argument, NULL, 0},
    {"stats-interval", required_argument, NULL, 0},
    {"metrics", required_argument, NULL, 0},
    {NULL, 0, NULL, 0}};

static const char *set_speed(struct send_options *o, const char *text) {
    const char *why = units_number(text, &o->speed);
    if (!why && o->speed != 0 &&
        !(o->speed >= SPEED_MIN && o->speed <= SPEED_MAX)) {
        return "a number from 0.001 to 1000, or 0";
    }
    return why;
}

static const char *send_options_take(void *user, const char *name,
                                     const char *text) {
    struct send_options *o = user;
    const char *wrong = NULL;
    if (peer_option(&o->to, name, text, &wrong)) {
        return wrong;
    }
    if (strcmp(name, "speed") == 0) {
        return set_speed(o, text);
    }
    if (strcmp(name, "loop") == 0) {
        return units_count(text, 1, 1000000, &o->loops)
                   ? "a whole number from 1 to 1000000"
                   : NULL;
    }
    if (strcmp(name, "stats-interval") == 0) {
        return units_time(text, &o->stats_interval);
    }
    if (strcmp(name, "metrics") == 0) {
        o->metrics = text;
        return metrics_check(text);
    }
    if (strcmp(name, "json") == 0) {
        o->json = text;
    } else if (strcmp(name, "frames") == 0) {
        o->frames = text;
    } else {
        o->quiet = true;
    }
    return NULL;
}

static int send_options_take_key(void *user, const char *key, const char *value,
                                 char *why) {
    struct send_options *o = user;
    if (strcmp(key, "mode") == 0) {
        return strcmp(value, "caller") == 0
                   ? 0
                   : url_refuse(why, "must be caller: " TOOL " only calls", "");
    }
    return peer_key(&o->to, key, value, "mode, " PEER_KEYS, why);
}

static int send_options_take_words(struct send_options *o, int words,
                                   char **word) {
    char why[TLTCP_LIVE_WHY_MAX];
    int rc;
    if (words != 2) {
        return tool_misuse(TOOL, "INPUT and URL are both needed");
    }
    o->input = word[0];
    o->url = word[1];
    rc = tltcp_live_url_parse(&o->peer, o->url, "tltcp://",
                              send_options_take_key, o, why);
    tltcp_live_url_hide(word[1]);
    if (rc < 0) {
        return tool_misuse(TOOL, "%s: %s", o->url, why);
    }
    if (o->peer.host[0] == '\0') {
        return tool_misuse(
            TOOL, "%s: the host is missing; write tltcp://HOST:PORT", o->url);
    }
    if (strcmp(o->peer.port, "0") == 0) {
        return tool_misuse(TOOL, "%s: the port cannot be 0", o->url);
    }
    rc = peer_options_check(TOOL, &o->to);
    return rc >= 0 ? rc : peer_options_check_identity(TOOL, &o->to, false);
}

static const char *const details[] = {"--deadline-mode",
                                      "--drop-policy",
                                      "--reference-grace",
                                      "--loop",
                                      "--recovery",
                                      "--passphrase",
                                      "--identity-file",
                                      "--listener-key",
                                      "--initial-window",
                                      "--connect-timeout",
                                      "--qlog",
                                      "--frames",
                                      "--stats-interval",
                                      "--metrics",
                                      "--prometheus",
                                      "Keys of the URL",
                                      "At its start",
                                      "Exit status",
                                      NULL};

static const struct tool_line line = {TOOL, help, options, send_options_take,
                                      details};

int send_options_parse(int argc, char **argv, struct send_options *o) {
    int rc;
    memset(o, 0, sizeof(*o));
    if (!peer_options_init(&o->to)) {
        return tool_fail(TOOL, "out of memory");
    }
    o->speed = 1;
    o->loops = 1;
    rc = tool_options(&line, o, argc, argv);
    return rc >= 0 ? rc
                   : send_options_take_words(o, argc - optind, argv + optind);
}

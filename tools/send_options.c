/* SPDX-License-Identifier: MPL-2.0 */
#include "send_options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "media/deadline.h"
#include "media/outq.h"
#include "sim/units.h"
#include "tool.h"
#include "url.h"

#define TOOL "tltcp-send"

static const char help[] =
    "Usage: tltcp-send [OPTION...] INPUT tltcp://HOST:PORT[?KEY=VALUE&...]\n"
    "\n"
    "Sends the video and audio of INPUT, anything that libavformat opens (-:\n"
    "standard input), frame by frame. Every frame has a deadline; what cannot\n"
    "be there in time is not sent, so that what still matters is.\n"
    "\n"
    "  --latency MS           how long after its display time a frame is "
    "still\n"
    "                         of use (200)\n"
    "  --deadline-mode MODE   pts: display time + latency (default); gop: the\n"
    "                         chain of an I frame shares one deadline\n"
    "  --drop-policy POLICY   section: by deadline alone; dependents: also "
    "what\n"
    "                         needs a lost frame (default); until-keyframe\n"
    "  --reference-grace MS   how much longer frames that others need are "
    "worth\n"
    "                         sending, except with policy section (1000)\n"
    "  --speed X              plays X times as fast (1); 0: as fast as the\n"
    "                         connection takes it, without deadlines\n"
    "  --loop N               sends INPUT N times (1)\n"
    "  --congestion NAME      congestion control\n"
    "  --recovery NAME        packet (default) or dupack\n"
    "  --passphrase P         shared secret\n"
    "  --streamid ID          what the listener is asked for\n"
    "  --max-rate RATE        at most so much on the wire, such as 4mbit\n"
    "  --connect-timeout MS   gives up connecting after (5000)\n"
    "  --qlog DIR             writes a trace of the connection\n"
    "  --json FILE            writes statistics at the end; -: standard "
    "output\n"
    "  --frames FILE          writes what became of every frame as CSV\n"
    "  --stats-interval TIME  prints a line of statistics at intervals\n"
    "  -q, --quiet            no progress bar\n"
    "  -h, --help             this text\n"
    "  -V, --version          the version\n"
    "\n"
    "Keys of the URL: latency, deadline-mode, drop-policy, "
    "congestion-control,\n"
    "passphrase, streamid.\n"
    "\n"
    "Example: tltcp-send --latency 200 film.mp4 tltcp://192.0.2.7:5000\n";

enum {
    OPT_LATENCY = 256,
    OPT_MODE,
    OPT_POLICY,
    OPT_GRACE,
    OPT_SPEED,
    OPT_LOOP,
    OPT_CONGESTION,
    OPT_RECOVERY,
    OPT_PASSPHRASE,
    OPT_STREAMID,
    OPT_MAX_RATE,
    OPT_CONNECT_TIMEOUT,
    OPT_QLOG,
    OPT_JSON,
    OPT_FRAMES,
    OPT_STATS_INTERVAL
};

static const struct option options[] = {
    {"latency", required_argument, NULL, OPT_LATENCY},
    {"deadline-mode", required_argument, NULL, OPT_MODE},
    {"drop-policy", required_argument, NULL, OPT_POLICY},
    {"reference-grace", required_argument, NULL, OPT_GRACE},
    {"speed", required_argument, NULL, OPT_SPEED},
    {"loop", required_argument, NULL, OPT_LOOP},
    {"congestion", required_argument, NULL, OPT_CONGESTION},
    {"recovery", required_argument, NULL, OPT_RECOVERY},
    {"passphrase", required_argument, NULL, OPT_PASSPHRASE},
    {"streamid", required_argument, NULL, OPT_STREAMID},
    {"max-rate", required_argument, NULL, OPT_MAX_RATE},
    {"connect-timeout", required_argument, NULL, OPT_CONNECT_TIMEOUT},
    {"qlog", required_argument, NULL, OPT_QLOG},
    {"json", required_argument, NULL, OPT_JSON},
    {"frames", required_argument, NULL, OPT_FRAMES},
    {"stats-interval", required_argument, NULL, OPT_STATS_INTERVAL},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0}};

/* All take text and return NULL or what it must be. */

static const char *set_mode(struct send_options *o, const char *text) {
    if (strcmp(text, "pts") == 0) {
        o->deadline_mode = MEDIA_DEADLINE_PTS;
    } else if (strcmp(text, "gop") == 0) {
        o->deadline_mode = MEDIA_DEADLINE_GOP;
    } else {
        return "pts or gop";
    }
    return NULL;
}

static const char *set_policy(struct send_options *o, const char *text) {
    if (strcmp(text, "section") == 0) {
        o->drop_policy = MEDIA_DROP_SECTION;
        o->grace_ms = 0; /* nothing is known about who needs whom */
    } else if (strcmp(text, "dependents") == 0) {
        o->drop_policy = MEDIA_DROP_DEPENDENTS;
    } else if (strcmp(text, "until-keyframe") == 0) {
        o->drop_policy = MEDIA_DROP_UNTIL_KEYFRAME;
    } else {
        return "section, dependents or until-keyframe";
    }
    return NULL;
}

static const char *set_max_rate(struct send_options *o, const char *text) {
    double bps;
    const char *why = units_rate(text, &bps);
    if (why || !(bps < 1e15)) {
        return "a rate, such as 4mbit";
    }
    o->config.max_rate = (uint64_t)bps;
    return NULL;
}

static const char *copy(char *to, size_t size, const char *text) {
    if (strlen(text) >= size) {
        return "shorter";
    }
    (void)snprintf(to, size, "%s", text);
    return NULL;
}

static const char *set_stream_id(struct send_options *o, const char *text) {
    o->config.stream_id = o->stream_id;
    return copy(o->stream_id, sizeof(o->stream_id), text);
}

static const char *set_congestion(struct send_options *o, const char *text) {
    o->config.congestion = o->congestion;
    return copy(o->congestion, sizeof(o->congestion), text);
}

static const char *set_passphrase(struct send_options *o, const char *text) {
    o->config.passphrase = o->passphrase;
    return copy(o->passphrase, sizeof(o->passphrase), text);
}

static const char *take_media_option(struct send_options *o, int opt,
                                     const char *text) {
    switch (opt) {
    case OPT_LATENCY:
        return units_ms(text, &o->latency_ms);
    case OPT_GRACE:
        return units_ms(text, &o->grace_ms);
    case OPT_MODE:
        return set_mode(o, text);
    case OPT_POLICY:
        return set_policy(o, text);
    case OPT_SPEED:
        return units_number(text, &o->speed);
    case OPT_LOOP:
        return units_count(text, 1, 1000000, &o->loops);
    case OPT_STATS_INTERVAL:
        return units_time(text, &o->stats_interval);
    case OPT_JSON:
        o->json = text;
        return NULL;
    default:
        o->frames = text;
        return NULL;
    }
}

static const char *take_value(struct send_options *o, int opt,
                              const char *text) {
    switch (opt) {
    case OPT_CONGESTION:
        return set_congestion(o, text);
    case OPT_RECOVERY:
        o->config.recovery = text;
        return NULL;
    case OPT_PASSPHRASE:
        return set_passphrase(o, text);
    case OPT_STREAMID:
        return set_stream_id(o, text);
    case OPT_MAX_RATE:
        return set_max_rate(o, text);
    case OPT_CONNECT_TIMEOUT:
        return units_ms(text, &o->config.connect_timeout_ms);
    case OPT_QLOG:
        o->config.qlog_dir = text;
        return NULL;
    default:
        return take_media_option(o, opt, text);
    }
}

static int take_option(struct send_options *o, int opt, const char *name,
                       char **argv) {
    const char *why;
    switch (opt) {
    case 'q':
        o->quiet = true;
        return -1;
    case 'V':
        return tool_version(TOOL);
    case 'h':
        (void)fputs(help, stdout);
        return TOOL_OK;
    case '?':
    case ':':
        return tool_bad_option(TOOL, opt, argv);
    default:
        why = take_value(o, opt, optarg);
        return why ? tool_misuse(TOOL, "--%s %s: must be %s", name, optarg, why)
                   : -1;
    }
}

static const char *take_key(void *user, const char *key, const char *value) {
    struct send_options *o = user;
    if (strcmp(key, "latency") == 0) {
        return units_ms(value, &o->latency_ms);
    }
    if (strcmp(key, "deadline-mode") == 0) {
        return set_mode(o, value);
    }
    if (strcmp(key, "drop-policy") == 0) {
        return set_policy(o, value);
    }
    if (strcmp(key, "congestion-control") == 0) {
        return set_congestion(o, value);
    }
    if (strcmp(key, "passphrase") == 0) {
        return set_passphrase(o, value);
    }
    if (strcmp(key, "streamid") == 0) {
        return set_stream_id(o, value);
    }
    return "no such key; there are latency, deadline-mode, drop-policy, "
           "congestion-control, passphrase, streamid";
}

static int take_words(struct send_options *o, int words, char **word) {
    char why[URL_WHY_MAX];
    char wrong[TLTCP_REASON_MAX + 1] = "";
    int rc;
    if (words != 2) {
        return tool_misuse(TOOL, "INPUT and URL are wanted, both");
    }
    o->input = word[0];
    o->url = word[1];
    if (!url_parse(o->url, false, &o->peer, take_key, o, why)) {
        return tool_misuse(TOOL, "%s: %s", o->url, why);
    }
    if (strcmp(o->peer.port, "0") == 0) {
        return tool_misuse(TOOL, "%s: the port cannot be 0", o->url);
    }
    rc = tltcp_config_check(&o->config, wrong);
    if (rc < 0) {
        return tool_misuse(TOOL, "%s", wrong[0] ? wrong : tltcp_strerror(rc));
    }
    return -1;
}

int send_options_parse(int argc, char **argv, struct send_options *o) {
    int opt;
    int rc = -1;
    int index = 0;
    memset(o, 0, sizeof(*o));
    tltcp_config_init(&o->config);
    o->config.report_fates = true;
    o->latency_ms = 200;
    o->grace_ms = 1000;
    o->deadline_mode = MEDIA_DEADLINE_PTS;
    o->drop_policy = MEDIA_DROP_DEPENDENTS;
    o->speed = 1;
    o->loops = 1;
    while (rc < 0 &&
           (opt = getopt_long(argc, argv, ":qhV", options, &index)) != -1) {
        rc = take_option(o, opt, options[index].name, argv);
    }
    return rc >= 0 ? rc : take_words(o, argc - optind, argv + optind);
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Reports of transfers: JSON, text and logs. */
#include "tools/saratoga/report.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tools/saratoga/url.h"

/* Smaller sizes are printed exactly. */
#define EXACT 100000

/* --- Names --------------------------------------------------------------- */

const char *saratoga_shown(char *out, const char *text) {
    return tool_shown(out, SARATOGA_SHOWN, text);
}

bool saratoga_join(char *to, size_t room, const char *a, const char *b) {
    size_t len = strlen(a);
    const char *slash = len > 0 && a[len - 1] != '/' ? "/" : "";
    int n = snprintf(to, room, "%s%s%s", a, slash, b);
    return n >= 0 && (size_t)n < room;
}

const char *saratoga_remote(char *out, const struct saratoga_task *t) {
    char plain[SARATOGA_SHOWN];
    bool colons = strchr(t->host, ':') != NULL;
    bool usual = strcmp(t->port, SARATOGA_URL_PORT) == 0;
    (void)snprintf(plain, sizeof(plain), "saratoga://%s%s%s%s%s/%s",
                   colons ? "[" : "", t->host, colons ? "]" : "",
                   usual ? "" : ":", usual ? "" : t->port, t->path);
    return saratoga_shown(out, plain);
}

/* --- Reports ------------------------------------------------------------- */

static const char *checksum_name(uint32_t checksum) {
    switch (checksum) {
    case SARATOGA_CRC32C:
        return "crc32c";
    case SARATOGA_MD5:
        return "md5";
    case SARATOGA_SHA1:
        return "sha1";
    case SARATOGA_SHA256:
        return "sha256";
    case SARATOGA_HMAC_SHA256:
        return "hmac-sha256";
    default:
        return "none";
    }
}

static double seconds(const saratoga_node_event *ev) {
    return ev->stats.now > ev->stats.since
               ? (double)(ev->stats.now - ev->stats.since) / 1e9
               : 0;
}

static double goodput(const saratoga_node_event *ev) {
    double s = seconds(ev);
    uint64_t had = ev->stats.resumed_bytes;
    uint64_t bytes = ev->stats.bytes > had ? ev->stats.bytes - had : 0;
    return s > 0 ? (double)bytes * 8 / s : 0;
}

/* A receiver that reported success has also verified; a blind put has no
 * answer. */
static bool is_verified(const saratoga_node_event *ev) {
    bool sent = ev->stats.sending != 0 && ev->request != SARATOGA_BLIND_PUT &&
                !ev->unheard;
    return ev->error == 0 && ev->checksum != SARATOGA_NONE &&
           (ev->verified || sent || ev->already);
}

static json_t *count(uint64_t n) {
    return json_integer((json_int_t)n);
}

json_t *saratoga_json_text(const char *text) {
    json_t *o = json_string(text);
    char plain[SARATOGA_PATH_MAX + 4096];
    size_t n = 0;
    if (o) {
        return o;
    }
    for (; text[n] != '\0' && n + 1 < sizeof(plain); n++) {
        plain[n] = text[n];
        if ((unsigned char)text[n] >= 0x80) {
            plain[n] = '?';
        }
    }
    plain[n] = '\0';
    return json_string(plain);
}

/* Local path of the file. */
static json_t *file_here(const struct saratoga_task *t,
                         const saratoga_node_event *ev) {
    char text[sizeof(t->folder) + sizeof(t->file) + 2];
    const char *slash = strrchr(t->path, '/');
    const char *asked = slash ? slash + 1 : t->path;
    const char *sent = ev->entry.path[0] ? ev->entry.path : asked;
    const char *name = t->file[0] ? t->file : sent;
    bool here = strcmp(t->folder, ".") == 0;
    if (t->stream) {
        return json_string("-");
    }
    (void)saratoga_join(text, sizeof(text), here ? "" : t->folder, name);
    return saratoga_json_text(text);
}

json_t *saratoga_report(const struct saratoga_task *t,
                        const saratoga_node_event *ev) {
    const saratoga_stats *st = &ev->stats;
    json_t *o = json_object();
    json_object_set_new(o, "file", file_here(t, ev));
    json_object_set_new(o, "bytes", count(st->bytes));
    json_object_set_new(o, "seconds", tool_number(seconds(ev), 6));
    json_object_set_new(o, "goodput_bps", tool_number(goodput(ev), 0));
    json_object_set_new(o, "packets", count(st->data_packets));
    json_object_set_new(o, "retransmitted", count(st->retransmitted_packets));
    json_object_set_new(o, "holes_reported", count(st->holes_reported));
    json_object_set_new(o, "status_packets", count(st->status_packets));
    json_object_set_new(o, "srtt_ms",
                        st->srtt_ns > 0
                            ? tool_number((double)st->srtt_ns / 1e6, 3)
                            : json_null());
    json_object_set_new(o, "rate_bps", count(st->rate_bps));
    json_object_set_new(o, "checksum",
                        json_string(checksum_name(ev->checksum)));
    json_object_set_new(o, "verified", json_boolean(is_verified(ev)));
    json_object_set_new(o, "resumed_from", count(st->resumed_bytes));
    if (ev->error != 0) {
        json_object_set_new(o, "error", saratoga_json_text(ev->text));
    }
    return o;
}

json_t *saratoga_report_all(json_t *reports) {
    static const char *const sums[] = {
        "bytes",          "seconds",        "packets",     "retransmitted",
        "holes_reported", "status_packets", "resumed_from"};
    json_t *all;
    double bits = 0;
    double time = 0;
    size_t i;
    json_t *one;
    if (json_array_size(reports) == 1) {
        return json_incref(json_array_get(reports, 0));
    }
    all = json_object();
    for (size_t k = 0; k < sizeof(sums) / sizeof(sums[0]); k++) {
        double sum = 0;
        json_array_foreach(reports, i, one) {
            sum += json_number_value(json_object_get(one, sums[k]));
        }
        json_object_set_new(all, sums[k],
                            strcmp(sums[k], "seconds") == 0
                                ? tool_number(sum, 6)
                                : json_integer((json_int_t)sum));
    }
    json_array_foreach(reports, i, one) {
        double s = json_number_value(json_object_get(one, "seconds"));
        bits += json_number_value(json_object_get(one, "goodput_bps")) * s;
        time += s;
    }
    json_object_set_new(all, "goodput_bps",
                        tool_number(time > 0 ? bits / time : 0, 0));
    json_object_set(all, "files", reports);
    return all;
}

bool saratoga_is_transfer(uint32_t type) {
    return type != SARATOGA_GETDIR && type != SARATOGA_DELETE;
}

/* --- Lines --------------------------------------------------------------- */

static void amount(char *out, size_t room, uint64_t bytes) {
    if (bytes < EXACT) {
        (void)snprintf(out, room, "%llu bytes", (unsigned long long)bytes);
    } else {
        (void)snprintf(out, room, "%.1f MB", (double)bytes / 1e6);
    }
}

/* In %. */
static double sent_again(const saratoga_node_event *ev) {
    const saratoga_stats *st = &ev->stats;
    return st->sending != 0 && st->data_bytes > 0
               ? 100 * (double)st->retransmitted_bytes / (double)st->data_bytes
               : 0;
}

const char *saratoga_outcome(char *out, const saratoga_node_event *ev) {
    const saratoga_stats *st = &ev->stats;
    char size[32];
    double repeated = sent_again(ev);
    char again[48] = "";
    amount(size, sizeof(size), st->bytes);
    if (repeated >= 0.005) { /* 0.00 would say nothing */
        (void)snprintf(again, sizeof(again), ", %.2f %% sent again", repeated);
    }
    if (ev->error != 0) {
        bool some = st->bytes > 0;
        (void)snprintf(out, SARATOGA_OUTCOME, "%s%s%s", ev->text,
                       some ? ", after " : "", some ? size : "");
    } else if (!saratoga_is_transfer(ev->request)) {
        (void)snprintf(out, SARATOGA_OUTCOME, "done");
    } else if (ev->joined) {
        (void)snprintf(out, SARATOGA_OUTCOME,
                       "joined the transmission to the group");
    } else if (ev->unheard) {
        amount(size, sizeof(size), ev->entry.size);
        (void)snprintf(out, SARATOGA_OUTCOME,
                       "%s sent to the group in %.2f s%s, not verified", size,
                       seconds(ev), again);
    } else {
        (void)snprintf(out, SARATOGA_OUTCOME, "%s in %.2f s, %.2f Mbit/s%s, %s",
                       size, seconds(ev), goodput(ev) / 1e6, again,
                       is_verified(ev) ? "verified" : "not verified");
    }
    return out;
}

void saratoga_log(const char *format, ...) {
    time_t t = time(NULL);
    char when[32] = "";
    struct tm tm;
    va_list args;
    if (gmtime_r(&t, &tm)) {
        (void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%SZ ", &tm);
    }
    va_start(args, format);
    (void)fputs(when, stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
}

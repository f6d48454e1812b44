/* SPDX-License-Identifier: MPL-2.0 */
#include "saratoga_node.h"

#include <stdio.h>
#include <string.h>

#include "tool.h"

#define TOOL "saratoga"
#define PORT "7542"

bool saratoga_place(const char *option, const char *place,
                    struct hostport *out) {
    char text[320];
    const char *bracket = strrchr(place, ']');
    const char *why;
    (void)snprintf(text, sizeof(text), "%s%s", place,
                   strchr(bracket ? bracket : place, ':') ? "" : ":" PORT);
    why = address_split(text, out);
    if (why) {
        (void)tool_misuse(TOOL, "%s %s: %s", option, place, why);
    }
    return !why;
}

/* The address may be empty. */
static bool take_bind(const struct saratoga_args *a, saratoga_uv_config *c,
                      struct hostport *bind) {
    if (!a->bind) {
        return true;
    }
    if (!saratoga_place("--bind", a->bind, bind)) {
        return false;
    }
    c->host = bind->host[0] && strcmp(bind->host, "*") != 0 ? bind->host : NULL;
    c->service = bind->port;
    return true;
}

bool saratoga_is_secured(const struct saratoga_args *a) {
    return a->secrets.passphrase || a->secrets.key;
}

bool tool_node_config(const struct saratoga_args *a, saratoga_uv_config *c,
                      saratoga_config *engine, struct hostport *bind) {
    saratoga_uv_config_init(c);
    saratoga_config_init(engine);
    c->node = engine;
    engine->transfer = &a->transfer;
    engine->sha256 = true;
    engine->lite = a->transfer.lite;
    engine->update_check = a->update;
    engine->auth_key = a->key_len > 0 ? a->key : NULL;
    engine->auth_key_len = a->key_len;
    engine->auth_files = a->auth_files;
    c->passphrase = a->secrets.passphrase;
    c->key = a->secrets.key;
    c->key_len = c->key ? sizeof(a->secrets.bytes[0]) : 0;
    if (saratoga_is_secured(a)) {
        c->more_passphrases = a->secrets.more_passphrases;
        c->more_keys = a->secrets.more_keys;
    }
    if (a->mtu != 0) {
        engine->mtu = a->mtu;
    }
    engine->uplink_bps = a->uplink_bps;
    if (a->transfer.well_known_port) {
        c->service = PORT;
    }
    return take_bind(a, c, bind);
}

int tool_node_open(saratoga_uv **node, const saratoga_uv_config *c) {
    char why[SARATOGA_UV_TEXT];
    int rc = saratoga_uv_open(node, c, why);
    return rc == 0 ? TOOL_OK : tool_fail(TOOL, "%s", why);
}

/* --- Names --------------------------------------------------------------- */

const char *saratoga_shown(char *out, const char *text) {
    size_t n = 0;
    for (; text[n] != '\0' && n + 1 < SARATOGA_SHOWN; n++) {
        unsigned char c = (unsigned char)text[n];
        out[n] = (char)(c < 0x20 || c == 0x7f ? '?' : c);
    }
    out[n] = '\0';
    return out;
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

static double seconds(const saratoga_uv_event *ev) {
    return ev->stats.now > ev->stats.since
               ? (double)(ev->stats.now - ev->stats.since) / 1e9
               : 0;
}

static double goodput(const saratoga_uv_event *ev) {
    double s = seconds(ev);
    uint64_t had = ev->stats.resumed_bytes;
    uint64_t bytes = ev->stats.bytes > had ? ev->stats.bytes - had : 0;
    return s > 0 ? (double)bytes * 8 / s : 0;
}

/* A receiver that said all is well has checked, too; of a blind put that nobody
 * answers nothing is known. */
static bool is_verified(const saratoga_uv_event *ev) {
    bool sent = ev->stats.sending != 0 && ev->request != SARATOGA_BLIND_PUT;
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

/* Where the file is here. */
static json_t *file_here(const struct saratoga_task *t,
                         const saratoga_uv_event *ev) {
    char text[sizeof(t->folder) + sizeof(t->file) + 2];
    const char *name = t->file[0] ? t->file : ev->entry.path;
    if (t->stream) {
        return json_string("-");
    }
    if (t->folder[0] && strcmp(t->folder, ".") != 0) {
        (void)snprintf(text, sizeof(text), "%s/%s", t->folder, name);
    } else {
        (void)snprintf(text, sizeof(text), "%s", name);
    }
    return saratoga_json_text(text);
}

json_t *saratoga_report(const struct saratoga_task *t,
                        const saratoga_uv_event *ev) {
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

void saratoga_report_line(const struct saratoga_task *t,
                          const saratoga_uv_event *ev) {
    char name[SARATOGA_SHOWN];
    (void)fprintf(stderr, "%s: %.1f MB in %.2f s, %.2f Mbit/s%s\n",
                  saratoga_shown(name, t->file[0] ? t->file : t->path),
                  (double)ev->stats.bytes / 1e6, seconds(ev), goodput(ev) / 1e6,
                  is_verified(ev) ? ", verified" : ", not verified");
}

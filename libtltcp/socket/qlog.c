/* SPDX-License-Identifier: MPL-2.0 */
/* Writes qlog files. */
#include "libtltcp/socket/qlog.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every record begins with it (RFC 7464). */
#define RECORD_SEPARATOR '\x1e'
#if defined(_WIN32)
#define CREATE "wb" /* its library refuses modes that it does not know */
#else
#define CREATE "wbe" /* programs that are started do not inherit it */
#endif
#define PATH_LEN 4096
#define BUFFER_LEN ((size_t)32 * 1024)
#define MILLION UINT64_C(1000000)
/* From here on a double has no fractional part. */
#define EXACT 9007199254740992.0

struct tltcp__qlog {
    FILE *file;
    uint64_t start;
};

static void put_string(FILE *f, const char *s) {
    fputc('"', f);
    for (; *s != '\0'; s++) {
        unsigned char c = (unsigned char)*s;

        if (c == '"' || c == '\\') {
            fputc('\\', f);
            fputc(c, f);
        } else if (c < 0x20) {
            fprintf(f, "\\u%04x", c);
        } else {
            fputc(c, f);
        }
    }
    fputc('"', f);
}

/* Avoids printf("%f"), which prints a comma in some locales. */
static void put_fixed(FILE *f, uint64_t whole, uint64_t millionths) {
    fprintf(f, "%" PRIu64, whole);
    if (millionths != 0) {
        fprintf(f, ".%06" PRIu64, millionths);
    }
}

static void qlog_put_number(FILE *f, double v) {
    uint64_t whole;
    uint64_t millionths;

    if (!isfinite(v)) {
        fputs("null", f);
        return;
    }
    if (v < 0) {
        fputc('-', f);
        v = -v;
    }
    if (v >= EXACT) {
        fprintf(f, "%.0f.0", v); /* too long for an integer of a reader */
        return;
    }
    whole = (uint64_t)v;
    millionths = (uint64_t)((v - (double)whole) * (double)MILLION + 0.5);
    if (millionths == MILLION) {
        whole++;
        millionths = 0;
    }
    put_fixed(f, whole, millionths);
}

static void qlog_put_head(FILE *f, uint64_t id, bool server) {
    fputc(RECORD_SEPARATOR, f);
    fputs("{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\","
          "\"title\":\"TLTCP connection\",\"trace\":{\"vantage_point\":"
          "{\"name\":\"perigee\",\"type\":",
          f);
    put_string(f, server ? "server" : "client");
    fprintf(f,
            "},\"common_fields\":{\"group_id\":\"%016" PRIx64
            "\",\"protocol_type\":[\"TLTCP\"],\"time_format\":\"relative\","
            "\"reference_time\":0}}}\n",
            id);
}

struct tltcp__qlog *tltcp__qlog_open(const char *dir, uint64_t id, bool server,
                                     uint64_t start) {
    char path[PATH_LEN];
    int len = snprintf(path, sizeof(path), "%s/%016" PRIx64 ".sqlog", dir, id);
    struct tltcp__qlog *q;

    if (len < 0 || len >= (int)sizeof(path)) {
        return NULL;
    }
    q = calloc(1, sizeof(*q));
    if (q == NULL) {
        return NULL;
    }
    q->start = start;
    q->file = fopen(path, CREATE);
    if (q->file == NULL) {
        free(q);
        return NULL;
    }
    (void)setvbuf(q->file, NULL, _IOFBF, BUFFER_LEN);
    qlog_put_head(q->file, id, server);
    return q;
}

void tltcp__qlog_write(struct tltcp__qlog *q, const tltcp_trace_event *ev,
                       unsigned most) {
    FILE *f = q->file;
    uint64_t ns = ev->now > q->start ? ev->now - q->start : 0;

    fputc(RECORD_SEPARATOR, f);
    fputs("{\"time\":", f);
    put_fixed(f, ns / MILLION, ns % MILLION);
    fputs(",\"name\":", f);
    put_string(f, ev->name);
    fputs(",\"data\":{", f);
    for (unsigned i = 0; i < most && ev->keys[i] != NULL; i++) {
        if (i > 0) {
            fputc(',', f);
        }
        put_string(f, ev->keys[i]);
        fputc(':', f);
        qlog_put_number(f, ev->values[i]);
    }
    if (ev->text != NULL) {
        fputs(ev->keys[0] != NULL ? ",\"trigger\":" : "\"trigger\":", f);
        put_string(f, ev->text);
    }
    fputs("}}\n", f);
}

void tltcp__qlog_close(struct tltcp__qlog *q) {
    (void)fclose(q->file);
    free(q);
}

/* SPDX-License-Identifier: MPL-2.0 */
/*
 * tltcp-recv: writes a caller's frames into a file.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tltcp/live_parts.h"
#include "tools/common/address.h"
#include "tools/common/metrics.h"
#include "tools/common/tool.h"
#include "tools/tltcp/libav_log.h"
#include "tools/tltcp/progress.h"
#include "tools/tltcp/reception.h"
#include "tools/tltcp/recv_options.h"
#include "tools/tltcp/recv_stats.h"
#include "tools/tltcp/rights.h"

#define TOOL "tltcp-recv"
#define TICK_NS 200000000

struct server {
    const struct recv_options *options;
    tltcp_socket *listener;
    atomic_bool busy; /* read on the listener's own thread */
    struct reception_wishes wishes;
    struct reception_totals totals;
    struct progress progress;
    struct metrics *metrics;
    struct secrets_rejections watch;
    sigset_t during_wait;
};

/* Runs on the listener's thread.  An accepted caller may still fail the
 * handshake. */
static bool on_caller(void *user, const tltcp_caller *caller, char *reason) {
    struct server *s = user;
    const char *wanted = s->options->from.config->stream_id;
    if (wanted && strcmp(wanted, caller->stream_id) != 0) {
        (void)snprintf(reason, TLTCP_REASON_MAX + 1,
                       "no stream of that name here");
        return false;
    }
    if (atomic_load(&s->busy)) {
        (void)snprintf(reason, TLTCP_REASON_MAX + 1, TLTCP_LIVE_BUSY);
        return false;
    }
    return true;
}

static int write_port(const struct server *s, const char *page) {
    struct address a = {.len = sizeof(a.sa)};
    char text[ADDRESS_TEXT_MAX];
    char both[2 * ADDRESS_TEXT_MAX + 1];
    const char *path = s->options->port_file;
    if (tltcp_local_address(s->listener, (struct sockaddr *)&a.sa, &a.len) !=
        0) {
        return TOOL_OK;
    }
    address_text(&a, text);
    (void)snprintf(both, sizeof(both), "%s%s%s", text, *page ? "\n" : "", page);
    if (path && tool_write_text(TOOL, path, both) != TOOL_OK) {
        return TOOL_FAILED;
    }
    if (!s->options->quiet) {
        (void)fprintf(stderr, "%s: listening on %s\n", TOOL, text);
    }
    return TOOL_OK;
}

static int start_listening(struct server *s) {
    const struct recv_options *o = s->options;
    tltcp_config config = *o->from.config;
    bool any = o->local.host[0] == '\0' || strcmp(o->local.host, "*") == 0;
    char page[ADDRESS_TEXT_MAX];
    int rc = metrics_open(&s->metrics, TOOL, o->metrics, page);
    if (rc != TOOL_OK) {
        return rc;
    }
    config.listener.on_caller = on_caller;
    config.user = s;
    rc = tltcp_listen(&s->listener, any ? NULL : o->local.host, o->local.port,
                      &config);
    if (rc < 0) {
        return tool_fail(TOOL, "cannot listen on %s: %s%s", o->url,
                         tltcp_strerror(rc),
                         rc == TLTCP_ERR_ADDRESS && !any
                             ? "; leave the host out to listen on all addresses"
                             : "");
    }
    return write_port(s, page);
}

static void wait_for(struct server *s, int fd) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    struct timespec tick = {.tv_nsec = TICK_NS};
    if (!s->options->quiet) {
        peer_watch(&s->watch, TOOL, s->listener);
    }
    (void)ppoll(&p, 1, &tick, &s->during_wait);
}

static void tltcp_recv_show(struct server *s, const struct reception *r) {
    struct progress_state state = {
        .done = r ? (double)r->media_time / 1e9 : 0,
        .bytes = s->totals.bytes,
        .end = r ? NULL : "waiting for a caller",
    };
    progress_show(&s->progress, &state, tltcp_now());
}

static void take_section(struct reception *r, const tltcp_live_received *in) {
    const media_section section = {.number = in->number,
                                   .seq = in->seq,
                                   .data = in->data,
                                   .len = in->len,
                                   .missing = in->missing,
                                   .complete = in->complete,
                                   .begins = in->begins,
                                   .meta = in->meta};
    if (in->data && in->complete) {
        reception_section(r, &section, tltcp_now());
    } else if (in->data && in->begins) {
        reception_cut(r, &section, tltcp_now());
    }
    free(in->data);
}

static void add_gaps(struct reception_totals *t,
                     const tltcp_live_receiver *in) {
    tltcp_live_stats st;
    tltcp_live_stats_init(&st);
    tltcp_live_receiver_add_stats(in, &st);
    t->gaps += st.gaps;
    t->gap_bytes += st.gap_bytes;
}

static void add_sections(struct reception_totals *t, tltcp_socket *socket) {
    tltcp_stats st;
    tltcp_stats_init(&st);
    if (tltcp_get_stats(socket, &st) == 0) {
        t->complete += st.sections_complete;
        t->cut += st.sections_cut;
        t->rebuilt += st.bytes_rebuilt;
    }
}

/* Includes the data of the current caller, if there is one. */
static void tltcp_recv_publish(struct server *s, tltcp_socket *socket,
                               const tltcp_live_receiver *in) {
    FILE *page = metrics_begin(s->metrics, tltcp_now());
    struct reception_totals t = s->totals;
    struct figures f = {0};
    if (page) {
        if (in) {
            add_gaps(&t, in);
            add_sections(&t, socket);
        }
        recv_stats(&f, &t);
        figures_text(page, "tltcp_", &f, 1);
        metrics_end(s->metrics, page);
    }
}

/* Returns 0 if the stream ended in order, else a negative code. */
static int receive_all(struct server *s, tltcp_socket *socket,
                       struct reception *r) {
    tltcp_live_receiver *in = tltcp_live_receiver_new(socket);
    tltcp_live_received section;
    int n = in ? TLTCP_ERR_AGAIN : TLTCP_ERR_NOMEM;
    while (n != TLTCP_ERR_NOMEM && !tool_is_stopped() && !r->failed) {
        n = tltcp_live_receiver_next(in, &section, MSG_DONTWAIT);
        if (n > 0) {
            take_section(r, &section);
        }
        tltcp_recv_show(s, r);
        tltcp_recv_publish(s, socket, in);
        if (n == TLTCP_ERR_AGAIN) {
            peer_turn_away(s->listener, TLTCP_LIVE_BUSY);
            wait_for(s, tltcp_fd(socket));
        } else if (n <= 0) {
            break;
        }
    }
    if (in) {
        add_gaps(&s->totals, in);
    }
    tltcp_live_receiver_free(in);
    return n == TLTCP_ERR_AGAIN || n > 0 ? 0 : n;
}

/* film.mkv, film-2.mkv, film-3.mkv ... */
static void output_name(const struct server *s, char *name, size_t size) {
    const char *output = s->options->output;
    const char *slash = strrchr(output, '/');
    const char *dot = strrchr(slash ? slash : output, '.');
    int stem = dot ? (int)(dot - output) : (int)strlen(output);
    if (s->totals.callers < 2 || strcmp(output, "-") == 0) {
        (void)snprintf(name, size, "%s", output);
        return;
    }
    (void)snprintf(name, size, "%.*s-%llu%s", stem, output,
                   (unsigned long long)s->totals.callers, dot ? dot : "");
}

/* `before`: the totals of earlier callers. */
static void tltcp_recv_sum_up(struct server *s, const struct reception *r,
                              const struct reception_totals *before,
                              const char *name) {
    const struct reception_totals *t = &s->totals;
    uint64_t received = 0;
    uint64_t decodable = 0;
    char result[80];
    for (unsigned k = 0; k < TLTCP_LIVE_KIND_COUNT; k++) {
        received += t->kind[k].received - before->kind[k].received;
        decodable += t->kind[k].decodable - before->kind[k].decodable;
    }
    (void)snprintf(result, sizeof(result),
                   "%" PRIu64 " of %" PRIu64 " received frames decodable",
                   decodable, received);
    progress_end(&s->progress, TOOL, name, (double)r->media_time / 1e9,
                 t->bytes - before->bytes, result);
}

static void tell_missing(const struct server *s, const struct reception *r) {
    if (r->missing > 0 && !s->options->quiet) {
        (void)fprintf(stderr,
                      "%s: left out: %u stream%s not fully described in time\n",
                      TOOL, r->missing, r->missing == 1 ? "" : "s");
    }
}

static int tltcp_recv_conclude(const struct server *s,
                               const struct reception *r, const char *name,
                               int error) {
    char why[MUX_WHY_MAX];
    (void)snprintf(why, sizeof(why), "%s", r->why);
    if (why[0] != '\0') {
        return tool_fail(TOOL, "%s: %s", name, why);
    }
    if (tool_is_stopped()) {
        return s->options->once ? tool_fail(TOOL, "interrupted") : TOOL_OK;
    }
    if (error < 0) {
        return tool_fail(TOOL, "connection lost: %s", tltcp_strerror(error));
    }
    if (s->totals.foreign > 0 && s->totals.foreign >= s->totals.complete) {
        return tool_fail(TOOL, "the caller does not send media");
    }
    if (!r->ended) {
        return tool_fail(TOOL, "the caller left before the end of its stream");
    }
    return TOOL_OK;
}

/* A sender waits for this after its last frame. */
static void tltcp_recv_close(tltcp_socket *socket, const char *why, int rc) {
    char reason[TLTCP_REASON_MAX + 1];
    if (why[0] != '\0') {
        (void)snprintf(reason, sizeof(reason), "the receiver's file: %.*s",
                       TLTCP_REASON_MAX - 24, why);
        (void)tltcp_abort(socket, reason);
    } else {
        (void)tltcp_close(socket, rc == TOOL_OK ? 1000 : 0);
    }
}

static int serve(struct server *s, tltcp_socket *socket) {
    const struct reception_totals before = s->totals;
    struct reception r;
    char name[4096];
    char why[MUX_WHY_MAX];
    struct mux *mux;
    int error;
    int rc;
    s->totals.callers++;
    output_name(s, name, sizeof(name));
    mux = mux_open(name, s->options->format, why);
    if (!mux) {
        tltcp_recv_close(socket, why, TOOL_FAILED);
        return tool_fail(TOOL, "%s: %s", name, why);
    }
    reception_init(&r, &s->wishes, &s->totals, mux);
    error = receive_all(s, socket, &r);
    add_sections(&s->totals, socket);
    (void)reception_end(&r);
    tltcp_recv_sum_up(s, &r, &before, name);
    tell_missing(s, &r);
    rc = tltcp_recv_conclude(s, &r, name, error);
    tltcp_recv_close(socket, r.why, rc);
    return rc;
}

/* Reports the peer, for later readers of the log. */
static void tell_identity(struct server *s, const tltcp_socket *socket) {
    const uint8_t *key = tltcp_identity(socket);
    char name[TLTCP_LIVE_NAME_MAX];
    char shown[TLTCP_LIVE_NAME_MAX];
    if (key && !s->options->quiet) {
        tltcp_live_options_caller_name(s->options->from.live, key, name);
        progress_clear(&s->progress);
        (void)fprintf(stderr, "%s: caller is %s\n", TOOL,
                      tool_shown(shown, sizeof(shown), name));
    }
}

static int serve_callers(struct server *s) {
    int rc = TOOL_OK;
    while (!tool_is_stopped()) {
        tltcp_socket *socket = NULL;
        int error = tltcp_accept(s->listener, &socket, 0);
        if (error == TLTCP_ERR_AGAIN) {
            tltcp_recv_show(s, NULL);
            tltcp_recv_publish(s, NULL, NULL);
            wait_for(s, tltcp_fd(s->listener));
            continue;
        }
        if (error < 0) {
            return tool_fail(TOOL, "can no longer listen: %s",
                             tltcp_strerror(error));
        }
        atomic_store(&s->busy, true);
        tell_identity(s, socket);
        rc = serve(s, socket);
        if (s->options->once) {
            return rc;
        }
        atomic_store(&s->busy, false);
    }
    progress_clear(&s->progress);
    if (s->options->once) {
        return tool_fail(TOOL, "interrupted before the first call");
    }
    return rc;
}

static json_t *tltcp_recv_report(const struct reception_totals *t) {
    struct figures f = {0};
    json_t *json = json_object();
    recv_stats(&f, t);
    figures_json(&f, json);
    return json;
}

static int open_frames(struct server *s) {
    const char *path = s->options->frames;
    if (!path) {
        return TOOL_OK;
    }
    s->wishes.csv = fopen(path, "we");
    if (!s->wishes.csv) {
        return tool_fail(TOOL, "cannot write %s: %s", path, strerror(errno));
    }
    (void)fputs("caller,stream,number,type,class,bytes,pts_ms,dts_ms,"
                "arrival_ms,state,margin_ms\n",
                s->wishes.csv);
    return TOOL_OK;
}

static int tltcp_recv_run(struct server *s) {
    int rc = open_frames(s);
    if (rc == TOOL_OK) {
        rc = start_listening(s);
    }
    if (rc == TOOL_OK) {
        tool_catch_signals(&s->during_wait);
        (void)signal(SIGPIPE, SIG_IGN); /* the error reports it */
        rc = serve_callers(s);
        if (s->options->json &&
            tool_write_json(TOOL, s->options->json,
                            tltcp_recv_report(&s->totals)) != TOOL_OK) {
            rc = TOOL_FAILED;
        }
    }
    (void)tltcp_close(s->listener, 0);
    metrics_close(s->metrics);
    if (s->wishes.csv && fclose(s->wishes.csv) != 0) {
        rc = tool_fail(TOOL, "cannot write %s", s->options->frames);
    }
    return rc;
}

/* Errors in the name should show before the first call. */
static int check_output(const struct recv_options *o) {
    char why[MUX_WHY_MAX];
    struct mux *m = mux_open(o->output, o->format, why);
    if (!m) {
        return tool_misuse(TOOL, "%s: %s", o->output, why);
    }
    (void)mux_close(m, why);
    if (!tool_can_write(TOOL, o->output) || !tool_can_write(TOOL, o->json)) {
        return TOOL_FAILED;
    }
    return TOOL_OK;
}

int main(int argc, char **argv) {
    static struct recv_options options;
    struct server *s;
    int rc = recv_options_parse(argc, argv, &options);
    if (rc >= 0) {
        return rc;
    }
    libav_log_listen();
    rc = check_output(&options);
    if (rc != TOOL_OK) {
        return rc;
    }
    (void)media_rights_drop(
        &(struct media_rights){.media = options.output,
                               .write = true,
                               .host = options.local.host,
                               .json = options.json,
                               .frames = options.frames,
                               .port_file = options.port_file,
                               .metrics = options.metrics,
                               .peer = &options.from});
    s = calloc(1, sizeof(*s));
    if (!s) {
        return tool_fail(TOOL, "out of memory");
    }
    s->options = &options;
    s->wishes.latency =
        options.from.settings->has_latency
            ? (int64_t)options.from.settings->latency_ms * 1000000
            : -1;
    s->wishes.keep_broken = options.keep_broken;
    progress_init(&s->progress, options.quiet);
    rc = tltcp_recv_run(s);
    free(s);
    return rc;
}

/* SPDX-License-Identifier: MPL-2.0 */
/*
 * tltcp-send: sends a file's frames over TLTCP, each with a deadline.
 */
#include <inttypes.h>
#include <libavutil/log.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/common/address.h"
#include "tools/common/metrics.h"
#include "tools/common/tool.h"
#include "tools/tltcp/progress.h"
#include "tools/tltcp/rights.h"
#include "tools/tltcp/send_stats.h"
#include "tools/tltcp/sender.h"

#define TOOL "tltcp-send"
#define TICK_NS UINT64_C(200000000)
#define LINGER_MS 2000
#define CONFIRM_NS UINT64_C(5000000000)

struct job {
    const struct send_options *options;
    struct source *source;
    struct sender sender;
    struct progress progress;
    struct metrics *metrics;
    struct source_frame next; /* read, not yet sent */
    bool has_next;
    bool over;       /* nothing more to read */
    bool broken;     /* the input ended in the middle */
    uint64_t end_by; /* when not to wait for the receiver's end any longer; 0:
                        frames are on their way */
    uint64_t loops_left;
    int64_t media_time; /* of the newest frame sent */
    uint64_t stats_next;
    sigset_t during_wait;
    char why[SOURCE_WHY_MAX];
};

static void read_next(struct job *j) {
    int rc;
    while (!j->has_next && !j->over) {
        rc = source_next(j->source, &j->next, j->why);
        if (rc == SOURCE_FRAME) {
            j->has_next = true;
        } else if (rc != SOURCE_BROKEN && --j->loops_left == 0) {
            j->over = true;
        } else if (rc == SOURCE_BROKEN || !source_rewind(j->source, j->why)) {
            j->over = j->broken = true;
        }
    }
}

/* Pushes due frames; returns the time of the next one. */
static uint64_t push_due(struct job *j) {
    for (;;) {
        uint64_t when;
        read_next(j);
        if (!j->has_next) {
            return TLTCP_TIME_NEVER;
        }
        when = sender_time(&j->sender, &j->next);
        if (when > tltcp_now()) {
            return when;
        }
        if (!tltcp_live_sender_has_room(j->sender.out, 0)) {
            return TLTCP_TIME_NEVER;
        }
        if (!sender_push(&j->sender, &j->next)) {
            j->over = j->broken = true;
            (void)snprintf(j->why, sizeof(j->why), "out of memory");
        }
        j->media_time = j->next.times.dts;
        j->has_next = false;
    }
}

static uint64_t bytes_sent(const struct job *j) {
    tltcp_stats st;
    tltcp_stats_init(&st);
    (void)tltcp_get_stats(tltcp_live_sender_socket(j->sender.out), &st);
    return st.wire_bytes_sent;
}

static void tltcp_send_show(struct job *j) {
    int64_t total = source_duration(j->source);
    struct progress_state state = {
        .done = (double)j->media_time / 1e9,
        .total = (double)total / 1e9 * (double)j->options->loops,
        .speed = j->options->speed,
        .bytes = bytes_sent(j),
    };
    progress_show(&j->progress, &state, tltcp_now());
}

static void stats_line(struct job *j) {
    tltcp_stats st;
    uint64_t now = tltcp_now();
    tltcp_live_stats sent;
    if (j->options->stats_interval == 0 || now < j->stats_next) {
        return;
    }
    j->stats_next = now + j->options->stats_interval;
    tltcp_stats_init(&st);
    (void)tltcp_get_stats(tltcp_live_sender_socket(j->sender.out), &st);
    tltcp_live_stats_init(&sent);
    tltcp_live_sender_add_stats(j->sender.out, &sent);
    progress_clear(&j->progress);
    (void)fprintf(stderr,
                  "%s: %.1f s, delivered %" PRIu64 " of %" PRIu64
                  " sections, expired %" PRIu64 ", srtt %.1f ms, cwnd %" PRIu64
                  " bytes, estimate %.2f Mbit/s, lost %.2f %%\n",
                  TOOL, (double)j->media_time / 1e9, sent.sections.delivered,
                  sent.sections.offered, send_stats_expired(&sent.sections),
                  (double)st.srtt_ns / 1e6, st.cwnd_bytes,
                  (double)st.estimated_bps / 1e6, st.loss_rate * 100);
}

static void take_stats(const struct job *j, const tltcp_stats *st,
                       double seconds, struct figures *f) {
    tltcp_live_stats sent;
    tltcp_live_stats_init(&sent);
    tltcp_live_sender_add_stats(j->sender.out, &sent);
    send_stats(f, &sent, st, seconds);
}

static void tltcp_send_publish(struct job *j) {
    uint64_t now = tltcp_now();
    FILE *page = metrics_begin(j->metrics, now);
    struct figures f = {0};
    tltcp_stats st;
    if (page) {
        tltcp_stats_init(&st);
        (void)tltcp_get_stats(tltcp_live_sender_socket(j->sender.out), &st);
        take_stats(j, &st, (double)(now - j->sender.start) / 1e9, &f);
        figures_text(page, "tltcp_", &f, 1);
        metrics_end(j->metrics, page);
    }
}

static void wait_until(struct job *j, uint64_t when) {
    struct pollfd fds[TLTCP_LIVE_FDS];
    int fd[TLTCP_LIVE_FDS];
    int n = tltcp_live_sender_fds(j->sender.out, fd);
    uint64_t now = tltcp_now();
    uint64_t wait = when > now ? when - now : 0;
    struct timespec timeout;
    wait = wait < TICK_NS ? wait : TICK_NS;
    timeout.tv_sec = 0;
    timeout.tv_nsec = (long)wait;
    for (int i = 0; i < n; i++) {
        fds[i] = (struct pollfd){.fd = fd[i], .events = POLLIN};
    }
    (void)ppoll(fds, (nfds_t)n, &timeout, &j->during_wait);
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* Everything has arrived. The receiver closes the connection when its file is
 * complete, or says why it is not. */
static void await_end(struct job *j) {
    (void)tltcp_shutdown(tltcp_live_sender_socket(j->sender.out));
    j->end_by = j->end_by ? j->end_by : tltcp_now() + CONFIRM_NS;
}

static void tltcp_send_run(struct job *j) {
    bool finished = false;
    while (!tool_is_stopped() && !tltcp_live_sender_is_closed(j->sender.out) &&
           (j->end_by == 0 || tltcp_now() < j->end_by)) {
        uint64_t frame = push_due(j);
        uint64_t when = TLTCP_TIME_NEVER;
        (void)tltcp_live_sender_run(j->sender.out);
        if (j->over && !j->has_next &&
            tltcp_live_sender_is_idle(j->sender.out)) {
            if (finished) {
                await_end(j);
            } else {
                sender_finish(&j->sender);
                finished = true;
            }
        }
        tltcp_send_show(j);
        stats_line(j);
        tltcp_send_publish(j);
        if (tltcp_live_sender_has_room(j->sender.out, 0)) {
            when = earlier(when, frame);
        }
        wait_until(j, when);
    }
}

/* --- Statistics ----------------------------------------------------------- */

static void tltcp_send_sum_up(struct job *j) {
    tltcp_live_stats sent;
    uint64_t offered = 0;
    uint64_t delivered = 0;
    char result[80];
    tltcp_live_stats_init(&sent);
    tltcp_live_sender_add_stats(j->sender.out, &sent);
    for (unsigned k = 0; k < TLTCP_LIVE_KIND_COUNT; k++) {
        offered += sent.kinds[k].offered;
        delivered += sent.kinds[k].delivered;
    }
    (void)snprintf(result, sizeof(result),
                   "%" PRIu64 " of %" PRIu64 " frames arrived", delivered,
                   offered);
    progress_end(&j->progress, TOOL, j->options->input,
                 (double)j->media_time / 1e9, sent.bytes_offered, result);
}

static json_t *tltcp_send_report(const struct job *j, const tltcp_stats *st,
                                 double seconds) {
    struct figures f = {0};
    json_t *json = json_object();
    take_stats(j, st, seconds, &f);
    figures_json(&f, json);
    (void)json_object_set_new(json, "congestion", json_string(st->congestion));
    (void)json_object_set_new(json, "recovery", json_string(st->recovery));
    (void)json_object_set_new(json, "transport", json_string(st->transport));
    return json;
}

/* --- The whole ------------------------------------------------------------ */

static int tltcp_send_conclude(struct job *j) {
    const struct send_options *o = j->options;
    if (j->broken) {
        return tool_fail(TOOL, "%s: %s", o->input, j->why);
    }
    /* A receiver that has everything may close without waiting for us. */
    if (j->sender.error < 0 && (j->end_by == 0 || j->sender.reason[0])) {
        return sender_lost(&j->sender);
    }
    if (tool_is_stopped() && j->end_by == 0) {
        return tool_fail(TOOL, "interrupted");
    }
    if (!j->over) {
        return tool_fail(TOOL, "%s closed the connection before the end",
                         o->url);
    }
    return TOOL_OK;
}

static int open_metrics(struct job *j) {
    char at[ADDRESS_TEXT_MAX];
    int rc = metrics_open(&j->metrics, TOOL, j->options->metrics, at);
    if (rc == TOOL_OK && at[0] && !j->options->quiet) {
        (void)fprintf(stderr, "%s: statistics are at http://%s/metrics\n", TOOL,
                      at);
    }
    return rc;
}

static int send_all(struct job *j) {
    tltcp_stats st;
    double seconds;
    int rc;
    tltcp_stats_init(&st);
    rc = open_metrics(j);
    if (rc != TOOL_OK) {
        return rc;
    }
    rc = sender_open(&j->sender, j->options, j->source);
    if (rc != TOOL_OK) {
        (void)sender_free(&j->sender);
        return rc;
    }
    tool_catch_signals(&j->during_wait);
    tltcp_send_run(j);
    (void)tltcp_get_stats(tltcp_live_sender_socket(j->sender.out), &st);
    seconds = (double)(tltcp_now() - j->sender.start) / 1e9;
    (void)tltcp_live_sender_close(j->sender.out, LINGER_MS);
    tltcp_send_sum_up(j);
    rc = tltcp_send_conclude(j);
    if (j->options->json &&
        tool_write_json(TOOL, j->options->json,
                        tltcp_send_report(j, &st, seconds)) != TOOL_OK) {
        rc = TOOL_FAILED;
    }
    if (!sender_free(&j->sender)) {
        rc = tool_fail(TOOL, "cannot write %s", j->options->frames);
    }
    return rc;
}

static void say_what_is_left_out(const struct job *j) {
    char what[SOURCE_WHY_MAX];
    char input[SOURCE_WHY_MAX];
    source_left_out(j->source, what);
    if (what[0] && !j->options->quiet) {
        (void)fprintf(stderr, "%s: %s: left out: %s\n", TOOL,
                      tool_shown(input, sizeof(input), j->options->input),
                      what);
    }
}

int main(int argc, char **argv) {
    static struct send_options options;
    static struct job job;
    int rc = send_options_parse(argc, argv, &options);
    if (rc >= 0) {
        return rc;
    }
    if (!tool_can_write(TOOL, options.json) ||
        !tool_can_write(TOOL, options.frames)) {
        return TOOL_FAILED;
    }
    av_log_set_level(AV_LOG_QUIET); /* our own message gives the cause */
    job = (struct job){.options = &options, .loops_left = options.loops};
    progress_init(&job.progress, options.quiet);
    (void)media_rights_drop(&(struct media_rights){.media = options.input,
                                                   .host = options.peer.host,
                                                   .json = options.json,
                                                   .frames = options.frames,
                                                   .metrics = options.metrics,
                                                   .peer = &options.to});
    job.source = source_open(options.input, job.why);
    if (!job.source) {
        return tool_fail(TOOL, "%s: %s", options.input, job.why);
    }
    say_what_is_left_out(&job);
    rc = send_all(&job);
    metrics_close(job.metrics);
    source_close(job.source);
    return rc;
}

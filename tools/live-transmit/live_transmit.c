/* SPDX-License-Identifier: MPL-2.0 */
/*
 * tltcp-live-transmit: a live stream from here to there, by way of TLTCP.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "internal/media/stream/ts.h"
#include "tltcp/live_parts.h"
#include "tools/common/tool.h"
#include "tools/live-transmit/fd.h"
#include "tools/live-transmit/link.h"
#include "tools/live-transmit/out.h"
#include "tools/live-transmit/release.h"
#include "tools/live-transmit/stats.h"
#include "tools/tltcp/frame_log.h"

#define TOOL "tltcp-live-transmit"
#define NS_PER_MS UINT64_C(1000000)
#define TICK_NS (200 * NS_PER_MS)
#define LINGER_MS 2000
#define READ_MAX 65536
#define DATAGRAMS 64      /* between two looks at everything else */
#define QUEUE_MAX 4000000 /* bytes; files and pipes wait beyond it */
/* A pipe may be this far ahead of its own time line; a program that is as fast
 * as it can be is held up then. */
#define PIPE_AHEAD UINT64_C(1000000000)
#define JUMP UINT64_C(10000000000)

struct job {
    const struct transmit_options *o;
    uint64_t start;
    int status;       /* to exit with; -1: goes on */
    bool over;        /* the input has ended */
    uint64_t stop_at; /* after a signal; 0: there was none */
    int in_fd;
    struct out out; /* unless output is by TLTCP */

    struct link source;  /* input by TLTCP */
    tltcp_live *from;    /* its connection */
    bool described;      /* the peer sends a transport stream */
    uint32_t latency_ms; /* as it says */
    char why[160];       /* what it sends cannot be taken; or "" */
    struct release release;

    struct link target;      /* output by TLTCP */
    tltcp_live_sender *feed; /* its connection */
    int feed_error;          /* why it is over */
    char feed_reason[TLTCP_REASON_MAX + 1];
    bool finished; /* it was told of the end */
    tltcp_live_stream *stream;
    bool no_memory; /* while sending */
    struct frame_log log;
    bool anchored; /* the time line of a file or pipe is on the clock */
    int64_t anchor_media;
    uint64_t anchor_clock;

    struct transmit_totals totals;
    tltcp_stats last; /* of the newest connection, at its end */
    uint64_t stats_next;
    FILE *stats;
    bool stats_begun;
    sigset_t during_wait;
    uint8_t buffer[READ_MAX];
};

static bool sends(const struct job *j) {
    return j->o->out.kind == ENDPOINT_TLTCP;
}

static bool receives(const struct job *j) {
    return j->o->in.kind == ENDPOINT_TLTCP;
}

static void end_with(struct job *j, int status) {
    if (j->status < 0) {
        j->status = status;
    }
}

static void no_memory(struct job *j) {
    end_with(j, tool_fail(TOOL, "out of memory"));
}

/* --- From the input to the output ----------------------------------------- */

static void on_written(struct job *j, bool ok) {
    if (!ok) {
        end_with(j, tool_fail(TOOL, "cannot write %s: %s", j->o->out.text,
                              strerror(errno)));
    }
}

static void deliver(struct job *j, const uint8_t *data, size_t len,
                    uint64_t now) {
    j->totals.bytes_in += len;
    if (sends(j)) {
        if (tltcp_live_stream_write_ts(j->stream, data, len, now) < 0 ||
            j->no_memory) {
            no_memory(j);
        }
        return;
    }
    /* Units of a transport stream that go at the same time share datagrams. */
    on_written(j, j->o->out.kind == ENDPOINT_UDP && j->described
                      ? out_pack(&j->out, data, len)
                      : out_write(&j->out, data, len));
}

static void end_input(struct job *j) {
    j->over = true;
    if (sends(j)) {
        (void)tltcp_live_stream_flush(j->stream, NULL);
    }
}

/* --- Files, pipes, UDP as input ------------------------------------------- */

/* When what was read last is to be sent by its own time line. */
static uint64_t scheduled(struct job *j, uint64_t now) {
    int64_t time = tltcp_live_stream_ts_time(j->stream);
    uint64_t due;
    if (j->o->in.kind == ENDPOINT_UDP || time == TLTCP_LIVE_TIME_NONE) {
        return now;
    }
    due = j->anchor_clock + (uint64_t)(time - j->anchor_media);
    if (!j->anchored || due < now || due - now > JUMP) {
        j->anchored = true;
        j->anchor_media = time;
        j->anchor_clock = due = now;
    }
    return due;
}

/* Whether to read on, or at *when. */
static bool may_read(struct job *j, uint64_t now, uint64_t *when) {
    uint64_t ahead = j->o->in.kind == ENDPOINT_PIPE ? PIPE_AHEAD : 0;
    uint64_t due;
    if (j->over || receives(j)) {
        return false;
    }
    if (j->o->in.kind == ENDPOINT_UDP) {
        return true; /* waits for nobody */
    }
    if (!j->feed || tltcp_live_sender_bytes(j->feed) > QUEUE_MAX) {
        return false;
    }
    due = scheduled(j, now);
    if (due > now + ahead) {
        *when = due - ahead < *when ? due - ahead : *when;
        return false;
    }
    return true;
}

static void read_datagrams(struct job *j, uint64_t now) {
    for (int i = 0; i < DATAGRAMS; i++) {
        ssize_t n = read(j->in_fd, j->buffer, sizeof(j->buffer));
        if (n < 0) {
            return; /* none, or an ICMP message about another one */
        }
        deliver(j, j->buffer, (size_t)n, now);
    }
}

static void read_bytes(struct job *j, uint64_t now) {
    ssize_t n = read(j->in_fd, j->buffer, (size_t)7 * MEDIA_TS_PACKET);
    uint64_t due = scheduled(j, now);
    if (n > 0) {
        deliver(j, j->buffer, (size_t)n, due > now ? due : now);
    } else if (n == 0) {
        end_input(j);
    } else if (errno != EINTR && errno != EAGAIN) {
        end_with(j, tool_fail(TOOL, "cannot read %s: %s", j->o->in.text,
                              strerror(errno)));
    }
}

/* --- A connection as input ------------------------------------------------ */

static void on_frame(struct job *j, const tltcp_live_frame *f) {
    const tltcp_live_settings *from = j->o->in.to.settings;
    uint64_t latency = from->has_latency ? from->latency_ms : j->latency_ms;
    if (!f->complete) {
        return;
    }
    if (sends(j) || j->o->immediate) {
        deliver(j, f->data, f->len, f->arrived);
    } else if (!release_push(&j->release, f, latency * NS_PER_MS)) {
        no_memory(j);
    }
}

static void on_format(struct job *j, unsigned stream) {
    tltcp_live_format f;
    tltcp_live_format_init(&f);
    (void)tltcp_live_get_format(j->from, stream, &f);
    if ((f.codec && strncmp(f.codec, "mpegts", 6) == 0) ||
        (f.caps && strncmp(f.caps, "video/mpegts", 12) == 0)) {
        j->described = true;
        j->latency_ms = f.latency_ms;
        return;
    }
    (void)snprintf(j->why, sizeof(j->why),
                   "the peer sends single streams (%.40s), no transport "
                   "stream; tltcp-recv takes them",
                   f.codec ? f.codec : "");
}

static void begin_source(struct job *j, tltcp_socket *s) {
    j->totals.connections++;
    j->described = false;
    j->why[0] = '\0';
    release_restart(&j->release);
    if (tltcp_live_open_socket(&j->from, TLTCP_LIVE_RECEIVE, s, NULL) < 0) {
        no_memory(j);
    }
}

static void add_received(struct job *j) {
    tltcp_live_stats st;
    tltcp_live_stats_init(&st);
    (void)tltcp_live_get_stats(j->from, &st);
    j->totals.media.sections_complete += st.sections_complete;
    j->totals.media.sections_cut += st.sections_cut;
    j->totals.media.gap_bytes += st.gap_bytes;
}

static void close_source(struct job *j, int linger_ms) {
    (void)tltcp_live_get_connection_stats(j->from, 0, &j->last);
    add_received(j);
    tltcp_live_close(j->from, linger_ms);
    j->from = NULL;
}

static void end_source(struct job *j, int error) {
    const char *why = j->why[0]   ? j->why
                      : error < 0 ? tltcp_strerror(error)
                                  : "the stream has ended";
    bool bad = error < 0 || j->why[0];
    close_source(j, bad ? 0 : LINGER_MS);
    link_lost(&j->source, error, "");
    if (j->o->reconnect) {
        link_say(&j->source, why, "");
        return;
    }
    if (bad) {
        end_with(j, tool_fail(TOOL, "%s: %s", j->o->in.text, why));
    }
    end_input(j);
}

static void read_source(struct job *j) {
    tltcp_live_frame f;
    int n = 1;
    while (j->status < 0 && n > 0 && !j->why[0]) {
        tltcp_live_frame_init(&f);
        n = tltcp_live_read(j->from, &f, 0);
        if (n == TLTCP_LIVE_READ_FRAME) {
            on_frame(j, &f);
        } else if (n == TLTCP_LIVE_READ_FORMAT) {
            on_format(j, f.stream);
        }
    }
    if (n != TLTCP_ERR_AGAIN) {
        end_source(j, n < 0 ? n : 0);
    }
}

static void run_source(struct job *j, uint64_t *when) {
    tltcp_socket *s = NULL;
    if (!j->from && !j->over) {
        int rc = link_run(&j->source, &s, when);
        if (rc != TOOL_OK) {
            end_with(j, rc);
        } else if (s) {
            begin_source(j, s);
        }
    }
    if (j->from) {
        read_source(j);
    }
}

static void run_release(struct job *j, uint64_t now, uint64_t *when) {
    size_t len;
    const uint8_t *data;
    while (release_when(&j->release) <= now && j->status < 0) {
        data = release_peek(&j->release, &len);
        deliver(j, data, len, now);
        release_pop(&j->release);
    }
    if (release_when(&j->release) < *when) {
        *when = release_when(&j->release);
    }
}

/* --- A connection as output ----------------------------------------------- */

static void on_feed_event(void *user, const tltcp_live_event *ev) {
    struct job *j = user;
    if (ev->type == TLTCP_LIVE_EVENT_DISCONNECTED) {
        j->feed_error = ev->error;
        memcpy(j->feed_reason, ev->reason, sizeof(j->feed_reason));
    }
    frame_log_event(&j->log, ev);
}

static void on_section(void *user, tltcp_live_section *section) {
    struct job *j = user;
    if (j->feed && tltcp_live_sender_push(j->feed, section) < 0) {
        j->no_memory = true;
    }
}

static bool open_log(struct job *j) {
    const char *frames = j->o->frames;
    if (j->totals.connections > 0) {
        return true; /* the file has those of the first */
    }
    if (!frame_log_open(&j->log, frames)) {
        end_with(
            j, tool_fail(TOOL, "cannot write %s: %s", frames, strerror(errno)));
        return false;
    }
    j->log.start = tltcp_now();
    return true;
}

static void begin_target(struct job *j, tltcp_socket *s) {
    tltcp_live_section *config;
    if (!open_log(j)) {
        (void)tltcp_close(s, 0);
        return;
    }
    j->feed = tltcp_live_sender_new(s, j->o->out.to.settings, on_feed_event, j);
    if (!j->feed) {
        no_memory(j);
        return;
    }
    j->totals.connections++;
    j->anchored = false;
    j->feed_error = 0;
    j->feed_reason[0] = '\0';
    config = tltcp_live_stream_describe(j->stream, 1);
    if (config) {
        on_section(j, config);
        tltcp_live_section_unref(config);
        tltcp_live_sender_join(j->feed);
    }
}

static void end_target(struct job *j, int linger_ms) {
    (void)tltcp_get_stats(tltcp_live_sender_socket(j->feed), &j->last);
    (void)tltcp_live_sender_close(j->feed, linger_ms);
    tltcp_live_sender_add_stats(j->feed, &j->totals.media);
    j->totals.bytes_out += j->last.bytes_delivered;
    tltcp_live_sender_free(j->feed);
    j->feed = NULL;
    if (!frame_log_close(&j->log)) {
        end_with(j, tool_fail(TOOL, "cannot write %s", j->o->frames));
    }
    link_lost(&j->target, j->feed_error, j->feed_reason);
}

static void lose_target(struct job *j) {
    char why[TLTCP_REASON_MAX + 1];
    int error = j->feed_error;
    (void)snprintf(why, sizeof(why), "%s",
                   j->feed_reason[0] ? j->feed_reason
                   : error < 0       ? tltcp_strerror(error)
                                     : "the peer closed the connection");
    end_target(j, 0);
    if (j->o->reconnect) {
        link_say(&j->target, why, "");
    } else {
        end_with(j, tool_fail(TOOL, "%s: %s", j->o->out.text, why));
    }
}

static void send_end(struct job *j) {
    tltcp_live_section *end = tltcp_live_stream_mark(
        j->stream, TLTCP_LIVE_MARK_END, TLTCP_LIVE_TIME_NONE,
        TLTCP_LIVE_TIME_NONE, NULL, 0);
    if (end) {
        on_section(j, end);
        tltcp_live_section_unref(end);
    }
    (void)tltcp_live_sender_run(j->feed);
    j->finished = true;
}

/* After the end of the input: what was sent shall arrive, then the peer shall
 * know. */
static void finish_target(struct job *j) {
    if (!j->feed) {
        end_with(j, TOOL_OK);
    } else if (tltcp_live_sender_is_idle(j->feed) && !j->finished &&
               !tltcp_live_sender_is_closed(j->feed)) {
        send_end(j);
    } else if (tltcp_live_sender_is_idle(j->feed)) {
        end_target(j, LINGER_MS);
        end_with(j, TOOL_OK);
    }
}

/* Some peers close as soon as they have heard of the end. */
static bool peer_has_all(const struct job *j) {
    return j->over && j->feed_error >= 0 &&
           tltcp_live_sender_has_room(j->feed, 0);
}

static void run_target(struct job *j, uint64_t *when) {
    tltcp_socket *s = NULL;
    tltcp_time at;
    if (!j->feed) {
        int rc = link_run(&j->target, &s, when);
        if (rc != TOOL_OK) {
            end_with(j, rc);
        } else if (s) {
            begin_target(j, s);
        }
    }
    if (j->feed) {
        at = tltcp_live_sender_run(j->feed);
        *when = at < *when ? at : *when;
        if (tltcp_live_sender_is_closed(j->feed) && !peer_has_all(j)) {
            lose_target(j);
        }
    }
    if (j->over) {
        finish_target(j);
    }
}

/* What is lost before it is here looks like a bad link to who watches it. */
static void watch_input(struct job *j) {
    uint64_t dropped = fd_dropped(&j->o->in, j->in_fd);
    if (dropped > 0 && j->totals.input_dropped == 0 && !j->o->quiet) {
        (void)fprintf(
            stderr,
            "%s: %s: datagrams come faster than they are taken, some "
            "are lost; buffer=16MB may help, or a less busy machine\n",
            TOOL, j->o->in.text);
    }
    j->totals.input_dropped = dropped;
}

/* --- Statistics ----------------------------------------------------------- */

static json_t *statistics(struct job *j, uint64_t now) {
    struct transmit_totals t;
    tltcp_stats st = j->last;
    struct transmit_totals before = j->totals;
    watch_input(j);
    if (j->from) {
        (void)tltcp_live_get_connection_stats(j->from, 0, &st);
        add_received(j);
    }
    t = j->totals;
    j->totals.media = before.media;
    t.bytes_out += j->out.written;
    if (j->feed) {
        (void)tltcp_get_stats(tltcp_live_sender_socket(j->feed), &st);
        tltcp_live_sender_add_stats(j->feed, &t.media);
        t.bytes_out += st.bytes_delivered;
    }
    return totals_json(&t, &st, j->feed || j->from,
                       (double)(now - j->start) / 1e9);
}

static void print_stats(struct job *j, uint64_t now) {
    if (j->o->stats_interval == 0 || now < j->stats_next) {
        return;
    }
    j->stats_next = now + j->o->stats_interval;
    totals_print(j->stats, j->o->stats_format, statistics(j, now),
                 !j->stats_begun);
    j->stats_begun = true;
}

/* --- All of it ------------------------------------------------------------ */

static void check_timeout(struct job *j, uint64_t now) {
    if (j->o->timeout == 0 || now - j->start < j->o->timeout ||
        (j->o->timeout_connecting && j->totals.connections > 0)) {
        return;
    }
    if (j->o->timeout_connecting) {
        end_with(j, tool_fail(TOOL, "nobody connected in time"));
    } else {
        end_with(j, TOOL_OK);
    }
}

static nfds_t add_fds(struct pollfd *fds, nfds_t n, const int *fd, int count) {
    for (int i = 0; i < count; i++) {
        fds[n++] = (struct pollfd){.fd = fd[i], .events = POLLIN};
    }
    return n;
}

static nfds_t poll_set(const struct job *j, bool reads, struct pollfd *fds) {
    int fd[TLTCP_LIVE_FDS];
    tltcp_time when;
    nfds_t n = 0;
    if (reads) {
        fds[n++] = (struct pollfd){.fd = j->in_fd, .events = POLLIN};
    }
    if (receives(j) && j->from) {
        n = add_fds(fds, n, fd, tltcp_live_fds(j->from, fd, &when));
    } else if (receives(j) && !j->over) {
        n += link_poll(&j->source, fds + n);
    }
    if (sends(j) && j->feed) {
        n = add_fds(fds, n, fd, tltcp_live_sender_fds(j->feed, fd));
    } else if (sends(j)) {
        n += link_poll(&j->target, fds + n);
    }
    return n;
}

/* Waits; returns whether the input can be read. */
static bool wait_until(struct job *j, bool reads, uint64_t when) {
    struct pollfd fds[1 + 2 * LINK_FDS];
    nfds_t n = poll_set(j, reads, fds);
    uint64_t now = tltcp_now();
    uint64_t wait = when > now ? when - now : 0;
    struct timespec timeout = {.tv_nsec =
                                   (long)(wait < TICK_NS ? wait : TICK_NS)};
    return ppoll(fds, n, &timeout, &j->during_wait) > 0 && reads &&
           fds[0].revents;
}

/* Whether a signal ends it now; what was sent has a while to arrive. */
static bool is_stopped(struct job *j) {
    if (!tool_is_stopped()) {
        return false;
    }
    if (!j->feed) {
        return true;
    }
    if (j->stop_at == 0) {
        j->stop_at = tltcp_now() + LINGER_MS * NS_PER_MS;
        end_input(j);
    }
    return tltcp_now() >= j->stop_at;
}

static void watch_callers(struct job *j, uint64_t *when) {
    uint64_t source = link_watch(&j->source);
    uint64_t target = link_watch(&j->target);
    *when = source < *when ? source : *when;
    *when = target < *when ? target : *when;
}

static void run(struct job *j) {
    bool readable = false;
    while (j->status < 0 && !is_stopped(j)) {
        uint64_t when = TLTCP_TIME_NEVER;
        uint64_t now = tltcp_now();
        bool reads;
        if (readable && j->o->in.kind == ENDPOINT_UDP) {
            read_datagrams(j, now);
        } else if (readable) {
            read_bytes(j, now);
        }
        if (receives(j)) {
            run_source(j, &when);
            run_release(j, now, &when);
            on_written(j, out_flush(&j->out));
        }
        if (sends(j)) {
            run_target(j, &when);
        } else if (j->over && release_when(&j->release) == TLTCP_TIME_NEVER) {
            end_with(j, TOOL_OK);
        }
        watch_callers(j, &when);
        if (readable) {
            watch_input(j);
        }
        print_stats(j, now);
        check_timeout(j, now);
        reads = may_read(j, now, &when);
        readable = j->status < 0 && wait_until(j, reads, when);
    }
}

static int open_ends(struct job *j) {
    const struct transmit_options *o = j->o;
    char in[ADDRESS_TEXT_MAX] = "";
    char out[ADDRESS_TEXT_MAX] = "";
    char both[2 * ADDRESS_TEXT_MAX + 1];
    int rc = receives(j) ? link_open(&j->source, in)
                         : fd_open_input(TOOL, &o->in, &j->in_fd, in);
    if (rc == TOOL_OK) {
        rc = sends(j) ? link_open(&j->target, out)
                      : fd_open_output(TOOL, &o->out, &j->out.fd);
    }
    if (rc == TOOL_OK && o->port_file) {
        (void)snprintf(both, sizeof(both), "%s%s%s", in,
                       in[0] && out[0] ? "\n" : "", out);
        rc = tool_write_text(TOOL, o->port_file, both);
    }
    return rc;
}

static int open_stats(struct job *j) {
    j->stats = stderr;
    if (j->o->stats_out) {
        j->stats = fopen(j->o->stats_out, "we");
    }
    if (j->stats && j->stats != stderr) { /* somebody may empty it meanwhile */
        (void)fcntl(fileno(j->stats), F_SETFL, O_APPEND);
    }
    return j->stats ? TOOL_OK
                    : tool_fail(TOOL, "cannot write %s: %s", j->o->stats_out,
                                strerror(errno));
}

static void close_all(struct job *j) {
    if (j->from) {
        close_source(j, 0);
    }
    if (j->feed) {
        end_target(j, j->status == TOOL_FAILED ? 0 : LINGER_MS);
    }
    link_close(&j->source);
    link_close(&j->target);
    while (release_when(&j->release) != TLTCP_TIME_NEVER) {
        release_pop(&j->release);
    }
    tltcp_live_stream_free(j->stream);
    if (j->stats && j->stats != stderr) {
        (void)fclose(j->stats);
    }
}

static bool open_stream(struct job *j) {
    const tltcp_live_settings *s = j->o->out.to.settings;
    j->stream = tltcp_live_stream_new(0, on_section, j);
    if (j->stream && sends(j)) {
        tltcp_live_stream_set_deadlines(j->stream, (int)s->deadline_mode,
                                        s->latency_ms, s->grace_ms, 1);
    }
    return j->stream != NULL;
}

static int run_job(struct job *j) {
    const struct transmit_options *o = j->o;
    int rc = open_stats(j);
    if (rc == TOOL_OK && !open_stream(j)) {
        rc = tool_fail(TOOL, "out of memory");
    }
    if (rc == TOOL_OK) {
        rc = open_ends(j);
    }
    if (rc == TOOL_OK) {
        tool_catch_signals(&j->during_wait);
        (void)signal(SIGPIPE, SIG_IGN);
        j->start = tltcp_now();
        run(j);
        rc = j->status < 0 ? TOOL_OK : j->status; /* a signal is no failure */
    }
    close_all(j);
    if (o->json &&
        tool_write_json(TOOL, o->json, statistics(j, tltcp_now())) != TOOL_OK) {
        rc = TOOL_FAILED;
    }
    return rc;
}

int main(int argc, char **argv) {
    static struct transmit_options options;
    struct job *j;
    int rc = transmit_options_parse(argc, argv, &options);
    if (rc >= 0) {
        return rc;
    }
    if (!tool_can_write(TOOL, options.json) ||
        !tool_can_write(TOOL, options.frames)) {
        return TOOL_FAILED;
    }
    j = calloc(1, sizeof(*j));
    if (!j) {
        return tool_fail(TOOL, "out of memory");
    }
    j->o = &options;
    j->out.to = &options.out;
    j->out.chunk = (size_t)options.chunk;
    j->status = -1;
    tltcp_stats_init(&j->last);
    j->source = (struct link){.tool = TOOL,
                              .at = &options.in,
                              .quiet = options.quiet,
                              .retries = options.reconnect};
    j->target = (struct link){.tool = TOOL,
                              .at = &options.out,
                              .quiet = options.quiet,
                              .retries = options.reconnect};
    rc = run_job(j);
    free(j);
    return rc;
}

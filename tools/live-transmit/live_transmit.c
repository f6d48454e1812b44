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

#include "libtltcp/live/tsfeed.h"
#include "tools/common/tool.h"
#include "tools/live-transmit/fd.h"
#include "tools/live-transmit/link.h"
#include "tools/live-transmit/out.h"
#include "tools/live-transmit/release.h"
#include "tools/live-transmit/stats.h"

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

    struct link source; /* input by TLTCP */
    tltcp_socket *from; /* its connection */
    struct tsdrain drain;
    struct release release;

    struct link target; /* output by TLTCP */
    bool feeding;       /* it is connected */
    bool finished;      /* it was told of the end */
    struct feed feed;
    struct tsfeed stream;
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
        if (!tsfeed_push(&j->stream, data, len, now)) {
            no_memory(j);
        }
        return;
    }
    /* Units of a transport stream that go at the same time share datagrams. */
    on_written(j, j->o->out.kind == ENDPOINT_UDP && j->drain.described
                      ? out_pack(&j->out, data, len)
                      : out_write(&j->out, data, len));
}

static void end_input(struct job *j) {
    j->over = true;
    if (sends(j)) {
        tsfeed_flush(&j->stream);
    }
}

/* --- Files, pipes, UDP as input ------------------------------------------- */

/* When what was read last is to be sent by its own time line. */
static uint64_t scheduled(struct job *j, uint64_t now) {
    uint64_t due;
    if (j->o->in.kind == ENDPOINT_UDP || j->stream.time == MEDIA_TIME_NONE) {
        return now;
    }
    due = j->anchor_clock + (uint64_t)(j->stream.time - j->anchor_media);
    if (!j->anchored || due < now || due - now > JUMP) {
        j->anchored = true;
        j->anchor_media = j->stream.time;
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
    if (!j->feeding || feed_bytes(&j->feed) > QUEUE_MAX) {
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

static void on_bytes(void *user, const struct tsdrain_bytes *b) {
    struct job *j = user;
    const struct peer_options *from = &j->o->in.to;
    uint64_t latency =
        from->has_latency ? from->feed.latency_ms : j->drain.latency_ms;
    if (sends(j) || j->o->immediate) {
        deliver(j, b->data, b->len, b->now);
    } else if (!release_push(&j->release, b, latency * NS_PER_MS)) {
        no_memory(j);
    }
}

static void begin_source(struct job *j, tltcp_socket *s) {
    j->from = s;
    j->totals.connections++;
    release_restart(&j->release);
    if (!tsdrain_init(&j->drain, on_bytes, j)) {
        no_memory(j);
    }
}

static void end_source(struct job *j, int error) {
    const char *why = j->drain.why[0]  ? j->drain.why
                      : error < 0      ? tltcp_strerror(error)
                      : j->drain.ended ? "the stream has ended"
                                       : "the peer closed the connection";
    bool bad = error < 0 || j->drain.why[0];
    (void)tltcp_get_stats(j->from, &j->last);
    tsdrain_end(&j->drain);
    totals_add_received(&j->totals, &j->drain);
    (void)tltcp_close(j->from, bad ? 0 : LINGER_MS);
    j->from = NULL;
    link_lost(&j->source);
    if (j->o->reconnect) {
        link_say(&j->source, why, "");
        return;
    }
    if (bad) {
        end_with(j, tool_fail(TOOL, "%s: %s", j->o->in.text, why));
    }
    end_input(j);
}

static void run_source(struct job *j, uint64_t *when) {
    tltcp_socket *s = NULL;
    ssize_t n = 1;
    if (!j->from && !j->over) {
        int rc = link_run(&j->source, &s, when);
        if (rc != TOOL_OK) {
            end_with(j, rc);
        } else if (s) {
            begin_source(j, s);
        }
    }
    while (j->from && j->status < 0 && n > 0 && !j->drain.why[0]) {
        n = tsdrain_read(&j->drain, j->from, MSG_DONTWAIT);
    }
    if (j->from && n != TLTCP_ERR_AGAIN) {
        end_source(j, n < 0 ? (int)n : 0);
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

static void begin_target(struct job *j, tltcp_socket *s) {
    struct feed_settings settings = j->o->out.to.feed;
    int rc;
    if (j->totals.connections > 0) {
        settings.frames = NULL; /* the file has those of the first */
    }
    rc = feed_init(&j->feed, &settings);
    if (rc < 0) {
        (void)tltcp_close(s, 0);
        (void)feed_free(&j->feed);
        end_with(j, tool_fail(TOOL, "cannot write %s: %s",
                              settings.frames ? settings.frames : "frames",
                              strerror(-rc)));
        return;
    }
    j->totals.connections++;
    j->feeding = true;
    j->anchored = false;
    feed_start(&j->feed, s);
    tsfeed_attach(&j->stream, &j->feed);
}

static void end_target(struct job *j, int linger_ms) {
    (void)tltcp_get_stats(j->feed.socket, &j->last);
    tsfeed_attach(&j->stream, NULL);
    (void)feed_close(&j->feed, linger_ms);
    totals_add_sent(&j->totals, &j->feed.ledger);
    j->totals.bytes_out += j->last.bytes_delivered;
    j->feeding = false;
    if (!feed_free(&j->feed)) {
        end_with(j, tool_fail(TOOL, "cannot write %s", j->o->frames));
    }
    link_lost(&j->target);
}

static void lose_target(struct job *j) {
    char why[TLTCP_REASON_MAX + 1];
    int error = j->feed.error;
    (void)snprintf(why, sizeof(why), "%s",
                   j->feed.reason[0] ? j->feed.reason
                   : error < 0       ? tltcp_strerror(error)
                                     : "the peer closed the connection");
    end_target(j, 0);
    if (j->o->reconnect) {
        link_say(&j->target, why, "");
    } else {
        end_with(j, tool_fail(TOOL, "%s: %s", j->o->out.text, why));
    }
}

/* After the end of the input: what was sent shall arrive, then the peer shall
 * know. */
static void finish_target(struct job *j) {
    if (!j->feeding) {
        end_with(j, TOOL_OK);
    } else if (feed_is_idle(&j->feed) && !j->finished && !j->feed.closed) {
        feed_finish(&j->feed);
        j->finished = true;
    } else if (feed_is_idle(&j->feed)) {
        end_target(j, LINGER_MS);
        end_with(j, TOOL_OK);
    }
}

/* Some peers close as soon as they have heard of the end. */
static bool peer_has_all(const struct job *j) {
    return j->over && j->feed.error >= 0 && !j->feed.first &&
           j->feed.ledger.open == 0;
}

static void run_target(struct job *j, uint64_t *when) {
    tltcp_socket *s = NULL;
    if (!j->feeding) {
        int rc = link_run(&j->target, &s, when);
        if (rc != TOOL_OK) {
            end_with(j, rc);
        } else if (s) {
            begin_target(j, s);
        }
    }
    if (j->feeding) {
        feed_run(&j->feed);
        if (j->feed.closed && !peer_has_all(j)) {
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
    tltcp_socket *s = j->feeding ? j->feed.socket : j->from;
    tltcp_stats st = j->last;
    watch_input(j);
    t = j->totals;
    t.bytes_out += j->out.written;
    if (s) {
        (void)tltcp_get_stats(s, &st);
    }
    if (j->feeding) {
        totals_add_sent(&t, &j->feed.ledger);
        t.bytes_out += st.bytes_delivered;
    }
    if (j->from) {
        totals_add_received(&t, &j->drain);
    }
    return totals_json(&t, &st, s != NULL, (double)(now - j->start) / 1e9);
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

static nfds_t poll_set(const struct job *j, bool reads, struct pollfd *fds) {
    nfds_t n = 0;
    if (reads) {
        fds[n++] = (struct pollfd){.fd = j->in_fd, .events = POLLIN};
    }
    if (receives(j) && j->from) {
        fds[n++] = (struct pollfd){.fd = tltcp_fd(j->from), .events = POLLIN};
    } else if (receives(j) && !j->over) {
        n += link_poll(&j->source, fds + n);
    }
    if (sends(j) && j->feeding) {
        n += feed_poll(&j->feed, fds + n);
    } else if (sends(j)) {
        n += link_poll(&j->target, fds + n);
    }
    return n;
}

/* Waits; returns whether the input can be read. */
static bool wait_until(struct job *j, bool reads, uint64_t when) {
    struct pollfd fds[2 + LINK_FDS + FEED_FDS];
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
    if (!j->feeding) {
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
        (void)tltcp_get_stats(j->from, &j->last);
        tsdrain_end(&j->drain);
        totals_add_received(&j->totals, &j->drain);
        (void)tltcp_close(j->from, 0);
        j->from = NULL;
    }
    if (j->feeding) {
        end_target(j, j->status == TOOL_FAILED ? 0 : LINGER_MS);
    }
    link_close(&j->source);
    link_close(&j->target);
    while (release_when(&j->release) != TLTCP_TIME_NEVER) {
        release_pop(&j->release);
    }
    tsfeed_free(&j->stream);
    if (j->stats && j->stats != stderr) {
        (void)fclose(j->stats);
    }
}

static int run_job(struct job *j) {
    const struct transmit_options *o = j->o;
    int rc = open_stats(j);
    if (rc == TOOL_OK && !tsfeed_init(&j->stream)) {
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

/* SPDX-License-Identifier: MPL-2.0 */
/*
 * tltcp-live-transmit: transmits a live stream over TLTCP.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/common/tool.h"
#include "tools/live-transmit/fd.h"
#include "tools/live-transmit/input.h"
#include "tools/live-transmit/report.h"
#include "tools/live-transmit/rights.h"
#include "tools/live-transmit/source.h"
#include "tools/live-transmit/target.h"

#define TICK_NS (200 * NS_PER_MS)

static void check_timeout(struct job *j, uint64_t now) {
    if (j->o->timeout == 0 || now - j->start < j->o->timeout ||
        (j->o->timeout_connecting && j->totals.connections > 0)) {
        return;
    }
    if (j->o->timeout_connecting) {
        job_end(j, tool_fail(TOOL, "no connection in time"));
    } else {
        job_end(j, TOOL_OK);
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
    if (job_receives(j) && j->from && !j->replaceable) {
        n = add_fds(fds, n, fd, tltcp_live_fds(j->from, fd, &when));
    } else if (job_receives(j) && !j->over) {
        n += link_poll(&j->source, fds + n);
    }
    for (size_t i = 0; i < j->viewers.count; i++) {
        n = add_fds(fds, n, fd,
                    tltcp_live_sender_fds(j->viewers.viewer[i]->sender, fd));
    }
    if (job_sends(j) && link_has_room(&j->target)) {
        n += link_poll(&j->target, fds + n);
    }
    return n;
}

/* Waits. Returns whether the input can be read. */
static bool wait_until(struct job *j, bool reads, uint64_t when) {
    nfds_t n = poll_set(j, reads, j->fds);
    uint64_t now = tltcp_now();
    uint64_t wait = when > now ? when - now : 0;
    struct timespec timeout = {.tv_nsec =
                                   (long)(wait < TICK_NS ? wait : TICK_NS)};
    return ppoll(j->fds, n, &timeout, &j->during_wait) > 0 && reads &&
           j->fds[0].revents;
}

/* Whether a signal ends the program now; data already sent gets some time to
 * arrive. */
static bool is_stopped(struct job *j) {
    if (!tool_is_stopped()) {
        return false;
    }
    if (j->viewers.count == 0) {
        return true;
    }
    if (j->stop_at == 0) {
        j->stop_at = tltcp_now() + LINGER_MS * NS_PER_MS;
        input_stop(j, tltcp_now());
    }
    return tltcp_now() >= j->stop_at;
}

static void watch_callers(struct job *j, uint64_t *when) {
    uint64_t source = link_watch(&j->source);
    uint64_t target = link_watch(&j->target);
    *when = source < *when ? source : *when;
    *when = target < *when ? target : *when;
}

/* After SIGHUP. */
static void reread_callers(struct job *j) {
    if (link_reread(&j->source) && j->from &&
        !link_may_stay(&j->source, j->source_id)) {
        source_cut_off(j);
    }
    if (link_reread(&j->target)) {
        target_cut_off(j);
    }
}

/* With the first connection: of a stream that never came about, the error is
 * all that counts. */
static void report_rights(struct job *j) {
    if (!j->rights_reported && !j->o->quiet &&
        (j->from || j->viewers.count > 0)) {
        rights_report(&j->rights);
        j->rights_reported = true;
    }
}

static void run(struct job *j) {
    bool readable = false;
    while (j->status < 0 && !is_stopped(j)) {
        uint64_t when = TLTCP_TIME_NEVER;
        uint64_t now = tltcp_now();
        bool reads;
        if (readable) {
            input_read(j, now);
        }
        if (tool_was_hung_up()) {
            reread_callers(j);
        }
        if (job_receives(j)) {
            source_run(j, &when);
            source_release(j, now, &when);
            job_check_written(j, out_flush(&j->out));
        }
        if (job_sends(j)) {
            target_run(j, &when);
        } else if (j->over && release_when(&j->release) == TLTCP_TIME_NEVER) {
            job_end(j, TOOL_OK);
        }
        watch_callers(j, &when);
        report_rights(j);
        if (readable) {
            input_watch(j);
        }
        report_print(j, now);
        report_publish(j, now);
        check_timeout(j, now);
        reads = input_may_read(j, now, &when);
        readable = j->status < 0 && wait_until(j, reads, when);
    }
}

static int open_ends(struct job *j) {
    const struct transmit_options *o = j->o;
    char in[ADDRESS_TEXT_MAX] = "";
    char out[ADDRESS_TEXT_MAX] = "";
    char page[ADDRESS_TEXT_MAX] = "";
    char all[3 * ADDRESS_TEXT_MAX + 3];
    int rc = job_receives(j) ? link_open(&j->source, in)
                             : fd_open_input(TOOL, &o->in, &j->in_fd, in);
    if (rc == TOOL_OK) {
        rc = job_sends(j) ? link_open(&j->target, out)
                          : fd_open_output(TOOL, &o->out, &j->out.fd);
    }
    if (rc == TOOL_OK) {
        rc = metrics_open(&j->metrics, TOOL, o->metrics, page);
    }
    if (rc == TOOL_OK && o->port_file) {
        (void)snprintf(all, sizeof(all), "%s%s%s%s%s", in,
                       in[0] && out[0] ? "\n" : "", out, page[0] ? "\n" : "",
                       page);
        rc = tool_write_text(TOOL, o->port_file, all);
    }
    return rc;
}

/* How long the end may take. After a signal, that includes what was waited
 * before. */
static int linger_ms(const struct job *j) {
    uint64_t now = tltcp_now();
    if (j->status == TOOL_FAILED) {
        return 0;
    }
    if (j->stop_at == 0) {
        return LINGER_MS;
    }
    return j->stop_at > now ? (int)((j->stop_at - now) / NS_PER_MS) : 0;
}

static void close_all(struct job *j) {
    if (j->from && j->out_error[0]) {
        source_abort(j);
    } else if (j->from) {
        source_close(j, 0);
    }
    target_end(j, linger_ms(j));
    link_close(&j->source);
    link_close(&j->target);
    while (release_when(&j->release) != TLTCP_TIME_NEVER) {
        release_pop(&j->release);
    }
    tltcp_live_stream_free(j->stream);
    metrics_close(j->metrics);
    free(j->fds);
}

static void catch_signals(struct job *j) {
    tool_catch_signals(&j->during_wait);
    if (j->o->in.callers[0] || j->o->out.callers[0]) {
        tool_catch_hangup(&j->during_wait);
    }
    (void)signal(SIGPIPE, SIG_IGN);
}

static int run_job(struct job *j) {
    const struct transmit_options *o = j->o;
    int rc = report_open(j);
    if (rc == TOOL_OK) {
        j->rights = rights_drop(o);
    }
    if (rc == TOOL_OK && !target_open(j)) {
        rc = tool_fail(TOOL, "out of memory");
    }
    if (rc == TOOL_OK) {
        rc = open_ends(j);
    }
    if (rc == TOOL_OK) {
        catch_signals(j);
        j->start = tltcp_now();
        run(j);
        /* A signal is not a failure. */
        rc = j->status < 0 ? TOOL_OK : j->status;
    }
    close_all(j);
    if (!report_close(j)) {
        rc = TOOL_FAILED;
    }
    if (o->json && tool_write_json(TOOL, o->json,
                                   report_json(j, tltcp_now())) != TOOL_OK) {
        rc = TOOL_FAILED;
    }
    return rc;
}

static struct link link_of(const struct transmit_options *o,
                           const struct endpoint *e) {
    return (struct link){.tool = TOOL,
                         .at = e,
                         .quiet = o->quiet,
                         .retries = o->reconnect,
                         .most = (unsigned)e->max_callers};
}

static bool prepare(struct job *j, const struct transmit_options *o) {
    size_t fds = 1 + 2 * LINK_FDS + o->out.max_callers * TLTCP_LIVE_FDS;
    j->o = o;
    j->out.to = &o->out;
    j->out.chunk = (size_t)o->chunk;
    j->status = -1;
    tltcp_stats_init(&j->last);
    tltcp_live_stats_init(&j->totals.media);
    j->source = link_of(o, &o->in);
    j->target = link_of(o, &o->out);
    j->fds = calloc(fds, sizeof(*j->fds));
    return j->fds != NULL;
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
    rc = prepare(j, &options) ? run_job(j) : tool_fail(TOOL, "out of memory");
    free(j);
    return rc;
}

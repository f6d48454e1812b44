/* SPDX-License-Identifier: MPL-2.0 */
/* A stream on its way from the input to the output. */
#include "tools/live-transmit/job.h"

#include <errno.h>
#include <string.h>

#include "tools/common/tool.h"

bool job_sends(const struct job *j) {
    return j->o->out.kind == ENDPOINT_TLTCP;
}

bool job_receives(const struct job *j) {
    return j->o->in.kind == ENDPOINT_TLTCP;
}

void job_end(struct job *j, int status) {
    if (j->status < 0) {
        j->status = status;
    }
}

void job_no_memory(struct job *j) {
    job_end(j, tool_fail(TOOL, "out of memory"));
}

void job_check_written(struct job *j, bool ok) {
    if (!ok && !j->out_error[0]) {
        (void)snprintf(j->out_error, sizeof(j->out_error), "%s",
                       strerror(errno));
        job_end(j, tool_fail(TOOL, "cannot write %s: %s", j->o->out.text,
                             j->out_error));
    }
}

void job_deliver(struct job *j, const uint8_t *data, size_t len, uint64_t now) {
    j->totals.bytes_in += len;
    if (job_sends(j)) {
        if (tltcp_live_stream_write_ts(j->stream, data, len, now) < 0 ||
            j->viewers.no_memory) {
            job_no_memory(j);
        }
        return;
    }
    /* Transport stream frames that are sent at the same time share
     * datagrams. */
    job_check_written(j, j->o->out.kind == ENDPOINT_UDP && j->described
                             ? out_pack(&j->out, data, len)
                             : out_write(&j->out, data, len));
}

void job_end_input(struct job *j) {
    j->over = true;
    if (job_sends(j)) {
        (void)tltcp_live_stream_flush(j->stream, NULL);
    }
}

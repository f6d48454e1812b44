/* SPDX-License-Identifier: MPL-2.0 */
/* Keys that the driver derives from passphrases. */
#include "libtltcp/engine/conn.h"

struct tltcp_key_job {
    cmn__mem mem;
    sec__key_job job;
};

void tltcp_conn_defer_keys(tltcp_conn *c) {
    c->handshake.defers_keys = true;
}

tltcp_key_job *tltcp_conn_key_job(tltcp_conn *c) {
    tltcp_key_job *job;
    if (c->handshake.offer == NULL || c->handshake.offer->asked) {
        return NULL;
    }
    job = cmn__alloc(&c->mem, sizeof(*job));
    if (job != NULL) {
        c->handshake.offer->asked = true;
        job->mem = c->mem;
        sec__key_job_init(&job->job, c->handshake.keys,
                          c->handshake.offer->salt);
    }
    return job;
}

void tltcp_key_job_run(tltcp_key_job *job) {
    sec__key_job_run(&job->job);
}

static void follow_held(tltcp_conn *c, tltcp_time now) {
    tltcp__held_offer *held = c->handshake.offer;
    const sec__packet p = {.type = SEC__RETRY,
                           .version = TLTCP__VERSION,
                           .dcid = c->own.id,
                           .token = held->bytes,
                           .token_len = held->token_len,
                           .body = held->bytes + held->token_len,
                           .body_len = held->body_len};
    if (sec__caller_knows(c->handshake.keys, held->salt)) {
        c->handshake.offer = NULL;
        tltcp__conn_on_retry(c, &p, now);
        cmn__free(&c->mem, held);
    }
}

void tltcp_conn_take_key(tltcp_conn *c, tltcp_key_job *job, tltcp_time now) {
    cmn__mem mem = job->mem;
    bool awaited =
        c != NULL && c->handshake.keys != NULL && c->handshake.offer != NULL;
    bool done = sec__key_job_end(&job->job, awaited ? c->handshake.keys : NULL);
    if (awaited && done) {
        follow_held(c, now);
    } else if (awaited) {
        c->handshake.offer->asked = false; /* for want of memory: once more */
    }
    cmn__free(&mem, job);
}

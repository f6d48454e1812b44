/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "libtltcp/socket/readiness.h"

/* Sections handed to the engine in one call. */
#define BATCH ((size_t)64)

/* What the control data says, not aligned; NULL: nothing of the kind. */
struct control {
    const unsigned char *deadlines;
    const unsigned char *metas;
};

static bool take_values(const struct cmsghdr *c, size_t len,
                        const unsigned char **out) {
    if (*out != NULL || c->cmsg_len != CMSG_LEN(len)) {
        return false;
    }
    *out = CMSG_DATA(c);
    return true;
}

/* False when it does not fit the sections. */
static bool take_control(const struct msghdr *msg, struct control *out) {
    size_t n = (size_t)msg->msg_iovlen;
    struct cmsghdr *c = msg->msg_control != NULL ? CMSG_FIRSTHDR(msg) : NULL;
    const char *end;

    if (c == NULL) {
        return false;
    }
    end = (const char *)msg->msg_control + msg->msg_controllen;
    while (c != NULL) {
        bool good = c->cmsg_level == SOL_TLTCP && c->cmsg_len >= CMSG_LEN(0) &&
                    c->cmsg_len <= (size_t)(end - (const char *)c);

        if (good && c->cmsg_type == TL_DEADLINE) {
            good = take_values(c, n * sizeof(tltcp_time), &out->deadlines);
        } else if (good && c->cmsg_type == TL_META) {
            good = take_values(c, n * sizeof(struct tltcp_meta), &out->metas);
        } else {
            good = false;
        }
        if (!good) {
            return false;
        }
        c = CMSG_NXTHDR((struct msghdr *)msg, c);
    }
    return true;
}

static bool iovecs_are_good(const struct msghdr *msg) {
    if (msg->msg_iov == NULL || msg->msg_iovlen < 1) {
        return false;
    }
    for (size_t i = 0; i < (size_t)msg->msg_iovlen; i++) {
        if (msg->msg_iov[i].iov_base == NULL || msg->msg_iov[i].iov_len == 0) {
            return false;
        }
    }
    return true;
}

/* The message on its way into the engine. */
struct job {
    const struct msghdr *msg;
    struct control control;
    tltcp_time deadline; /* without deadlines in control */
    size_t at;           /* the next section */
    ssize_t bytes;
};

static size_t send_prepare(const struct job *j, tltcp_section *list) {
    size_t left = (size_t)j->msg->msg_iovlen - j->at;
    size_t count = left < BATCH ? left : BATCH;

    for (size_t i = 0; i < count; i++) {
        const struct iovec *v = &j->msg->msg_iov[j->at + i];

        list[i] = (tltcp_section){
            .data = v->iov_base, .len = v->iov_len, .deadline = j->deadline};
        if (j->control.deadlines != NULL) {
            memcpy(&list[i].deadline,
                   j->control.deadlines + (j->at + i) * sizeof(tltcp_time),
                   sizeof(tltcp_time));
        }
        if (j->control.metas != NULL) {
            memcpy(&list[i].meta,
                   j->control.metas + (j->at + i) * sizeof(struct tltcp_meta),
                   sizeof(struct tltcp_meta));
        }
    }
    return count;
}

/* Writes what fits.  Returns 0 or why the next section was not taken. */
static int write_some(tltcp_socket *s, struct job *j) {
    tltcp_section list[BATCH];

    while (j->at < (size_t)j->msg->msg_iovlen) {
        size_t count = send_prepare(j, list);
        int taken =
            tltcp_conn_write(tltcp__engine(s), list, count, tltcp_now());

        if (taken <= 0) {
            return taken < 0 ? taken : TLTCP_ERR_AGAIN;
        }
        for (int i = 0; i < taken; i++) {
            j->bytes += (ssize_t)list[i].len;
        }
        j->at += (size_t)taken;
    }
    return 0;
}

/* A full buffer must get some room before it counts as writable again, or a
 * blocked sender would wake for every acknowledgement. */
static size_t room_wanted(const tltcp_socket *s, size_t section) {
    size_t some = s->port->config.send_buffer / 8;

    return section > some ? section : some;
}

static ssize_t send_job(tltcp_socket *s, struct job *j, bool wait) {
    int rv;

    for (;;) {
        if (s->closed) {
            return TLTCP_ERR_CLOSED;
        }
        rv = write_some(s, j);
        if (rv != TLTCP_ERR_AGAIN || j->bytes > 0) {
            break;
        }
        s->write_want = room_wanted(s, j->msg->msg_iov[0].iov_len);
        if (!wait) {
            break;
        }
        tltcp__after_call(s);
        (void)tltcp__wait(s, &s->writable, &s->writers, TLTCP_TIME_NEVER);
    }
    if (j->bytes > 0) {
        s->write_want = rv == TLTCP_ERR_AGAIN
                            ? room_wanted(s, j->msg->msg_iov[j->at].iov_len)
                            : 1;
    }
    tltcp__after_call(s);
    return j->bytes > 0 ? j->bytes : rv;
}

ssize_t tltcp_sendmsg(tltcp_socket *s, const struct msghdr *msg, int flags) {
    struct job j = {.msg = msg, .deadline = TLTCP_TIME_NEVER};
    uint32_t latency_ms;
    ssize_t rv;

    if (s == NULL || msg == NULL || (flags & ~(MSG_TL | MSG_DONTWAIT)) != 0 ||
        !iovecs_are_good(msg)) {
        return TLTCP_ERR_INVAL;
    }
    if (s->listener) {
        return TLTCP_ERR_STATE;
    }
    latency_ms = s->port->config.latency_ms;
    if ((flags & MSG_TL) != 0 && !take_control(msg, &j.control)) {
        return TLTCP_ERR_CONTROL;
    }
    if (latency_ms > 0) {
        j.deadline = tltcp_now() + latency_ms * TLTCP_MS;
    }
    uv_mutex_lock(tltcp__mutex(s));
    rv = s->finished ? TLTCP_ERR_STATE
                     : send_job(s, &j, (flags & MSG_DONTWAIT) == 0);
    uv_mutex_unlock(tltcp__mutex(s));
    return rv;
}

int tltcp_rekey(tltcp_socket *s) {
    int rv;

    if (s == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(tltcp__mutex(s));
    rv = tltcp_conn_rekey(tltcp__engine(s));
    if (rv == 0) {
        tltcp__after_call(s);
    }
    uv_mutex_unlock(tltcp__mutex(s));
    return rv;
}

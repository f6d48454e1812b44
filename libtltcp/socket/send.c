/* SPDX-License-Identifier: MPL-2.0 */
/* tltcp_send() and tltcp_sendmsg(). */
#include <string.h>

#include "libtltcp/socket/output.h"
#include "libtltcp/socket/readiness.h"

/* Maximum number of sections passed to the engine in one call. */
#define BATCH ((size_t)64)

/* --- Sections, from either call ------------------------------------------ */

/* A send call: the sections of tltcp_send(), or, if `sections` is NULL, those
 * of a message. */
struct send_job {
    const tltcp_section *sections;
    const struct msghdr *msg;
    const unsigned char *deadlines; /* of the message, not aligned; or NULL */
    const unsigned char *metas;     /* likewise */
    size_t count;
    tltcp_time deadline; /* of sections without their own */
    size_t at;           /* the next section */
    ssize_t bytes;
};

/* Section i in the engine's form. */
static tltcp_section send_section_at(const struct send_job *j, size_t i) {
    tltcp_section s = {.deadline = j->deadline};

    if (j->sections != NULL) {
        s = j->sections[i];
        s.deadline = s.deadline == 0 ? j->deadline : s.deadline;
        return s;
    }
    s.data = &j->msg->msg_iov[i];
    s.count = 1;
    if (j->deadlines != NULL) {
        memcpy(&s.deadline, j->deadlines + i * sizeof(s.deadline),
               sizeof(s.deadline));
    }
    if (j->metas != NULL) {
        memcpy(&s.meta, j->metas + i * sizeof(s.meta), sizeof(s.meta));
    }
    return s;
}

static size_t send_bytes(const tltcp_section *s) {
    size_t len = 0;

    for (size_t i = 0; i < s->count; i++) {
        len += s->data[i].iov_len;
    }
    return len;
}

static size_t send_fill(const struct send_job *j, tltcp_section *list) {
    size_t left = j->count - j->at;
    size_t count = left < BATCH ? left : BATCH;

    for (size_t i = 0; i < count; i++) {
        list[i] = send_section_at(j, j->at + i);
    }
    return count;
}

/* Writes as much as fits. Returns 0, or why the next section was not taken. */
static int send_some(tltcp_socket *s, struct send_job *j) {
    tltcp_section list[BATCH];

    while (j->at < j->count) {
        size_t count = send_fill(j, list);
        int taken =
            tltcp_conn_write(tltcp__engine(s), list, count, tltcp_now());

        if (taken <= 0) {
            return taken < 0 ? taken : TLTCP_ERR_AGAIN;
        }
        for (int i = 0; i < taken; i++) {
            j->bytes += (ssize_t)send_bytes(&list[i]);
        }
        j->at += (size_t)taken;
    }
    return 0;
}

/* A full buffer needs some room before it counts as writable again, or a
 * blocked sender would wake for every acknowledgement. */
static size_t send_room_wanted(const tltcp_socket *s,
                               const struct send_job *j) {
    size_t some = s->port->config.send_buffer / 8;
    tltcp_section next = send_section_at(j, j->at);
    size_t len = send_bytes(&next);

    return len > some ? len : some;
}

static ssize_t send_all(tltcp_socket *s, struct send_job *j, bool wait) {
    int rv;

    for (;;) {
        if (s->closed) {
            return TLTCP_ERR_CLOSED;
        }
        rv = send_some(s, j);
        if (rv != TLTCP_ERR_AGAIN || j->bytes > 0) {
            break;
        }
        s->write_want = send_room_wanted(s, j);
        if (!wait) {
            break;
        }
        tltcp__after_call(s);
        (void)tltcp__wait(s, &s->writers, TLTCP_TIME_NEVER);
    }
    if (j->bytes > 0) {
        s->write_want = rv == TLTCP_ERR_AGAIN ? send_room_wanted(s, j) : 1;
    }
    tltcp__output_written(s);
    tltcp__after_call(s);
    return j->bytes > 0 ? j->bytes : rv;
}

static ssize_t send_run(tltcp_socket *s, struct send_job *j, int flags) {
    uint32_t latency_ms = s->port->config.latency_ms;
    ssize_t rv;

    j->deadline =
        latency_ms > 0 ? tltcp_now() + latency_ms * TLTCP_MS : TLTCP_TIME_NEVER;
    uv_mutex_lock(tltcp__mutex(s));
    rv = s->finished ? TLTCP_ERR_STATE
                     : send_all(s, j, (flags & MSG_DONTWAIT) == 0);
    uv_mutex_unlock(tltcp__mutex(s));
    return rv;
}

/* --- tltcp_send() -------------------------------------------------------- */

static bool send_sections_are_good(const tltcp_section *sections,
                                   size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (sections[i].data == NULL || send_bytes(&sections[i]) == 0) {
            return false;
        }
    }
    return sections != NULL && count > 0;
}

ssize_t tltcp_send(tltcp_socket *s, const tltcp_section *sections, size_t count,
                   int flags) {
    struct send_job j = {.sections = sections, .count = count};

    if (s == NULL || (flags & ~MSG_DONTWAIT) != 0 || sections == NULL ||
        !send_sections_are_good(sections, count)) {
        return TLTCP_ERR_INVAL;
    }
    return s->listener ? TLTCP_ERR_STATE : send_run(s, &j, flags);
}

/* --- tltcp_sendmsg() ----------------------------------------------------- */

static bool send_take_values(const struct cmsghdr *c, size_t len,
                             const unsigned char **out) {
    if (*out != NULL || c->cmsg_len != CMSG_LEN(len)) {
        return false;
    }
    *out = CMSG_DATA(c);
    return true;
}

static bool send_take_message(struct send_job *j, const struct cmsghdr *c) {
    if (c->cmsg_type == TL_DEADLINE) {
        return send_take_values(c, j->count * sizeof(tltcp_time),
                                &j->deadlines);
    }
    return c->cmsg_type == TL_META &&
           send_take_values(c, j->count * sizeof(struct tltcp_meta), &j->metas);
}

/* False if it does not match the sections. */
static bool send_take_control(struct send_job *j) {
    const struct msghdr *msg = j->msg;
    struct cmsghdr *c = msg->msg_control != NULL ? CMSG_FIRSTHDR(msg) : NULL;
    const char *end;

    if (c == NULL) {
        return false;
    }
    end = (const char *)msg->msg_control + msg->msg_controllen;
    for (; c != NULL; c = CMSG_NXTHDR((struct msghdr *)msg, c)) {
        if (c->cmsg_level != SOL_TLTCP || c->cmsg_len < CMSG_LEN(0) ||
            c->cmsg_len > (size_t)(end - (const char *)c) ||
            !send_take_message(j, c)) {
            return false;
        }
    }
    return true;
}

static bool send_iovecs_are_good(const struct msghdr *msg) {
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

ssize_t tltcp_sendmsg(tltcp_socket *s, const struct msghdr *msg, int flags) {
    struct send_job j = {.msg = msg};

    if (s == NULL || msg == NULL || (flags & ~(MSG_TL | MSG_DONTWAIT)) != 0 ||
        !send_iovecs_are_good(msg)) {
        return TLTCP_ERR_INVAL;
    }
    if (s->listener) {
        return TLTCP_ERR_STATE;
    }
    j.count = (size_t)msg->msg_iovlen;
    if ((flags & MSG_TL) != 0 && !send_take_control(&j)) {
        return TLTCP_ERR_CONTROL;
    }
    return send_run(s, &j, flags);
}

/* --- Advice -------------------------------------------------------------- */

int tltcp_would_arrive(const tltcp_socket *s, size_t len, tltcp_time deadline) {
    bool in_time;

    if (s == NULL || s->listener) {
        return TLTCP_ERR_INVAL;
    }
    uv_mutex_lock(tltcp__mutex(s));
    in_time = tltcp_conn_would_arrive(s->conn, len, deadline, tltcp_now());
    uv_mutex_unlock(tltcp__mutex(s));
    return in_time;
}

/* --- Keys ---------------------------------------------------------------- */

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

/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/common/metrics.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#ifdef TOOLS_HAVE_MICROHTTPD
#include <microhttpd.h>
#endif

#include "tools/common/address.h"
#include "tools/common/tool.h"

#define EVERY_NS UINT64_C(500000000)

const char *metrics_check(const char *text) {
    struct hostport hp;
    const char *why = address_split(text, &hp);
    if (why) {
        return "HOST:PORT";
    }
    return hp.host[0] ? NULL : "HOST:PORT with a host, such as 127.0.0.1:9464";
}

#ifdef TOOLS_HAVE_MICROHTTPD

#define CONNECTIONS 32
#define CONNECTIONS_OF_ADDRESS 16
#define CONNECTION_BYTES ((size_t)8192)
#define PATIENCE_S 5u /* with a connection that says nothing */

struct metrics {
    struct MHD_Daemon *daemon;
    struct hostport at;
    bool is_private; /* only this machine can connect */
    pthread_mutex_t lock;
    char *page;
    size_t len;
    char *next; /* being written */
    size_t next_len;
    uint64_t due;
};

static enum MHD_Result answer(struct MHD_Connection *c, unsigned status,
                              struct MHD_Response *r) {
    enum MHD_Result rc = r ? MHD_queue_response(c, status, r) : MHD_NO;
    if (r) {
        MHD_destroy_response(r);
    }
    return rc;
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned status) {
    static char none[] = "statistics are at /metrics\n";
    static char name[] = "the host in the URL must be an address, localhost "
                         "or that of --metrics\n";
    char *text = status == MHD_HTTP_FORBIDDEN ? name : none;
    struct MHD_Response *r = MHD_create_response_from_buffer(
        strlen(text), text, MHD_RESPMEM_PERSISTENT);
    if (r && status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        (void)MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    }
    return answer(c, status, r);
}

/* Whether a client that asks for this host, with or without a port, means this
 * machine. A name that a page of the web has given it need not. */
static bool is_own_name(const struct metrics *m, const char *host) {
    char name[sizeof(m->at.host)];
    bool brackets = host[0] == '[';
    size_t len = strcspn(host, brackets ? "]" : ":");
    struct in6_addr in6;
    struct in_addr in;
    if (len >= sizeof(name)) {
        return false;
    }
    memcpy(name, host, len);
    name[len] = '\0';
    if (brackets) {
        return host[len] == ']' && inet_pton(AF_INET6, name + 1, &in6) == 1;
    }
    return inet_pton(AF_INET, name, &in) == 1 ||
           strcasecmp(name, "localhost") == 0 ||
           strcasecmp(name, m->at.host) == 0;
}

/* A name may lead a browser from a page of the web to this machine (DNS
 * rebinding), past the limits of its origin. */
static bool is_foreign(const struct metrics *m, struct MHD_Connection *c) {
    const char *host =
        MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    return m->is_private && host && !is_own_name(m, host);
}

static enum MHD_Result give_page(struct metrics *m, struct MHD_Connection *c) {
    static char nothing[] = "";
    struct MHD_Response *r;
    (void)pthread_mutex_lock(&m->lock);
    r = MHD_create_response_from_buffer(m->len, m->page ? m->page : nothing,
                                        MHD_RESPMEM_MUST_COPY);
    (void)pthread_mutex_unlock(&m->lock);
    if (r) {
        (void)MHD_add_response_header(
            r, MHD_HTTP_HEADER_CONTENT_TYPE,
            "text/plain; version=0.0.4; charset=utf-8");
    }
    return answer(c, MHD_HTTP_OK, r);
}

/* In the server's thread. */
static enum MHD_Result on_request(void *user, struct MHD_Connection *c,
                                  const char *url, const char *method,
                                  const char *version, const char *data,
                                  size_t *len, void **state) {
    struct metrics *m = user;
    (void)version;
    (void)data;
    (void)state;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
        strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
        *len = 0;
        return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED);
    }
    if (is_foreign(m, c)) {
        return refuse(c, MHD_HTTP_FORBIDDEN);
    }
    return strcmp(url, "/metrics") == 0 ? give_page(m, c)
                                        : refuse(c, MHD_HTTP_NOT_FOUND);
}

static struct MHD_Daemon *start(struct metrics *m, const struct address *a) {
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO;
    sigset_t all;
    sigset_t before;
    struct MHD_Daemon *d;
    if (a->sa.ss_family == AF_INET6) {
        flags |= MHD_USE_IPv6;
    }
    (void)sigfillset(&all); /* signals are for the main thread */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    d = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, m, MHD_OPTION_SOCK_ADDR, &a->sa,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)CONNECTIONS_OF_ADDRESS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES,
        MHD_OPTION_CONNECTION_TIMEOUT, PATIENCE_S, MHD_OPTION_END);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return d;
}

static bool is_loopback(const struct address *a) {
    const struct sockaddr_in *in = (const struct sockaddr_in *)&a->sa;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&a->sa;
    return a->sa.ss_family == AF_INET
               ? ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET
               : IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

static void tell_address(const struct metrics *m, char *text) {
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(m->daemon, MHD_DAEMON_INFO_LISTEN_FD);
    struct address a = {.len = sizeof(a.sa)};
    if (info &&
        getsockname(info->listen_fd, (struct sockaddr *)&a.sa, &a.len) == 0) {
        address_text(&a, text);
    }
}

int metrics_open(struct metrics **out, const char *tool, const char *at,
                 char *text) {
    struct metrics *m;
    struct hostport hp;
    struct address a;
    const char *why;
    *out = NULL;
    text[0] = '\0';
    if (!at) {
        return TOOL_OK;
    }
    why = address_split(at, &hp);
    why = why ? why : address_resolve(&hp, true, &a);
    if (why) {
        return tool_fail(tool, "--metrics %s: %s", at, why);
    }
    m = calloc(1, sizeof(*m));
    if (!m) {
        return tool_fail(tool, "out of memory");
    }
    (void)pthread_mutex_init(&m->lock, NULL);
    m->at = hp;
    m->is_private = is_loopback(&a);
    errno = 0;
    m->daemon = start(m, &a);
    if (!m->daemon) {
        metrics_close(m);
        return tool_fail(tool, "--metrics %s: cannot listen there%s%s", at,
                         errno ? ": " : "", errno ? strerror(errno) : "");
    }
    tell_address(m, text);
    *out = m;
    return TOOL_OK;
}

FILE *metrics_begin(struct metrics *m, uint64_t now) {
    if (!m || now < m->due) {
        return NULL;
    }
    m->due = now + EVERY_NS;
    return open_memstream(&m->next, &m->next_len);
}

void metrics_end(struct metrics *m, FILE *out) {
    char *old = m->next;
    if (fclose(out) == 0) {
        (void)pthread_mutex_lock(&m->lock);
        old = m->page;
        m->page = m->next;
        m->len = m->next_len;
        (void)pthread_mutex_unlock(&m->lock);
    }
    free(old);
    m->next = NULL;
}

void metrics_close(struct metrics *m) {
    if (m) {
        if (m->daemon) {
            MHD_stop_daemon(m->daemon);
        }
        (void)pthread_mutex_destroy(&m->lock);
        free(m->page);
        free(m);
    }
}

#else

int metrics_open(struct metrics **out, const char *tool, const char *at,
                 char *text) {
    *out = NULL;
    text[0] = '\0';
    return at ? tool_fail(tool, "--metrics is not in this build, which was "
                                "made without libmicrohttpd")
              : TOOL_OK;
}

FILE *metrics_begin(struct metrics *m, uint64_t now) {
    (void)m;
    (void)now;
    return NULL;
}

void metrics_end(struct metrics *m, FILE *out) {
    (void)m;
    (void)fclose(out);
}

void metrics_close(struct metrics *m) {
    (void)m;
}

#endif

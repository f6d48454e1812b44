/* SPDX-License-Identifier: MPL-2.0 */
/* Endpoints that are descriptors: files, pipes and UDP. */
#include "tools/live-transmit/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/sock_diag.h>
#endif

#include "tools/common/tool.h"

static const struct sockaddr *sockaddr_of(const struct address *a) {
    return (const struct sockaddr *)&a->sa;
}

static bool is_multicast(const struct address *a) {
    if (a->sa.ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)&a->sa;
        return IN_MULTICAST(ntohl(in->sin_addr.s_addr));
    }
    return IN6_IS_ADDR_MULTICAST(
        &((const struct sockaddr_in6 *)&a->sa)->sin6_addr);
}

/* The index of an interface by its name or an address of it; 0: none. */
static unsigned interface_index(const char *adapter) {
    unsigned index = if_nametoindex(adapter);
    struct hostport hp = {.port = "0"};
    struct address wanted;
    struct ifaddrs *all = NULL;
    (void)snprintf(hp.host, sizeof(hp.host), "%s", adapter);
    if (index || address_resolve(&hp, false, &wanted) || getifaddrs(&all)) {
        return index;
    }
    for (struct ifaddrs *i = all; i && !index; i = i->ifa_next) {
        struct address a = {.len = wanted.len};
        if (i->ifa_addr && i->ifa_addr->sa_family == wanted.sa.ss_family) {
            memcpy(&a.sa, i->ifa_addr, wanted.len);
            index =
                address_equal(&a, &wanted) ? if_nametoindex(i->ifa_name) : 0;
        }
    }
    freeifaddrs(all);
    return index;
}

static int level_of(const struct address *a) {
    return a->sa.ss_family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
}

static bool join(int fd, const struct endpoint *e, const struct address *a) {
    struct group_req group = {.gr_interface = interface_index(e->adapter)};
    memcpy(&group.gr_group, &a->sa, a->len);
    return setsockopt(fd, level_of(a), MCAST_JOIN_GROUP, &group,
                      sizeof(group)) == 0;
}

/* Exceeds the system's limit if the process is privileged. */
static void set_buffer(int fd, bool is_input, uint64_t bytes) {
    int size = bytes < INT32_MAX ? (int)bytes : INT32_MAX;
#ifdef SO_RCVBUFFORCE
    int force = is_input ? SO_RCVBUFFORCE : SO_SNDBUFFORCE;
    if (setsockopt(fd, SOL_SOCKET, force, &size, sizeof(size)) == 0) {
        return;
    }
#endif
    (void)setsockopt(fd, SOL_SOCKET, is_input ? SO_RCVBUF : SO_SNDBUF, &size,
                     sizeof(size));
}

static int open_socket(const char *tool, const struct endpoint *e,
                       bool is_input, struct address *a, int *fd) {
    struct hostport at;
    const char *why;
    (void)snprintf(at.host, sizeof(at.host), "%s", e->at.host);
    (void)snprintf(at.port, sizeof(at.port), "%s", e->at.port);
    why = address_resolve(&at, is_input, a);
    if (!why && e->adapter[0] && interface_index(e->adapter) == 0) {
        why = "there is no such adapter";
    }
    if (why) {
        return tool_fail(tool, "%s: %s", e->text, why);
    }
    *fd = socket(a->sa.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0) {
        return tool_fail(tool, "%s: %s", e->text, strerror(errno));
    }
    if (e->buffer) {
        set_buffer(*fd, is_input, e->buffer);
    }
    return TOOL_OK;
}

static int open_udp_input(const char *tool, const struct endpoint *e, int *fd,
                          char *text) {
    const int on = 1;
    struct address a;
    int rc = open_socket(tool, e, true, &a, fd);
    bool group = rc == TOOL_OK && is_multicast(&a);
    if (rc != TOOL_OK) {
        return rc;
    }
    if (group) { /* several programs may receive from a group */
        (void)setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    }
    if (bind(*fd, sockaddr_of(&a), a.len) != 0 ||
        (group && !join(*fd, e, &a))) {
        return tool_fail(tool, "cannot receive on %s: %s", e->text,
                         strerror(errno));
    }
    a.len = sizeof(a.sa);
    if (getsockname(*fd, (struct sockaddr *)&a.sa, &a.len) == 0) {
        address_text(&a, text);
    }
    return TOOL_OK;
}

/* Options that the system rejects keep their values. */
static void set_outgoing(int fd, const struct endpoint *e,
                         const struct address *a) {
    bool v4 = a->sa.ss_family == AF_INET;
    int ttl = (int)e->ttl;
    int tos = (int)e->tos;
    struct ip_mreqn through = {
        .imr_ifindex = e->adapter[0] ? (int)interface_index(e->adapter) : 0};
    if (e->ttl) {
        (void)setsockopt(fd, level_of(a), v4 ? IP_TTL : IPV6_UNICAST_HOPS, &ttl,
                         sizeof(ttl));
        (void)setsockopt(fd, level_of(a),
                         v4 ? IP_MULTICAST_TTL : IPV6_MULTICAST_HOPS, &ttl,
                         sizeof(ttl));
    }
    if (e->tos) {
        (void)setsockopt(fd, level_of(a), v4 ? IP_TOS : IPV6_TCLASS, &tos,
                         sizeof(tos));
    }
    if (through.imr_ifindex && v4) {
        (void)setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &through,
                         sizeof(through));
    } else if (through.imr_ifindex) {
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF,
                         &through.imr_ifindex, sizeof(through.imr_ifindex));
    }
}

static int open_udp_output(const char *tool, const struct endpoint *e,
                           int *fd) {
    struct address a;
    int rc = open_socket(tool, e, false, &a, fd);
    if (rc != TOOL_OK) {
        return rc;
    }
    set_outgoing(*fd, e, &a);
    if (connect(*fd, sockaddr_of(&a), a.len) != 0) {
        return tool_fail(tool, "cannot send to %s: %s", e->text,
                         strerror(errno));
    }
    return TOOL_OK;
}

static int open_path(const char *tool, const struct endpoint *e, int flags,
                     int *fd) {
    *fd = open(e->path, flags | O_CLOEXEC, 0666);
    if (*fd < 0) {
        return tool_fail(tool, "cannot %s %s: %s",
                         flags == O_RDONLY ? "read" : "write", e->path,
                         strerror(errno));
    }
    return TOOL_OK;
}

int fd_open_input(const char *tool, const struct endpoint *e, int *fd,
                  char *text) {
    text[0] = '\0';
    switch (e->kind) {
    case ENDPOINT_UDP:
        return open_udp_input(tool, e, fd, text);
    case ENDPOINT_FILE:
        return open_path(tool, e, O_RDONLY, fd);
    default:
        *fd = STDIN_FILENO;
        return TOOL_OK;
    }
}

int fd_open_output(const char *tool, const struct endpoint *e, int *fd) {
    switch (e->kind) {
    case ENDPOINT_UDP:
        return open_udp_output(tool, e, fd);
    case ENDPOINT_FILE:
        return open_path(tool, e, O_WRONLY | O_CREAT | O_TRUNC, fd);
    default:
        *fd = STDOUT_FILENO;
        return TOOL_OK;
    }
}

uint64_t fd_dropped(const struct endpoint *e, int fd) {
#ifdef SO_MEMINFO
    uint32_t info[SK_MEMINFO_VARS] = {0};
    socklen_t len = sizeof(info);
    if (e->kind == ENDPOINT_UDP &&
        getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &len) == 0) {
        return info[SK_MEMINFO_DROPS];
    }
#endif
    (void)e;
    (void)fd;
    return 0;
}

/* Another program may have made the pipe that both have non-blocking. */
static bool wait_for_room(int fd) {
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return poll(&p, 1, -1) > 0 || errno == EINTR;
}

bool fd_write(const struct endpoint *e, int fd, const void *data, size_t len,
              size_t chunk) {
    const char *p = data;
    while (len) {
        size_t n = e->kind == ENDPOINT_UDP && len > chunk ? chunk : len;
        ssize_t written = write(fd, p, n);
        if (e->kind == ENDPOINT_UDP) {
            written = (ssize_t)n; /* received or not */
        } else if (written < 0) {
            if (errno != EINTR && !(errno == EAGAIN && wait_for_room(fd))) {
                return false;
            }
            written = 0;
        }
        p += written;
        len -= (size_t)written;
    }
    return true;
}

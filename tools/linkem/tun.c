/* SPDX-License-Identifier: MPL-2.0 */
/* The emulated link as two network interfaces. */
#include "tools/common/tool.h"
#include "tools/linkem/face.h"

#define TOOL "linkem"

#if !defined(__linux__)

int face_tun(struct face *f, const struct linkem_options *o) {
    (void)f;
    (void)o;
    return tool_fail(TOOL, "--tun needs Linux");
}

#else

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PACKET_MAX 65536
#define BATCH 64

struct end {
    int fd; /* of the TUN device */
    const char *netns;
    bool made; /* the namespace is ours to delete */
};

struct tun {
    struct end end[2]; /* [LINKEM_UP] sends up */
    uint64_t failed;
    uint8_t buffer[PACKET_MAX];
};

/* Runs "ip netns VERB NAME". */
static bool ip_netns(const char *verb, const char *name) {
    char *argv[] = {(char *)"ip", (char *)"netns", (char *)verb, (char *)name,
                    NULL};
    pid_t pid;
    int status;
    if (posix_spawnp(&pid, "ip", NULL, NULL, argv, environ) != 0) {
        return false;
    }
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int open_netns(struct end *e) {
    char path[128];
    int fd;
    (void)snprintf(path, sizeof(path), "/run/netns/%s", e->netns);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && ip_netns("add", e->netns)) {
        e->made = true;
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    return fd;
}

static bool set_address(int sock, struct ifreq *ifr, unsigned long request,
                        const char *address) {
    struct sockaddr_in sin = {.sin_family = AF_INET};
    if (inet_pton(AF_INET, address, &sin.sin_addr) != 1) {
        errno = EINVAL;
        return false;
    }
    memcpy(&ifr->ifr_addr, &sin, sizeof(sin));
    return ioctl(sock, request, ifr) == 0;
}

static bool set_up(int sock, struct ifreq *ifr) {
    ifr->ifr_flags = IFF_UP | IFF_RUNNING;
    return ioctl(sock, SIOCSIFFLAGS, ifr) == 0;
}

/* Addresses of a point-to-point device; the kernel adds the route itself. */
static bool configure(const char *name, const char *mine, const char *peer) {
    struct ifreq ifr = {0};
    struct ifreq lo = {0};
    int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool ok;
    (void)snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
    (void)snprintf(lo.ifr_name, sizeof(lo.ifr_name), "lo");
    ok = sock >= 0 && set_address(sock, &ifr, SIOCSIFADDR, mine) &&
         set_address(sock, &ifr, SIOCSIFDSTADDR, peer) && set_up(sock, &ifr) &&
         set_up(sock, &lo);
    if (sock >= 0) {
        int saved = errno;
        (void)close(sock);
        errno = saved;
    }
    return ok;
}

static int open_device(const char *mine, const char *peer) {
    struct ifreq ifr = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return fd;
    }
    (void)snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "linkem0");
    if (ioctl(fd, TUNSETIFF, &ifr) != 0 ||
        !configure(ifr.ifr_name, mine, peer)) {
        int saved = errno;
        (void)close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

/* Enters the namespace, creates the device and returns: the device stays in the
 * namespace. */
static int open_end(struct end *e, const char *mine, const char *peer) {
    int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    int ns = open_netns(e);
    int saved;
    if (home >= 0 && ns >= 0 && setns(ns, CLONE_NEWNET) == 0) {
        e->fd = open_device(mine, peer);
        saved = errno;
        if (setns(home, CLONE_NEWNET) != 0) {
            saved = errno;
            (void)close(e->fd);
            e->fd = -1;
        }
        errno = saved;
    }
    saved = errno;
    if (home >= 0) {
        (void)close(home);
    }
    if (ns >= 0) {
        (void)close(ns);
    }
    errno = saved;
    return e->fd >= 0 ? TOOL_OK
                      : tool_fail(TOOL,
                                  "cannot make a TUN device in namespace %s: "
                                  "%s; --tun needs root rights, /dev/net/tun "
                                  "and the command ip",
                                  e->netns, strerror(errno));
}

static uint32_t get_ecn(const uint8_t *p, size_t len) {
    if (len >= 20 && p[0] >> 4 == 4) {
        return p[1] & 3U;
    }
    if (len >= 40 && p[0] >> 4 == 6) {
        return p[1] >> 4 & 3U;
    }
    return 0;
}

/* Updates the checksum for the one changed word (RFC 1624). */
static void set_ecn_v4(uint8_t *p, uint32_t ecn) {
    uint32_t before = (uint32_t)p[0] << 8 | p[1];
    uint32_t sum = (uint32_t)p[10] << 8 | p[11];
    uint32_t after;
    p[1] = (uint8_t)((p[1] & ~3U) | ecn);
    after = (uint32_t)p[0] << 8 | p[1];
    sum = (~sum & 0xffffU) + (~before & 0xffffU) + after;
    sum = (sum & 0xffffU) + (sum >> 16);
    sum = ~((sum & 0xffffU) + (sum >> 16)) & 0xffffU;
    p[10] = (uint8_t)(sum >> 8);
    p[11] = (uint8_t)sum;
}

static void tun_set_ecn(uint8_t *p, size_t len, uint32_t ecn) {
    if (get_ecn(p, len) == ecn) {
        return;
    }
    if (len >= 20 && p[0] >> 4 == 4) {
        set_ecn_v4(p, ecn);
    } else if (len >= 40 && p[0] >> 4 == 6) {
        p[1] = (uint8_t)((p[1] & ~0x30U) | ecn << 4);
    }
}

static size_t tun_fds(void *impl, struct pollfd *fds, size_t max) {
    struct tun *t = impl;
    size_t n = 0;
    for (; n < 2 && n < max; n++) {
        fds[n] = (struct pollfd){.fd = t->end[n].fd, .events = POLLIN};
    }
    return n;
}

/* FNV-1a over addresses, protocol and ports. Fragments and protocols without
 * ports are distinguished by the rest. */
static uint64_t flow_of(const uint8_t *ip, size_t len) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t header = len >= 20 ? (size_t)(ip[0] & 15U) * 4 : 0;
    bool ports = len >= header + 4 && (ip[9] == 6 || ip[9] == 17);
    if (len < 20 || ip[0] >> 4 != 4) {
        return 0;
    }
    for (size_t i = 12; i < 20; i++) {
        hash = (hash ^ ip[i]) * UINT64_C(0x100000001b3);
    }
    hash = (hash ^ ip[9]) * UINT64_C(0x100000001b3);
    for (size_t i = 0; ports && i < 4; i++) {
        hash = (hash ^ ip[header + i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static void tun_receive(void *impl, const struct pollfd *fds, size_t n,
                        struct emulator *em) {
    struct tun *t = impl;
    for (size_t d = 0; d < n; d++) {
        for (int i = 0; fds[d].revents && i < BATCH; i++) {
            ssize_t len = read(t->end[d].fd, t->buffer, sizeof(t->buffer));
            if (len <= 0) {
                break;
            }
            emulator_offer(em,
                           &(struct emulator_packet){
                               .direction = (int)d,
                               .owner = flow_of(t->buffer, (size_t)len),
                               .ecn = get_ecn(t->buffer, (size_t)len)},
                           t->buffer, (size_t)len);
        }
    }
}

static void tun_deliver(void *impl, int direction, const struct sim_packet *p) {
    struct tun *t = impl;
    const struct end *far = &t->end[direction == LINKEM_UP ? 1 : 0];
    if (p->len > sizeof(t->buffer)) {
        return;
    }
    memcpy(t->buffer, p->data, p->len);
    tun_set_ecn(t->buffer, p->len, p->ecn);
    if (write(far->fd, t->buffer, p->len) < 0) {
        t->failed++;
    }
}

static void tun_report(void *impl, json_t *json) {
    struct tun *t = impl;
    (void)json_object_set_new(json, "failed_packets",
                              json_integer((json_int_t)t->failed));
}

static void tun_free(void *impl) {
    struct tun *t = impl;
    for (int i = 0; i < 2; i++) {
        if (t->end[i].fd >= 0) {
            (void)close(t->end[i].fd);
        }
        if (t->end[i].made && !ip_netns("delete", t->end[i].netns)) {
            (void)tool_fail(TOOL, "cannot delete namespace %s",
                            t->end[i].netns);
        }
    }
    free(t);
}

static int tun_announce(const struct linkem_options *o) {
    FILE *f;
    if (!o->quiet) {
        (void)fprintf(stderr, "%s: %s in %s <-> %s in %s\n", TOOL,
                      o->tun_addr[0], o->netns[0], o->tun_addr[1], o->netns[1]);
    }
    if (!o->port_file) {
        return TOOL_OK;
    }
    f = fopen(o->port_file, "we");
    if (!f || fprintf(f, "%s\n%s\n", o->tun_addr[0], o->tun_addr[1]) < 0 ||
        fclose(f) != 0) {
        return tool_fail(TOOL, "cannot write %s: %s", o->port_file,
                         strerror(errno));
    }
    return TOOL_OK;
}

int face_tun(struct face *f, const struct linkem_options *o) {
    struct tun *t = calloc(1, sizeof(*t));
    int rc;
    if (!t) {
        return tool_fail(TOOL, "out of memory");
    }
    for (int i = 0; i < 2; i++) {
        t->end[i] = (struct end){.fd = -1, .netns = o->netns[i]};
    }
    rc = open_end(&t->end[0], o->tun_addr[0], o->tun_addr[1]);
    if (rc == TOOL_OK) {
        rc = open_end(&t->end[1], o->tun_addr[1], o->tun_addr[0]);
    }
    if (rc == TOOL_OK) {
        rc = tun_announce(o);
    }
    if (rc != TOOL_OK) {
        tun_free(t);
        return rc;
    }
    *f = (struct face){.impl = t,
                       .fds = tun_fds,
                       .receive = tun_receive,
                       .deliver = tun_deliver,
                       .report = tun_report,
                       .free = tun_free};
    return TOOL_OK;
}

#endif

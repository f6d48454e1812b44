/* SPDX-License-Identifier: MPL-2.0 */
#include "tools/common/privileges.h"

#if defined(PERIGEE_HAVE_SECCOMP)

#include <errno.h>
#include <seccomp.h>
#include <sys/socket.h>

/* What none of the tools does, nor the libraries below them.  A list of what
 * they do would be shorter-lived than the libraries. */
static const char *const forbidden[] = {
    /* other programs and processes */
    "execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev",
    "process_madvise", "kcmp", "pidfd_getfd", "pidfd_open",
    /* namespaces, mounts, other roots */
    "unshare", "setns", "mount", "umount", "umount2", "move_mount", "open_tree",
    "fsopen", "fsmount", "fspick", "fsconfig", "mount_setattr", "pivot_root",
    "chroot", "open_by_handle_at", "name_to_handle_at",
    /* the kernel and the machine */
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "kexec_load",
    "kexec_file_load", "init_module", "finit_module", "delete_module", "reboot",
    "swapon", "swapoff", "syslog", "acct", "quotactl", "quotactl_fd", "iopl",
    "ioperm", "modify_ldt", "personality", "vhangup", "lookup_dcookie",
    "add_key", "request_key", "keyctl", "settimeofday", "clock_settime",
    "clock_adjtime", "adjtimex", "stime", "sethostname", "setdomainname",
    /* other users */
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid",
    "setgroups", "setfsuid", "setfsgid", "capset", NULL};

/* IP, the sockets of name services and of the system's log, and routes. */
static const int allowed_family[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK};

static bool forbid_calls(scmp_filter_ctx filter) {
    for (size_t i = 0; forbidden[i] != NULL; i++) {
        int call = seccomp_syscall_resolve_name(forbidden[i]);

        if (call != __NR_SCMP_ERROR &&
            seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0) != 0) {
            return false;
        }
    }
    return true;
}

static bool forbid_sockets(scmp_filter_ctx filter, enum scmp_compare how,
                           unsigned long family) {
    const struct scmp_arg_cmp which = {
        .arg = 0, .op = how, .datum_a = family, .datum_b = 0};

    return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT),
                                  SCMP_SYS(socket), 1, &which) == 0;
}

static bool is_allowed(unsigned long family) {
    bool allowed = false;

    for (size_t i = 0; i < sizeof(allowed_family) / sizeof(allowed_family[0]);
         i++) {
        allowed |= family == (unsigned long)allowed_family[i];
    }
    return allowed;
}

/* All families but those allowed, of which AF_NETLINK has the highest number.
 */
static bool forbid_families(scmp_filter_ctx filter) {
    bool ok = forbid_sockets(filter, SCMP_CMP_GT, AF_NETLINK);

    for (unsigned long family = 0; ok && family < AF_NETLINK; family++) {
        ok = is_allowed(family) || forbid_sockets(filter, SCMP_CMP_EQ, family);
    }
    return ok;
}

bool privileges_forbid_calls(void) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    bool ok = filter != NULL;

    /* Threads that run already lose them, too, where the kernel can do so. */
    (void)(ok && seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1));
    ok = ok && forbid_calls(filter) && forbid_families(filter) &&
         seccomp_load(filter) == 0;
    if (filter != NULL) {
        seccomp_release(filter);
    }
    return ok;
}

#else

bool privileges_forbid_calls(void) {
    return false;
}

#endif

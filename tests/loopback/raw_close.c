/* SPDX-License-Identifier: MPL-2.0 */
/* Tells the thread sanitizer which descriptors libuv closes. libuv calls
 * syscall(SYS_close), which the sanitizer does not see. Where another thread
 * opens a descriptor and gets the same number, it takes that for a race of two
 * threads about an open descriptor, such as one between socket() and libuv's
 * epoll_create1(). */
#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARGUMENTS 6

static void *next; /* the C library's */

static void *next_syscall(void) {
    void *f = __atomic_load_n(&next, __ATOMIC_ACQUIRE);

    if (f == NULL) {
        f = dlsym(RTLD_NEXT, "syscall");
        __atomic_store_n(&next, f, __ATOMIC_RELEASE);
    }
    return f;
}

long syscall(long number, ...) {
    long (*real)(long, ...);
    long a[ARGUMENTS];
    va_list list;

    va_start(list, number);
    for (size_t i = 0; i < ARGUMENTS; i++) {
        a[i] = va_arg(list, long);
    }
    va_end(list);
    if (number == SYS_close) {
        return close((int)a[0]);
    }
    *(void **)&real = next_syscall();
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

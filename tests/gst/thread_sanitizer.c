/* SPDX-License-Identifier: MPL-2.0 */
/*
 * For builds with -fsanitize=thread: GLib's locks and GStreamer's references
 * synchronize by futexes and atomics inside libraries that are built without
 * it.  These functions, in the place of theirs, tell it what happens before
 * what.  They order a lock's owners and the users of an object, no more, so
 * unlocked accesses are still reported.
 */
#include <dlfcn.h>

#include <gst/gst.h>
#include <sanitizer/tsan_interface.h>

#pragma GCC visibility push(default) /* found by the libraries */

#define REAL(name) ((__typeof__(&(name)))real_function(&real_##name, #name))
#define DECLARE(name) static void *real_##name

static void *real_function(void **at, const char *name) {
    void *f = __atomic_load_n(at, __ATOMIC_ACQUIRE);

    if (f == NULL) {
        f = dlsym(RTLD_NEXT, name);
        __atomic_store_n(at, f, __ATOMIC_RELEASE);
    }
    return f;
}

/* --- Locks --------------------------------------------------------------- */

/* name: of the type; what: its verb. */
#define ACQUIRES(type, verb)  \
    DECLARE(verb);            \
    void(verb)(type * lock) { \
        REAL(verb)(lock);     \
        __tsan_acquire(lock); \
    }
#define TRIES(type, verb)                \
    DECLARE(verb);                       \
    gboolean(verb)(type * lock) {        \
        gboolean got = REAL(verb)(lock); \
                                         \
        if (got) {                       \
            __tsan_acquire(lock);        \
        }                                \
        return got;                      \
    }
#define RELEASES(type, verb)  \
    DECLARE(verb);            \
    void(verb)(type * lock) { \
        __tsan_release(lock); \
        REAL(verb)(lock);     \
    }

ACQUIRES(GMutex, g_mutex_lock)
TRIES(GMutex, g_mutex_trylock)
RELEASES(GMutex, g_mutex_unlock)
ACQUIRES(GRecMutex, g_rec_mutex_lock)
TRIES(GRecMutex, g_rec_mutex_trylock)
RELEASES(GRecMutex, g_rec_mutex_unlock)
ACQUIRES(GRWLock, g_rw_lock_reader_lock)
TRIES(GRWLock, g_rw_lock_reader_trylock)
RELEASES(GRWLock, g_rw_lock_reader_unlock)
ACQUIRES(GRWLock, g_rw_lock_writer_lock)
TRIES(GRWLock, g_rw_lock_writer_trylock)
RELEASES(GRWLock, g_rw_lock_writer_unlock)

DECLARE(g_cond_wait);
void(g_cond_wait)(GCond *cond, GMutex *lock) {
    __tsan_release(lock);
    REAL(g_cond_wait)(cond, lock);
    __tsan_acquire(lock);
}

DECLARE(g_cond_wait_until);
gboolean(g_cond_wait_until)(GCond *cond, GMutex *lock, gint64 end) {
    gboolean signalled;

    __tsan_release(lock);
    signalled = REAL(g_cond_wait_until)(cond, lock, end);
    __tsan_acquire(lock);
    return signalled;
}

DECLARE(g_once_init_enter);
gboolean(g_once_init_enter)(volatile void *where) {
    gboolean first = REAL(g_once_init_enter)(where);

    __tsan_acquire((void *)where);
    return first;
}

DECLARE(g_once_init_leave);
void(g_once_init_leave)(volatile void *where, gsize result) {
    __tsan_release((void *)where);
    REAL(g_once_init_leave)(where, result);
}

/* --- Objects ------------------------------------------------------------- */

/* The thread that drops the last reference sees what others did before. */
#define UNREFERENCES(type, verb) \
    DECLARE(verb);               \
    void(verb)(type object) {    \
        __tsan_release(object);  \
        __tsan_acquire(object);  \
        REAL(verb)(object);      \
    }

UNREFERENCES(gpointer, g_object_unref)
UNREFERENCES(gpointer, gst_object_unref)
UNREFERENCES(GstMiniObject *, gst_mini_object_unref)

/* --- Queues -------------------------------------------------------------- */

DECLARE(g_async_queue_push);
void(g_async_queue_push)(GAsyncQueue *q, gpointer data) {
    __tsan_release(q);
    REAL(g_async_queue_push)(q, data);
}

DECLARE(g_async_queue_timeout_pop);
gpointer(g_async_queue_timeout_pop)(GAsyncQueue *q, guint64 timeout) {
    gpointer data = REAL(g_async_queue_timeout_pop)(q, timeout);

    __tsan_acquire(q);
    return data;
}

DECLARE(g_thread_join);
gpointer(g_thread_join)(GThread *thread) {
    gpointer result = REAL(g_thread_join)(thread);

    __tsan_acquire(thread);
    return result;
}

/* SPDX-License-Identifier: MPL-2.0 */
/* Version, error texts and initialisers of the library. */
#include <string.h>

#include <saratoga/stats.h>
#include <saratoga/transfer.h>
#include <saratoga/types.h>

const char *saratoga_version(void) {
    return PERIGEE_VERSION;
}

const char *saratoga_strerror(int error) {
    static const char *const text[] = {
        "no error",
        "an argument is out of range",
        "out of memory",
        "not possible in this state",
        "there is no such transfer",
        "a configured limit was reached",
        "no congestion controller of that name",
        "no room now, try again later",
        "a file could not be read or written",
        "no space left, or a quota is used up",
        "the file does not match its checksum",
        "the file changed while it was being sent",
        "the peer has been silent for too long",
        "the peer refused",
        "the peer broke the protocol",
        "cancelled by this side",
        "the file is too long for the descriptor in use",
        "not available in this build",
        "the peer has another passphrase or key, or none",
        "the peer answers, but the file makes no progress",
        "the peer supports only other versions of the encryption",
    };
    _Static_assert(sizeof(text) / sizeof(text[0]) == 1 - SARATOGA_ERR_LAST,
                   "a text per error");
    if (error > 0 || error < SARATOGA_ERR_LAST) {
        return "unknown error";
    }
    return text[-error];
}

const char *saratoga_status_text(unsigned status) {
    static const char *const text[] = {
        "success",
        "unspecified reason",
        "the peer cannot send: resources",
        "the peer cannot receive: resources",
        "file not found",
        "access denied",
        "unknown Id",
        "did not delete",
        "file longer than the receiver can take",
        "descriptor does not match its use or the length",
        "unsupported packet type",
        "unsupported request type",
        "ended by a timeout at the peer",
        "DATA flags changed in mid-session",
        "the receiver is no longer interested",
        "file in use",
        "METADATA is required first",
        "ended after an unexpected error STATUS",
        "the receiver did not hear from the sender in time",
    };
    static const char *const denials[] = {
        "access denied: it does not serve such requests",
        "access denied: the request is not signed with its key",
        "access denied: the file's checksum is not made with its key",
        "access denied: that is a folder",
        "access denied: a file of that name is there already",
        "access denied: permissions of files there, or a path out of its root",
        "access denied: its file system is read-only",
        "access denied: the name is hidden, unprintable or too long",
    };
    _Static_assert(sizeof(text) / sizeof(text[0]) == SARATOGA_STATUS_LAST + 1,
                   "a text per status");
    _Static_assert(sizeof(denials) / sizeof(denials[0]) ==
                       SARATOGA_DENIED_LAST >> 8,
                   "a text per denial");
    if ((status & 0xFF) == SARATOGA_ACCESS_DENIED) {
        unsigned denial = status >> 8;
        return denial == 0 || denial > SARATOGA_DENIED_LAST >> 8
                   ? text[SARATOGA_ACCESS_DENIED]
                   : denials[denial - 1];
    }
    if (status > SARATOGA_STATUS_LAST) {
        return "unknown status";
    }
    return text[status];
}

void saratoga_stats_init_sized(saratoga_stats *s, size_t size) {
    memset(s, 0, size);
    s->struct_size = size;
}

void saratoga_engine_stats_init_sized(saratoga_engine_stats *s, size_t size) {
    memset(s, 0, size);
    s->struct_size = size;
}

void saratoga_request_init_sized(saratoga_request *r, size_t size) {
    memset(r, 0, size);
    r->struct_size = size;
}

void saratoga_answer_init_sized(saratoga_answer *a, size_t size) {
    memset(a, 0, size);
    a->struct_size = size;
}

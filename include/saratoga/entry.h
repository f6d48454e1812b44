/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file saratoga/entry.h
 * @brief Directory entries, as in METADATA and in directory records.
 */
#ifndef SARATOGA_ENTRY_H
#define SARATOGA_ENTRY_H

#include <saratoga/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @addtogroup saratoga_files
 * @{ */

/** @brief A file, directory or stream as Saratoga describes it. */
typedef struct saratoga_entry {
    uint64_t size;       /**< bytes; 0 for directories and streams */
    uint32_t mtime;      /**< wire time: seconds since 2000-01-01 */
    uint32_t ctime;      /**< wire time of the last status change */
    bool directory;      /**< a directory */
    bool special;        /**< a link, pipe, device or stream */
    bool lite;           /**< may be delivered with errors */
    bool huge;           /**< when read: the size exceeds 64 bits, and size is
                              UINT64_MAX */
    uint32_t descriptor; /**< ::saratoga_descriptor of the size; when written,
                              FIT selects the narrowest */
    char path[SARATOGA_PATH_MAX]; /**< UTF-8, zero-terminated */
} saratoga_entry;

/**
 * @brief Converts POSIX time to wire time.
 * @param posix  seconds since 1970
 * @param plain  subtract 946684800, not the draft's 946684822
 * @return seconds since 2000, 0 for times before
 */
SARATOGA_API uint32_t saratoga_time_from_posix(int64_t posix, bool plain);
/**
 * @brief Converts wire time to POSIX time.
 * @param wire   seconds since 2000
 * @param plain  as in saratoga_time_from_posix()
 * @return seconds since 1970
 */
SARATOGA_API int64_t saratoga_time_to_posix(uint32_t wire, bool plain);

/**
 * @brief Appends an entry to a directory record.
 * @param e     entry
 * @param widest  widest ::saratoga_descriptor that the requester accepts
 * @param buf   where to write
 * @param cap   bytes at @p buf; (10 + 16 + ::SARATOGA_PATH_MAX) always suffice
 * @return bytes written; 0: the entry is omitted because it is too large for
 * the requester, has no path, or does not fit in @p cap
 */
SARATOGA_API size_t saratoga_entry_write(const saratoga_entry *e,
                                         uint32_t widest, void *buf,
                                         size_t cap);
/**
 * @brief Reads the first entry of a directory record.
 * @param buf  record, or its remainder
 * @param len  bytes at @p buf
 * @param[out] e  the entry
 * @return bytes consumed, including padding; 0: @p len is 0, or there is no
 * whole entry
 */
SARATOGA_API size_t saratoga_entry_read(const void *buf, size_t len,
                                        saratoga_entry *e);

/** @} */

#ifdef __cplusplus
}
#endif
#endif /* SARATOGA_ENTRY_H */

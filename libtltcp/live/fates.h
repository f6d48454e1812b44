/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file libtltcp/live/fates.h
 * @brief Sections of a connection, and counts of their fates.
 */
#ifndef TLTCP_LIVE_FATES_H
#define TLTCP_LIVE_FATES_H

#include "libtltcp/live/section.h"

/** Data of a section, kept until its fate is known. */
struct live_sent {
    bool open;        /**< the fate is not known yet */
    uint64_t section; /**< its number on the connection */
    bool is_frame;
    bool is_stub; /**< it was too big: the connection got one byte in its
                       place */
    uint8_t stream;
    uint8_t frame_class; /**< ::media_class */
    uint8_t sent_class;  /**< class given to the connection */
    uint8_t wire_class;  /**< class in its header */
    uint8_t picture;
    uint32_t number; /**< its number in the stream */
    uint32_t length; /**< bytes of codec data */
    size_t bytes;    /**< of the section */
    uint64_t tag;
    int64_t pts;
    int64_t dts;
    int64_t deadline;
    tltcp_time written;
    tltcp_live_section *clock; /**< to send when the section is given up, or
                                    NULL */
};

/** All zero: nothing was sent. */
struct live_fates {
    struct live_sent *sent; /**< ring, by the section's number */
    size_t capacity;        /**< a power of two */
    uint64_t first;         /**< lowest open number */
    uint64_t next;          /**< number of the next section */
    uint64_t open;
    tltcp_live_stats stats;
};

/** @brief The data to keep of a section. @param s  section */
struct live_sent tltcp__live_sent_of(const tltcp_live_section *s);

/** @brief Makes room for one more section. @param f  fates @return false: out
 * of memory */
bool tltcp__live_fates_reserve(struct live_fates *f);

/** @brief Stores a section that the connection took, and counts it.
 * @param f  fates @param sent  the call takes ownership @return false: out of
 *           memory, which cannot be after tltcp__live_fates_reserve() */
bool tltcp__live_fates_add(struct live_fates *f, const struct live_sent *sent);

/** @brief Counts a section that the connection never got. @param f  fates
 * @param sent  data of the section @param cause  ::tltcp_live_cause */
void tltcp__live_fates_drop(struct live_fates *f, const struct live_sent *sent,
                            unsigned cause);

/**
 * @brief Counts the fate of a section and removes it.
 * @param f       fates
 * @param number  of the section
 * @param fate    ::tltcp_fate
 * @param cause   ::tltcp_live_cause
 * @param[out] sent  data of the section; the caller owns its clock
 * @return false: no such section is open
 */
bool tltcp__live_fates_settle(struct live_fates *f, uint64_t number,
                              uint32_t fate, unsigned cause,
                              struct live_sent *sent);

/** @brief Whether an open section is a stub for one that was too big.
 * @param f  fates @param number  of the section */
bool tltcp__live_fates_is_stub(const struct live_fates *f, uint64_t number);

/** @brief The kind under which reports count it. @param s  frame */
enum tltcp_live_kind tltcp__live_kind(const struct live_sent *s);

/** @brief Frees. @param f  fates */
void tltcp__live_fates_clear(struct live_fates *f);

#endif /* TLTCP_LIVE_FATES_H */

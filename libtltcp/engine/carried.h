/* SPDX-License-Identifier: MPL-2.0 */
#ifndef LIBTLTCP_CARRIED_H
#define LIBTLTCP_CARRIED_H

#include <congestion/congestion.h>

/* The window over a reliable transport such as TCP, which has a congestion
 * control of its own.  Two of them would fight each other, so this one only
 * follows: it allows twice what the transport has had in flight.  The transport
 * is the limit, and the driver reports when it takes no more. */
extern const struct cong_ops tltcp__carried;

#endif /* LIBTLTCP_CARRIED_H */

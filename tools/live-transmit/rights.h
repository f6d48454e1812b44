/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/rights.h
 * @brief What tltcp-live-transmit keeps of its rights.
 */
#ifndef TOOLS_TRANSMIT_RIGHTS_H
#define TOOLS_TRANSMIT_RIGHTS_H

#include "tools/common/privileges.h"
#include "tools/live-transmit/options.h"

/** @brief Gives up all files but those that the command line names, and the
 * calls that no stream needs. To be called before the first thread begins.
 * @param o  command line @return what was given up */
struct privileges_dropped rights_drop(const struct transmit_options *o);

/** @brief Says on standard error what was given up. @param d  from
 * rights_drop() */
void rights_report(const struct privileges_dropped *d);

#endif /* TOOLS_TRANSMIT_RIGHTS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/live-transmit/rights.h
 * @brief What tltcp-live-transmit keeps of its rights.
 */
#ifndef TOOLS_TRANSMIT_RIGHTS_H
#define TOOLS_TRANSMIT_RIGHTS_H

#include "tools/live-transmit/options.h"

/** @brief Gives up all files but those that the command line names, and the
 * calls that no stream needs; says so. To be called before the first thread
 * begins. @param o  command line */
void rights_drop(const struct transmit_options *o);

#endif /* TOOLS_TRANSMIT_RIGHTS_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/common/brief.h
 * @brief Prints the main options of a tool; its details are in --help-all and
 * in the manual page.
 */
#ifndef TOOLS_BRIEF_H
#define TOOLS_BRIEF_H

/**
 * @brief Prints a help text without its details, and where these are.
 *
 * A detail is an option or a setting with all that stands below it, or a
 * paragraph.
 * @param tool     name of the tool
 * @param texts    parts of the whole text, NULL-terminated
 * @param details  how the first lines of details begin, such as "--seed" or
 *                 "Keys of", NULL-terminated
 */
void tool_print_brief(const char *tool, const char *const *texts,
                      const char *const *details);

/** @brief Prints a help text as it is. @param texts  NULL-terminated */
void tool_print_whole(const char *const *texts);

#endif /* TOOLS_BRIEF_H */

/* SPDX-License-Identifier: MPL-2.0 */
/**
 * @file tools/common/terminal.h
 * @brief Terminal width and progress bars.
 */
#ifndef TOOLS_TERMINAL_H
#define TOOLS_TERMINAL_H

/** @brief Columns of a bar. */
#define TERMINAL_BAR 24

/** @brief Width of standard error. @return columns; 0: it is not a terminal */
int terminal_width(void);

/** @brief Draws a bar. @param out  where to @param share  0 to 1 */
void terminal_bar(char out[TERMINAL_BAR + 1], double share);

#endif /* TOOLS_TERMINAL_H */

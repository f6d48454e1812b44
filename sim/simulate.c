/* SPDX-License-Identifier: MPL-2.0 */
/* Runs an experiment described by a text file in virtual time, and prints the
 * results as lines of JSON. */
#include "sim/show.h"

int main(int argc, char **argv) {
    return show_command(argc, argv, NULL, "");
}

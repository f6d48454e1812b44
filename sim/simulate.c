/* SPDX-License-Identifier: MPL-2.0 */
/* Runs an experiment that a text file describes, in virtual time, and prints
 * what happened as lines of JSON. */
#include "sim/show.h"

int main(int argc, char **argv) {
    return show_command(argc, argv, NULL, "");
}

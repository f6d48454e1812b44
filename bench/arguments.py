# SPDX-License-Identifier: MPL-2.0
"""./dev asks whether the arguments are right before it builds anything."""
import os
import sys

RIGHT = 10  # status


def checked():
    """Ends the program here if that was the question."""
    if "PERIGEE_ARGUMENTS_ONLY" in os.environ:
        sys.exit(RIGHT)

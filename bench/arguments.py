# SPDX-License-Identifier: MPL-2.0
"""What several benches have in common in their arguments.

./dev asks whether they are right before it builds anything.
"""
import os
import pathlib
import sys

RIGHT = 10  # status
ROOT = pathlib.Path(__file__).resolve().parent.parent


def add_places(parser):
    """Adds where the programs lie and where the results go."""
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(
        os.environ.get("PERIGEE_BUILD_DIR", ROOT / "build")))
    parser.add_argument("--json", type=pathlib.Path,
                        help="where the results go")


def checked():
    """Ends the program here if that was the question."""
    if "PERIGEE_ARGUMENTS_ONLY" in os.environ:
        sys.exit(RIGHT)

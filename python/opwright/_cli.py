# SPDX-License-Identifier: Apache-2.0
"""Starts the command line, a program of its own beside libopwright.so."""

import os
import sys


def main() -> None:
    # Not resolved: in the build tree this file is a link, and the program lies beside the link.
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_lib", "opwright")
    os.execv(program, ["opwright", *sys.argv[1:]])

# SPDX-License-Identifier: Apache-2.0
"""Starts the command line, a program of its own beside libopwright.so."""

import os
import sys


def main() -> None:
    # Not resolved: in the build tree this file is a link, and the program lies beside the link.
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_lib", "opwright")
    arguments = sys.argv[1:]
    # The Python that is asked for its packages is this one, also when it is not the active one.
    if arguments[:1] == ["doctor"] and not any(a.startswith("--python") for a in arguments):
        arguments[1:1] = ["--python", sys.executable]
    os.execv(program, ["opwright", *arguments])

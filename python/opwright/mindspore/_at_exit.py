# SPDX-License-Identifier: Apache-2.0
"""An error of a kernel whose result nobody read.

PyNative mode runs kernels on a thread of its own, and says what went wrong when a result is read. A
program that ends without reading it would end well. So the end of the program waits for what is
still running, and an error in it ends the process with its words and exit code 1.
"""

from __future__ import annotations

import atexit
import ctypes
import sys

from mindspore.graph.api import _pynative_executor

from opwright.mindspore import _bridge

_watching = False


def watch() -> None:
    """From the first operator on. Runs before MindSpore's own end, which was registered before."""
    global _watching
    if not _watching:
        _watching = True
        atexit.register(_wait)


def _wait() -> None:
    try:
        _pynative_executor.sync()
    except Exception as error:
        print(
            f"opwright: an operator failed and its result was never read: {error}", file=sys.stderr
        )
        ctypes.CDLL(_bridge.LIBRARY).opwright_exit_with_failure()

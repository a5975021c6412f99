# SPDX-License-Identifier: Apache-2.0
"""MindSpore's first call in a process with numpy 2.

MindSpore 2.10 is built against numpy 1: its first operator that reads a numpy array raises
SystemError under numpy 2 and prints a page of warnings; every later one is right. That first one
is run here.
"""

from __future__ import annotations

import os
import sys

import mindspore as ms
import numpy as np


def warm_up() -> None:
    if int(np.__version__.split(".")[0]) < 2:
        return
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        one = ms.Tensor(np.ones(1, np.float32))
        one * one
    except SystemError:
        pass
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


warm_up()

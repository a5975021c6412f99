# SPDX-License-Identifier: Apache-2.0
"""MindSpore's first call under numpy 2, which fails without Opwright, is not the user's."""

import subprocess
import sys

_PROGRAM = """
import mindspore, opwright.mindspore
import numpy as np
x = mindspore.Tensor(np.ones(3, np.float32))
print((x * x).asnumpy().sum())
"""


def test_the_first_operator_of_a_program_is_right_and_silent():
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "3.0"
    assert "NumPy 1.x" not in done.stderr
    assert "SystemError" not in done.stderr

# SPDX-License-Identifier: Apache-2.0
"""A kernel's error reaches the user, also when nobody reads the result."""

import subprocess
import sys

import misuse
import pytest

_PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
import misuse
from opwright.mindspore import Custom
op = Custom({library!r} + ":{operator}", func_type="aot")
op(misuse.X, misuse.Y)
print("end of program")
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return misuse.library(tmp_path_factory.mktemp("misuse") / "operators")


def run(library: str, operator: str) -> subprocess.CompletedProcess:
    tests = str(misuse.pathlib.Path(misuse.__file__).parent)
    code = _PROGRAM.format(tests=tests, library=library, operator=operator)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_a_program_that_never_reads_a_failed_result_ends_with_1_and_the_words(library):
    done = run(library, "fails")
    assert done.returncode == 1
    assert "end of program" in done.stdout
    assert "the matrix is singular at row 0" in done.stderr
    assert "its result was never read" in done.stderr


def test_a_program_whose_operators_are_right_ends_with_0(library):
    done = run(library, "mul")
    assert done.returncode == 0, done.stderr
    assert "never read" not in done.stderr


def test_with_launch_blocking_the_call_itself_raises(library):  # X07
    tests = str(misuse.pathlib.Path(misuse.__file__).parent)
    code = f"""
import sys
sys.path.insert(0, {tests!r})
import mindspore, misuse
from opwright.mindspore import Custom
mindspore.runtime.launch_blocking()
op = Custom({library!r} + ":fails", func_type="aot")
try:
    op(misuse.X, misuse.Y)
except RuntimeError as error:
    print("at the call:", error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "at the call:" in done.stdout
    assert "fails: the kernel failed: the matrix is singular at row 0" in done.stdout

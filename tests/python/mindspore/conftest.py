# SPDX-License-Identifier: Apache-2.0
"""Operator libraries for the tests, built once a session; fresh processes; a folder for dumps."""

import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
# `sources`: the operators that the PyTorch adapter is tested with.
sys.path.append(str(HERE.parent / "torch"))

# Before opwright is imported, and for every process that a test starts.
_cache = tempfile.TemporaryDirectory(prefix="opwright-test-cache-")
os.environ["OPWRIGHT_CACHE"] = _cache.name
os.environ.setdefault("GLOG_v", "4")

import mindspore as ms  # noqa: E402
from operator_libraries import built, libraries  # noqa: E402, F401
from operators import GROUPS  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def _dumps(tmp_path_factory):
    """MindSpore writes what it failed to compile into the working folder."""
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("dumps"))
    yield
    os.chdir(before)


@pytest.fixture(autouse=True)
def _pynative():
    """Whatever a test does, the next one starts in PyNative."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.fixture(scope="session")
def groups():
    return GROUPS


@pytest.fixture(scope="session")
def run_python(tmp_path_factory):
    """run_python(code, *arguments): a fresh process of a program in a file; its output."""

    def run(code: str, *arguments, status: int | None = 0) -> subprocess.CompletedProcess:
        program = tmp_path_factory.mktemp("program") / "program.py"
        program.write_text(code)
        result = subprocess.run(
            [sys.executable, str(program), *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            cwd=program.parent,
        )
        assert status in (None, result.returncode), result.stderr
        return result

    return run

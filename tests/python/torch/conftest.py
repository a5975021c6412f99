# SPDX-License-Identifier: Apache-2.0
"""Operator libraries for the tests, built once a session, and fresh processes."""

import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

# Before opwright is imported, and for every process that a test starts.
_cache = tempfile.TemporaryDirectory(prefix="opwright-test-cache-")
os.environ["OPWRIGHT_CACHE"] = _cache.name

from operator_libraries import built, libraries  # noqa: E402, F401
from sources import GROUPS  # noqa: E402


@pytest.fixture(scope="session")
def groups():
    return GROUPS


@pytest.fixture(scope="session")
def run_python():
    """run_python(code, *arguments): a fresh process; its output, with stderr beside it."""

    def run(code: str, *arguments, status: int = 0) -> subprocess.CompletedProcess:
        result = subprocess.run(
            [sys.executable, "-W", "always", "-c", code, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == status, result.stderr
        return result

    return run

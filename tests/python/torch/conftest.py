# SPDX-License-Identifier: Apache-2.0
"""Operator libraries for the tests, built once a session, and fresh processes."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

# Before opwright is imported, and for every process that a test starts.
_cache = tempfile.TemporaryDirectory(prefix="opwright-test-cache-")
os.environ["OPWRIGHT_CACHE"] = _cache.name

from sources import GROUPS  # noqa: E402

import opwright  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]


def write_operator(folder: pathlib.Path, metadef, source: str) -> pathlib.Path:
    """An operator folder of a metadef, or a list of them, and one source."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "op.json").write_text(json.dumps(metadef))
    (folder / "kernel.cpp").write_text(source)
    return folder


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """built(name): the path of the library of a group, or of an example."""
    paths = {}

    def build(name: str) -> str:
        if name not in paths:
            folder = ROOT / "examples" / name
            if name in GROUPS:
                folder = write_operator(tmp_path_factory.mktemp(name) / name, *GROUPS[name])
            paths[name] = opwright.build(folder)
        return paths[name]

    return build


@pytest.fixture(scope="session")
def libraries(built):
    """libraries(name): the loaded library of a group."""
    loaded = {}

    def load(name: str) -> opwright.Library:
        if name not in loaded:
            loaded[name] = opwright.load(built(name))
        return loaded[name]

    return load


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

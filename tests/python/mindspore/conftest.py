# SPDX-License-Identifier: Apache-2.0
"""Operator libraries for the tests, built once a session; fresh processes; a folder for dumps."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE))
# `sources`: the operators that the PyTorch adapter is tested with.
sys.path.append(str(HERE.parent / "torch"))

# Before opwright is imported, and for every process that a test starts.
_cache = tempfile.TemporaryDirectory(prefix="opwright-test-cache-")
os.environ["OPWRIGHT_CACHE"] = _cache.name
os.environ.setdefault("GLOG_v", "4")

import mindspore as ms  # noqa: E402
from operators import GROUPS  # noqa: E402

import opwright  # noqa: E402


def write_operator(folder: pathlib.Path, metadef, source: str) -> pathlib.Path:
    """An operator folder of a metadef, or a list of them, and one source."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "op.json").write_text(json.dumps(metadef))
    (folder / "kernel.cpp").write_text(source)
    return folder


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

# SPDX-License-Identifier: Apache-2.0
"""A cache of the session's own, and MindSpore back in PyNative mode after each test."""

import os
import pathlib
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

# Before opwright is imported, and for every process that a test starts.
_cache = tempfile.TemporaryDirectory(prefix="opwright-test-cache-")
os.environ["OPWRIGHT_CACHE"] = _cache.name

import mindspore as ms  # noqa: E402


@pytest.fixture(autouse=True)
def pynative():
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)

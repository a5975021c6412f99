# SPDX-License-Identifier: Apache-2.0
"""Operator libraries for the tests, built once a session, and Python programs of their own."""

import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

import opwright

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

# For this process, which reads it at each use, and for those that tests start.
_cache = tempfile.TemporaryDirectory(prefix="opwright-test-cache-")
os.environ["OPWRIGHT_CACHE"] = _cache.name


@pytest.fixture(scope="session")
def write_folder():
    """write_folder(path, metadef, source): an operator folder of one metadef or a list of them."""
    from operator_libraries import write_operator

    return write_operator


@pytest.fixture(scope="session")
def plus(write_folder):
    """plus(folder, n): an operator folder of element_add, z = x + y + n."""
    from operators import binary

    source = """#include <opwright/kernel.h>
    class ElementAddKernel : public opwright::OpKernelBase {
     public:
      opwright::Status Compute(const opwright::OpKernelInput& input,
                               opwright::OpKernelOutput* output) override {
        const auto& x = input.GetTensor(0);
        const float* y = input.GetTensor(1).Data<float>();
        float* z = output->GetTensor(0)->Data<float>();
        for (int64_t i = 0; i < x.Size(); ++i) z[i] = x.Data<float>()[i] + y[i] + NUMBER;
        return opwright::SUCCESS;
      }
    };
    """
    metadef = binary("element_add", shape_rule="same(x)")

    def write(folder, n):
        return write_folder(folder, metadef, source.replace("NUMBER", str(n)))

    return write


@pytest.fixture(scope="session")
def library_path(tmp_path_factory, write_folder):
    """The library of operators.py."""
    import operators

    folder = tmp_path_factory.mktemp("operators") / "operators"
    return opwright.build(write_folder(folder, operators.METADEF, operators.SOURCE))


@pytest.fixture(scope="session")
def lib(library_path):
    return opwright.load(library_path)


@pytest.fixture
def python():
    """Runs Python text in a process of its own; what it printed, when it ends well."""

    def run(text, *arguments, cwd=None, env=None):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture
def environment(tmp_path):
    """For the doctor, with numpy and Opwright."""
    from doctor import GOOD
    from fake_environment import Environment

    made = Environment(tmp_path / "environment")
    return made.install("numpy", "1.26.4").install("opwright", "0", text=GOOD)

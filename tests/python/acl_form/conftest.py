# SPDX-License-Identifier: Apache-2.0
"""The example's kernels as a library, and programs that run apart: a registry is a process's."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import opwright

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "acl_form"
PROGRAMS = Path(opwright.__file__).parent / "_lib"

# What programs begin with: the four steps as a function.
PRELUDE = """
import os, sys
import acl, opwright
import numpy as np
LIBRARY, ADD, GRAD = {library!r}, {add!r}, {grad!r}
def register():
    return [
        acl.init(),
        acl.rt.set_device(0),
        acl.ops.load_operator_library(LIBRARY),
        acl.op.register_operator("element_add"),
        acl.op.register_operator_model("element_add", ADD, "element_add"),
        acl.op.register_operator_gradient("element_add", GRAD),
    ]
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    out = folder / "libelement_add.so"
    kernels = ["-kernel", EXAMPLE / "add_kernel.cpp", "-kernel", EXAMPLE / "add_grad_kernel.cpp"]
    subprocess.run([PROGRAMS / "aoc", *kernels, "-o", out, "-lacl"], check=True)
    return out


@pytest.fixture
def run(library, tmp_path):
    """Runs Python text in a process of its own; its output, when it ends well."""

    def run(text, *, cwd=tmp_path, env=None):
        prelude = PRELUDE.format(
            library=str(library),
            add=str(EXAMPLE / "element_add.json"),
            grad=str(EXAMPLE / "element_add_grad.json"),
        )
        done = subprocess.run(
            [sys.executable, "-c", prelude + textwrap.dedent(text)],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[1:]), **(env or {})},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run

# SPDX-License-Identifier: Apache-2.0
"""The entry for PyTorch where PyTorch fails: no gradient is lost in silence, and it is said why."""

import os
import subprocess
from pathlib import Path

import pytest

import opwright

SOURCE = """#include <opwright/kernel.h>
class RefuseKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput&, opwright::OpKernelOutput*) override {
    return opwright::Status::Error("not on Sundays");
  }
};
"""
METADEF = {
    "op_name": "refuse",
    "op_type": "Custom",
    "input_desc": [{"name": "x", "dtype": ["float32"], "format": ["ND"], "shape": [-2]}],
    "output_desc": [{"name": "y", "dtype": ["float32"], "format": ["ND"], "shape": [-2]}],
    "shape_rule": "same(x)",
}


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    """A libtorch_cpu.so of 27 functions; no PyTorch is in the processes of these tests."""
    path = tmp_path_factory.mktemp("torch") / "libtorch_cpu.so"
    source = Path(__file__).with_name("fake_torch.cc")
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, "-std=c++17", "-shared", "-fPIC", source, "-o", path]
    subprocess.run([*map(str, command), "-Wl,-soname,libtorch_cpu.so"], check=True)
    return path


@pytest.fixture(scope="module")
def refuse(tmp_path_factory, write_folder):
    return opwright.build(write_folder(tmp_path_factory.mktemp("op") / "refuse", METADEF, SOURCE))


CALL = """
import ctypes, sys
torch = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
torch.fake_call.restype = ctypes.c_char_p
if sys.argv[3] == "load":
    torch.fake_fail(sys.argv[4].encode())
ctypes.CDLL(sys.argv[2])
if sys.argv[3] == "call":
    torch.fake_fail(sys.argv[4].encode())
    print(torch.fake_call(b"refuse").decode())
"""


@pytest.mark.parametrize(
    "failing", ["new_handle", "aten::alias", "aten::is_leaf", "aten::_unpack_dual", "is_defined"]
)
def test_a_question_that_fails_is_an_error_not_a_no(python, fake, refuse, failing):  # G01
    said = python(CALL, fake, refuse, "call", failing)
    assert "refuse: whether an input requires a gradient cannot be told: " in said
    assert said.strip().endswith(": it failed [IN001]")


def test_the_operators_own_words_arrive_without_pytorchs_help(python, fake, refuse):
    assert "not on Sundays" in python(CALL, fake, refuse, "call", "")


def test_a_failure_without_words_names_the_operator(python, fake, refuse):
    said = python(CALL, fake, refuse, "call", "opwright::_refuse_without_gradient")
    assert said.startswith("refuse: the operator failed, and PyTorch does not say why; where")


@pytest.mark.parametrize("failing", ["impl Autograd", "init Autograd"])
def test_a_guard_that_cannot_be_set_is_said_with_words(fake, refuse, failing):
    import sys

    done = subprocess.run(
        [sys.executable, "-c", CALL, str(fake), str(refuse), "load", failing],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    words = done.stderr.partition("registers no operator in PyTorch: ")[2]
    assert words.strip().endswith("PyTorch refused it (is the name taken?) [RG010]")


def test_what_does_not_enter_a_framework_is_said(python, fake, refuse):
    said = python(
        """
        import ctypes, sys, opwright
        library = opwright.load(sys.argv[2])._core
        def refused(framework):
            try:
                library.enter(framework, "")
            except opwright.Error as error:
                print(error)
        refused("another")
        torch = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
        torch.fake_fail(b"impl CPU")
        refused("torch")
        """,
        fake,
        refuse,
    )
    without, failed = said.splitlines()
    assert without.endswith("has no entry for another [RG010]")
    assert "cannot register in torch: " in failed and failed.endswith("[RG010]")

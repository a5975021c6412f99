# SPDX-License-Identifier: Apache-2.0
"""What comes to a Python function or to a library that Opwright has not built: MindSpore would read
it as a tensor, and the process would die of it."""

import mindspore as ms
import misuse
import numpy as np
import pytest
from mindspore import Tensor
from modes import FORWARD, forward

import opwright
from opwright.mindspore import Custom

X = Tensor(np.ones(4, np.float32))
OTHER = "is None or of another framework"
GIVEN = {
    "None": (lambda: None, OTHER),
    "numpy array": (lambda: np.ones(4, np.float32), OTHER),
    "torch tensor": (lambda: pytest.importorskip("torch").ones(4), OTHER),
    "dtype": (lambda: ms.float32, OTHER),
    "tuple of numbers": (lambda: (1, 2), "is a tuple"),
    "list of numbers": (lambda: [1.0, 2.0], "is a list"),
    "empty tuple": (lambda: (), "is a tuple"),
    "dict": (lambda: {"a": 1}, "is a dict"),
}
ONLY_PYTHON = {
    "str": (lambda: "text", "is a str"),
    "tuple of tensors": (lambda: (X, X), "is a tuple"),
    "list of tensors": (lambda: [X, X], "is a list"),
}


def first_of(x, *rest):
    return x


def added(x, y):
    return x + y


@pytest.fixture
def kinds(tmp_path):
    """Makes an operator of each kind."""
    library = misuse.foreign(tmp_path)
    return {
        "pyfunc": lambda: Custom(added, first_of, first_of),
        "aot": lambda: Custom(f"{library}:twice", first_of, first_of, "aot"),
    }


def refused(op, inputs, mode, words):
    """By the function's own arguments, and as constants of a compiled function."""

    def constant(x):
        return op(*inputs)

    for call, given in ((op, inputs), (constant, (X,))):
        with pytest.raises(opwright.ShapeError, match=words) as caught:
            forward(call, given, mode)
        assert caught.value.code == "CL001"


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize("case", GIVEN | ONLY_PYTHON)
def test_what_is_no_tensor_is_refused_before_mindspore_reads_it(kinds, case, mode):
    make, words = (GIVEN | ONLY_PYTHON)[case]
    refused(kinds["pyfunc"](), (X, make()), mode, f"added: input 1 {words}.*number is due")
    if case in GIVEN:
        refused(kinds["aot"](), (X, make()), mode, f"twice: input 1 {words}.*tensors is due")


@pytest.mark.parametrize("mode", FORWARD)
def test_a_numpy_array_alone_is_refused(kinds, mode):
    array = np.ones(4, np.float32)
    with pytest.raises(opwright.ShapeError, match=f"twice: input 0 {OTHER}"):
        forward(kinds["aot"](), (array,), mode)


def rule(x, y, out, dout):
    return dout, dout


COUNTS = {
    "too few": (added, None, 1, r"1 input given, the function takes 2 \(x, y\)"),
    "none": (added, None, 0, r"0 inputs given, the function takes 2 \(x, y\)"),
    "too many": (added, None, 3, r"3 inputs given, the function takes 2 \(x, y\)"),
    "ufunc": (np.add, None, 1, "1 input given, the function takes 2"),
    "default": (lambda x, y, z=1: x, None, 1, r"the function takes 2 to 3 \(x, y, z\)"),
    "open": (lambda x, y, *rest: x, None, 1, r"the function takes 2 or more \(x, y\)"),
    "bprop": (lambda *arrays: arrays[0], rule, 3, "3 inputs given, its bprop takes 2"),
}


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize("case", COUNTS)
def test_inputs_are_counted(case, mode):
    function, bprop, count, words = COUNTS[case]
    op = Custom(function, [4], ms.float32, "pyfunc", bprop)
    with pytest.raises(opwright.ShapeError, match=words) as caught:
        forward(op, (X,) * count, mode)
    assert caught.value.code == "CL001"


def of_one(x):
    return x


@pytest.mark.parametrize("mode", FORWARD)
def test_inputs_of_another_library_are_counted_by_what_is_declared(tmp_path, mode):
    op = Custom(f"{misuse.foreign(tmp_path)}:twice", of_one, of_one, "aot")
    words = r"twice: 2 inputs given, the function out_shape takes 1 \(x\)"
    with pytest.raises(opwright.ShapeError, match=words):
        forward(op, (X, X), mode)


@pytest.mark.parametrize("missing", ["out_shape", "out_dtype"])
def test_what_is_not_declared_is_refused_at_once(missing):
    declared = {"out_shape": [4], "out_dtype": ms.float32, missing: None}
    with pytest.raises(opwright.ShapeError, match=f"added: {missing} is missing.*CL020"):
        Custom(added, **declared)

# SPDX-License-Identifier: Apache-2.0
"""An operator library in mindspore.ops.Custom itself, without opwright in the process."""

import json
import pathlib
import subprocess
import sys
import tempfile

import pytest

import opwright

_METADEFS = [
    {
        "op_name": "affine",
        "input_desc": [{"name": "x", "dtype": ["float32", "float64"], "shape": [-2]}],
        "output_desc": [{"name": "y", "dtype": ["float32", "float64"], "shape": [-2]}],
        "attr": [
            {"name": "a", "type": "float", "default_value": 2.0, "param_type": "optional"},
            {"name": "b", "type": "int", "default_value": 0, "param_type": "optional"},
        ],
        "shape_rule": "same(x)",
    },
]
_SOURCE = """
#include <opwright/kernel.h>
template <class T>
void Affine(opwright::View<const T> x, opwright::View<T> y, double a, int64_t b) {
  for (int64_t i = 0; i < y.Size(); ++i)
    y.Data()[i] = static_cast<T>(a * static_cast<double>(x.Data()[i]) + static_cast<double>(b));
}
OPWRIGHT_FUNCTION(affine, Affine)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("native") / "operators"
    folder.mkdir()
    (folder / "op.json").write_text(json.dumps(_METADEFS))
    (folder / "kernel.cpp").write_text(_SOURCE)
    return opwright.build(folder)


def run(library: str, code: str) -> subprocess.CompletedProcess:
    head = f"""
import sys
import mindspore as ms, numpy as np
from mindspore.ops import Custom
path = {library!r}
def tensor(*v, dtype=np.float32): return ms.Tensor(np.array(v, dtype))
"""
    with tempfile.TemporaryDirectory() as folder:  # graph mode reads the program's file
        program = pathlib.Path(folder) / "program.py"
        program.write_text(head + code + "\nassert 'opwright' not in sys.modules\n")
        return subprocess.run(
            [sys.executable, program], capture_output=True, text=True, check=False
        )


def printed(library: str, code: str) -> str:
    done = run(library, code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_mindspore_runs_the_operator_by_its_name(library):
    code = "print(Custom(path + ':affine', lambda x: x, lambda x: x, 'aot')(tensor(1, 2)))"
    assert printed(library, code) == "[2. 4.]"


def test_attributes_of_the_primitive_are_the_operators(library):
    code = """
op = Custom(path + ':affine', lambda x: x, lambda x: x, 'aot')
op.add_prim_attr("a", 0.1)
op.add_prim_attr("b", 3)
x = tensor(1, 2, dtype=np.float64)
print((op(x).asnumpy() == np.array([1, 2]) * 0.1 + 3).all())
"""
    assert printed(library, code) == "True"


def test_0_d_and_empty_tensors(library):
    code = """
op = Custom(path + ':affine', lambda x: x, lambda x: ms.TensorType(ms.float32), 'aot')
print(op(ms.Tensor(3.0, ms.float32)).shape, op(ms.Tensor(np.zeros((2, 0), np.float32))).shape)
"""
    assert printed(library, code) == "() (2, 0)"


def test_shapes_that_are_unknown_until_run_time_are_inferred(library):
    code = """
ms.set_context(mode=ms.GRAPH_MODE)
class Net(ms.nn.Cell):
    def __init__(self):
        super().__init__()
        self.op = Custom(path + ':affine', None, lambda x: x, 'aot')
        self.op.add_prim_attr("reg_op_name", "affine")
    def construct(self, x):
        return self.op(x) + 1
net = Net()
net.set_inputs(ms.Tensor(shape=[None, 2], dtype=ms.float32))
for rows in (1, 3):
    print(net(ms.Tensor(np.ones((rows, 2), np.float32))).shape)
"""
    assert printed(library, code) == "(1, 2)\n(3, 2)"


def test_an_error_is_thrown_in_words(library):
    code = """
try:
    print(Custom(path + ':affine', lambda x: x, lambda x: x, 'aot')(tensor(1, 2, dtype=np.int32)))
except RuntimeError as error:
    print(error)
"""
    said = printed(library, code)
    assert "affine: " in said
    assert "[CL002]" in said

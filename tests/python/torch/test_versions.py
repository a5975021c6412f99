# SPDX-License-Identifier: Apache-2.0
"""Several contents of one operator name in a process, copies, and libraries that are closed."""

import shutil

import numpy as np
import pytest
import torch
from calls import assert_same
from operator_libraries import write_operator

import opwright

SOURCE = """#include <opwright/kernel.h>
using opwright::View;
void Add(View<const float> x, View<const float> y, View<float> z) {{
  for (int64_t i = 0; i < z.Size(); ++i) z.Data()[i] = x.Data()[i] + y.Data()[i] + {0};
}}
OPWRIGHT_FUNCTION({1}, Add)
void AddGrad(View<const float> g, View<float> gx, View<float> gy) {{
  for (int64_t i = 0; i < g.Size(); ++i) gx.Data()[i] = gy.Data()[i] = g.Data()[i] + {0};
}}
OPWRIGHT_FUNCTION({1}_grad, AddGrad)
"""


def metadefs(name):
    def param(which):
        return {"name": which, "dtype": ["float32"], "shape": [-2]}

    return [
        {
            "op_name": name,
            "input_desc": [param("x"), param("y")],
            "output_desc": [param("z")],
            "gradient": f"{name}_grad",
        },
        {
            "op_name": f"{name}_grad",
            "input_desc": [param("grad_z")],
            "output_desc": [param("grad_x"), param("grad_y")],
            "shape_rule": "same(grad_z)",
        },
    ]


def make(folder, name, extra):
    return opwright.build(
        write_operator(folder / f"{name}{extra}", metadefs(name), SOURCE.format(extra, name))
    )


def backward(op):
    x, y = torch.ones(2, requires_grad=True), torch.full((2,), 2.0, requires_grad=True)
    z = op(x, y)
    z.sum().backward()
    return z[0].item(), x.grad[0].item()


def test_each_handle_runs_its_own_content(tmp_path):  # M03
    first = opwright.load(make(tmp_path, "versioned", 0))
    second = opwright.load(make(tmp_path, "versioned", 1))
    assert first.identity != second.identity
    for _ in range(2):
        assert backward(first.versioned) == (3, 1)
        assert backward(second.versioned) == (4, 2)
    # The first has the plain name, the second one of its own.
    assert backward(torch.ops.opwright.versioned) == (3, 1)
    own = getattr(torch.ops, f"opwright_{second.identity[:8]}").versioned
    assert backward(own) == (4, 2)
    compiled = torch.compile(
        lambda x, y: first.versioned(x, y) * 10 + second.versioned(x, y), fullgraph=True
    )
    assert compiled(torch.ones(1), torch.ones(1)).item() == 23


def test_a_rebuilt_file_runs_its_new_code_in_new_handles(tmp_path):  # M03
    path = tmp_path / "librebuilt.so"
    handles = []
    for extra in (0, 1, 2):
        opwright.build(
            write_operator(
                tmp_path / "rebuilt", metadefs("rebuilt"), SOURCE.format(extra, "rebuilt")
            ),
            path,
        )
        handles.append(opwright.load(path).rebuilt)
    assert [backward(op) for op in handles] == [(3, 1), (4, 2), (5, 3)]


def test_a_byte_copy_and_a_link_are_the_same_library(tmp_path):  # M02
    path = make(tmp_path, "copied", 0)
    library = opwright.load(path)
    copy, link = tmp_path / "libother_name.so", tmp_path / "liblink.so"
    shutil.copyfile(path, copy)
    link.symlink_to(path)
    for other in (copy, link):
        assert opwright.load(other).copied.key == library.copied.key
    assert backward(torch.ops.opwright.copied) == (3, 1)


def test_torchs_loader_takes_a_byte_copy(run_python, tmp_path):  # M01 M02
    path = make(tmp_path, "cloned", 0)
    other = make(tmp_path, "cloned", 1)
    copy = tmp_path / "libclone.so"
    shutil.copyfile(path, copy)
    code = """
import sys, torch, opwright
first = opwright.load(sys.argv[1])
for path in sys.argv[2:]:
    torch.ops.load_library(path)
x = torch.ones(2, requires_grad=True)
torch.ops.opwright.cloned(x, x).sum().backward()
assert x.grad.tolist() == [2, 2]
second = opwright.load(sys.argv[3])
assert second.cloned(x, x).tolist() == [3, 3]
own = getattr(torch.ops, "opwright_" + second.identity[:8])
x.grad = None
own.cloned(x, x).sum().backward()
assert x.grad.tolist() == [4, 4]
"""
    result = run_python(code, path, copy, other)
    assert "Overriding" not in result.stderr


def test_two_contents_without_opwright_leave_the_first_at_work(run_python, tmp_path):  # M01
    code = """
import sys, torch
torch.ops.load_library(sys.argv[1])
torch.ops.load_library(sys.argv[2])
assert torch.ops.opwright.twice(torch.ones(1), torch.ones(1)).item() == 2
"""
    result = run_python(code, make(tmp_path, "twice", 0), make(tmp_path, "twice", 1))
    assert "registers no operator in PyTorch" in result.stderr
    assert "twice" in result.stderr


def test_a_closed_library_says_so_and_the_others_go_on(tmp_path):  # L12
    path = make(tmp_path, "closed", 0)
    first, second = opwright.load(path), opwright.load(path)
    op = first.closed
    first.close()
    with pytest.raises(opwright.CallError, match="CL014"):
        first["closed"].metadef["op_name"] and first._core.find("closed")
    assert backward(second.closed) == (3, 1)
    assert backward(op) == (3, 1)
    assert_same(torch.ops.opwright.closed(torch.ones(1), torch.ones(1)), torch.full((1,), 2.0))


def test_a_compiled_function_says_that_a_handle_was_closed(tmp_path):  # L12
    library = opwright.load(make(tmp_path, "sealed", 0))
    x = torch.ones(1)

    def call(x):
        return library.sealed(x, x)

    compiled = torch.compile(call, backend="aot_eager"), torch.compile(call, fullgraph=True)
    assert all(function(x).item() == 2 for function in compiled)
    library.close()
    with pytest.raises(opwright.CallError, match=r"this handle .* was closed") as caught:
        compiled[0](x)
    assert caught.value.code == "CL014"
    with pytest.raises((RuntimeError, TypeError), match=r"this handle .* was closed.*\[CL014\]"):
        compiled[1](x)


def test_calls_on_tensors_are_refused_after_the_last_close_as_on_arrays(tmp_path):  # L12
    path = make(tmp_path, "shut", 0)
    library = opwright.load(path)
    shut, x = library.shut, torch.ones(1, requires_grad=True)
    compiled = torch.compile(lambda x: shut(x, x))
    before = compiled(x) + shut(x, x)
    library.close()
    refused = []
    for one in (np.ones(1, np.float32), x, torch.ones(1)):
        with pytest.raises(opwright.CallError, match=r"^shut: its library .* was closed") as caught:
            shut(one, one)
        refused.append((caught.value.code, str(caught.value)))
    assert refused[0][0] == "CL014" and len(set(refused)) == 1
    with pytest.raises((RuntimeError, TypeError), match="was closed"):
        torch.compile(lambda x: shut(x, x) + 1)(x)
    # What PyTorch has goes on.
    before.sum().backward()
    assert x.grad.item() == 4
    assert_same(torch.ops.opwright.shut(x, x), torch.full((1,), 2.0))
    assert_same(compiled(x), torch.full((1,), 2.0))
    again = opwright.load(path)
    assert_same(again.shut(x, x), torch.full((1,), 2.0))
    assert_same(shut(x, x), torch.full((1,), 2.0))

# SPDX-License-Identifier: Apache-2.0
"""Custom in place of mindspore.ops.Custom: what may name the operator, what may be declared."""

import os
import pathlib

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from mindspore import ops
from modes import FORWARD, close, everywhere, forward
from operator_libraries import write_operator
from operators import GROW, GROW_SOURCE

import acl
import opwright
from opwright.mindspore import Custom


def fused(x, b, s):
    return (x + b) * s


@pytest.fixture
def inputs():
    return draw(2, 3, 4, dtype=ms.float32), draw(4, dtype=ms.float32), draw(4, dtype=ms.float32)


def test_custom_is_a_mindspore_primitive(built):
    op = Custom(built("fused_add_scale") + ":fused_add_scale", func_type="aot")
    assert isinstance(op, ops.Custom)


@pytest.mark.parametrize(
    "form",
    ["path:name", "path", "operator", "pathlib", "relative", "op", "op path", "op name", "folder"],
)
def test_every_way_to_name_the_operator(built, libraries, inputs, form):
    path = built("fused_add_scale")
    folder = pathlib.Path(__file__).resolve().parents[3] / "examples" / "fused_add_scale"
    made = {
        "path:name": lambda: Custom(path + ":fused_add_scale", func_type="aot"),
        "path": lambda: Custom(path, func_type="aot"),
        "operator": lambda: Custom(libraries("fused_add_scale").fused_add_scale, func_type="aot"),
        "pathlib": lambda: Custom(pathlib.Path(path), func_type="aot"),
        "relative": lambda: Custom(os.path.relpath(path) + ":fused_add_scale", func_type="aot"),
        "op": lambda: opwright.mindspore.op(libraries("fused_add_scale").fused_add_scale),
        "op path": lambda: opwright.mindspore.op(path),
        "op name": lambda: opwright.mindspore.op(path, "fused_add_scale"),
        "folder": lambda: Custom(str(folder), func_type="aot"),
    }[form]()
    result = everywhere(made, inputs, None)
    close(result.values, fused(*map(wide, inputs)))
    assert len(result.gradients) == 3


def test_a_relative_path_stays_what_it_was_when_the_working_folder_changes(built, inputs, tmp_path):
    op = Custom(os.path.relpath(built("fused_add_scale")) + ":fused_add_scale", func_type="aot")
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        close(everywhere(op, inputs).values, fused(*map(wide, inputs)))
    finally:
        os.chdir(before)


def shapes_first(*shapes):
    return shapes[0]


def test_a_python_function_with_a_python_gradient():
    def double(x):
        return 2 * x

    def rule(x, out, dout):
        return (2 * dout,)

    for op in (
        Custom(double, lambda s: s, lambda d: d, "pyfunc", rule),
        Custom(double, lambda s: s, lambda d: d, bprop=rule),
    ):
        x = draw(2, 3, dtype=ms.float32)
        made = everywhere(op, (x,), (0,))
        close(made.values, 2 * wide(x))
        close(made.gradients, 2 * (np.arange(6) % 7 - 2.5).reshape(2, 3))


def by_its_registered_name(x):
    return acl.ops.grow(x)


def test_customize_takes_a_name_that_the_registry_knows(tmp_path):
    folder = write_operator(tmp_path / "grow", GROW, GROW_SOURCE.replace("FACTOR", "5"))
    path = opwright.build(folder)
    with pytest.raises(opwright.Error, match="grow"):
        Custom("grow", shapes_first, shapes_first, "customize")
    assert acl.init() == 0
    try:
        assert acl.rt.set_device(0) == 0
        assert acl.ops.load_operator_library(path) == 0, acl.get_recent_err_msg()
        assert acl.op.register_operator("grow") == 0, acl.get_recent_err_msg()
        model = ("grow", str(folder / "op.json"), "grow")
        assert acl.op.register_operator_model(*model) == 0, acl.get_recent_err_msg()
        op = Custom("grow", shapes_first, shapes_first, "customize")
        x = draw(2, 3, dtype=ms.float32)
        close(everywhere(op, (x,)).values, 5 * wide(x), 1e-6)
        close(everywhere(Custom("grow", func_type="customize"), (x,)).values, 5 * wide(x), 1e-6)
        close(everywhere(by_its_registered_name, (x,)).values, 5 * wide(x), 1e-6)
    finally:
        acl.op.unregister_operator("grow")
        acl.finalize()


def test_an_identity_gradient_beside_a_compiled_forward(built, inputs):
    def identity(x, b, s, out, dout):
        return dout, ops.sum(dout, (0, 1)), ops.sum(dout, (0, 1))

    path = built("fused_add_scale") + ":fused_add_scale"
    op = Custom(path, shapes_first, shapes_first, "aot", identity)
    weights = (np.arange(24) % 7 - 2.5).reshape(2, 3, 4)
    made = everywhere(op, inputs, None).gradients
    close(made, [weights, weights.sum((0, 1)), weights.sum((0, 1))])


@pytest.mark.parametrize("mode", FORWARD)
def test_a_library_of_one_forward_operator_needs_no_name(tmp_path, mode):
    folder = write_operator(tmp_path / "grow", GROW, GROW_SOURCE.replace("FACTOR", "3"))
    op = Custom(opwright.build(folder), func_type="aot")
    x = draw(2, 3, dtype=ms.float32)
    close(forward(op, (x,), mode), 3 * wide(x), 1e-6)


REFUSED = {
    "no file": ("./no_such.so:grow", "aot", "no_such.so"),
    "no function": ("{path}:nope", "aot", "nope"),
    "several operators": ("{several}", "aot", "parts"),
    "text": ("{text}:grow", "aot", "text"),
    "function to aot": (shapes_first, "aot", "function"),
    "library to pyfunc": ("{path}:fused_add_scale", "pyfunc", "aot"),
    "unknown func_type": ("{path}:fused_add_scale", "aut", "aut"),
    "akg": ("{path}:fused_add_scale", "akg", "akg"),
    "hybrid": (lambda x: x, "hybrid", "hybrid"),
    "tvm": (lambda x: x, "tvm", "tvm"),
    "tbe": ("{path}:fused_add_scale", "tbe", "tbe"),
    "number": (3, "aot", "int"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_names_no_operator_is_refused_at_once(built, tmp_path, case):  # X07
    func, func_type, words = REFUSED[case]
    (tmp_path / "text.so").write_text("no library\n")
    if isinstance(func, str):
        func = func.format(
            path=built("fused_add_scale"), several=built("several"), text=tmp_path / "text.so"
        )
    with pytest.raises(opwright.Error, match=words) as caught:
        Custom(func, shapes_first, shapes_first, func_type)
    assert caught.value.code


def test_the_arguments_may_be_given_in_order(built, inputs):
    path = built("fused_add_scale") + ":fused_add_scale"
    op = Custom(path, shapes_first, shapes_first, "aot", None, None)
    close(everywhere(op, inputs).values, fused(*map(wide, inputs)))

# SPDX-License-Identifier: Apache-2.0
"""Operators that write inputs ("mutates"): MindSpore sees no such write, so they are refused."""

import mindspore as ms
import numpy as np
import pytest
import torch
from modes import FORWARD, MODES, forward, gradient
from operator_libraries import write_operator
from sources.describe import HEADER, metadef, param

import opwright
from opwright.mindspore import Custom

F32 = ["float32"]
METADEFS = [
    metadef(
        "ema",
        [param("s", F32), param("x", F32)],
        [param("y", F32)],
        mutates=["s"],
        shape_rule="same(s, x)",
    ),
    # A backward operator that writes what the forward one was given.
    metadef("twice", [param("x", F32)], [param("y", F32)], gradient="twice_grad"),
    metadef(
        "twice_grad",
        [param("x", F32), param("grad_y", F32)],
        [param("grad_x", F32)],
        mutates=["x"],
        shape_rule="same(x)",
    ),
]
SOURCE = (
    HEADER
    + """
void Ema(View<float> s, View<const float> x, View<float> y) {
  for (int64_t i = 0; i < x.Size(); ++i)
    y.Data()[i] = s.Data()[i] = (s.Data()[i] + x.Data()[i]) / 2;
}
OPWRIGHT_FUNCTION(ema, Ema)
void Twice(View<const float> x, View<float> y) {
  for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = 2 * x.Data()[i];
}
OPWRIGHT_FUNCTION(twice, Twice)
void TwiceGrad(View<float> x, View<const float> grad_y, View<float> grad_x) {
  for (int64_t i = 0; i < x.Size(); ++i) {
    grad_x.Data()[i] = 2 * grad_y.Data()[i];
    x.Data()[i] = 0;
  }
}
OPWRIGHT_FUNCTION(twice_grad, TwiceGrad)
"""
)
WORDS = r"ema writes its input s, which MindSpore does not see: .*self\.s = op.*numpy.*\[CL023\]"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written") / "operators"
    return opwright.build(write_operator(folder, METADEFS, SOURCE))


def tensors():
    return ms.Tensor(np.zeros(3), ms.float32), ms.Tensor(np.ones(3), ms.float32)


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize("form", ["by position", "by name", "unused"])
def test_the_operator_is_refused_and_writes_nothing(path, mode, form):
    ema = opwright.load(path).ema

    def by_position(s, x):
        return ema(s, x)

    def by_name(s, x):
        return ema(s, x=x)

    def unused(s, x):
        ema(s, x)
        return x - s

    call = {"by position": by_position, "by name": by_name, "unused": unused}[form]
    s, x = tensors()
    with pytest.raises(opwright.CallError, match=WORDS):
        forward(call, (s, x), mode)
    assert not s.asnumpy().any()


@pytest.mark.parametrize("mode", MODES)
def test_its_gradient_is_refused(path, mode):
    ema = opwright.load(path).ema

    def loss(s, x):
        kept = s * s
        ema(s, x)
        return kept.sum()

    with pytest.raises(opwright.CallError, match=WORDS):
        gradient(loss, tensors(), None, mode)


def test_every_other_route_refuses_it_too(path):
    ema = opwright.load(path).ema

    def rule(s, x, out, dout):
        return dout, dout

    for make in (
        lambda: Custom(f"{path}:ema", func_type="aot"),
        lambda: Custom(f"{path}:ema", lambda s, x: s, lambda s, x: s, "aot", bprop=rule),
        lambda: Custom(ema),
        lambda: opwright.mindspore.op(path, "ema"),
        lambda: opwright.mindspore.op(ema, bprop=rule),
    ):
        with pytest.raises(opwright.CallError, match=WORDS):
            make()
    assert ema.python_bprop is None


def test_mindspores_own_custom_refuses_it(path):
    s, x = tensors()
    op = ms.ops.Custom(f"{path}:ema", lambda s, x: s, lambda s, x: s, "aot")

    def call(s, x):
        return op(s, x)

    for mode in FORWARD:
        with pytest.raises(RuntimeError, match=r"ema writes its input s, .*\[CL023\]"):
            forward(call, (s, x), mode)
        assert not s.asnumpy().any()


@pytest.mark.parametrize("mode", MODES)
def test_a_backward_operator_that_writes_inputs_is_refused(path, mode):
    twice = opwright.load(path).twice
    _, x = tensors()
    np.testing.assert_array_equal(forward(twice, (x,), "jit").asnumpy(), 2 * x.asnumpy())

    def loss(x):
        return twice(x).sum()

    with pytest.raises(opwright.CallError, match=r"twice: .*twice_grad writes its input x.*CL023"):
        gradient(loss, (x,), None, mode)
    np.testing.assert_array_equal(x.asnumpy(), np.ones(3))


def test_numpy_and_torch_go_on(path):
    ema = opwright.load(path).ema
    for zeros, ones in (
        (np.zeros(3, np.float32), np.ones(3, np.float32)),
        (torch.zeros(3), torch.ones(3)),
    ):
        made = ema(zeros, ones)
        np.testing.assert_array_equal(np.asarray(made), np.full(3, 0.5))
        np.testing.assert_array_equal(np.asarray(zeros), np.full(3, 0.5))

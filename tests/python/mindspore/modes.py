# SPDX-License-Identifier: Apache-2.0
"""One function in every mode of MindSpore: its values, its gradients, its errors.

The modes: "pynative"; "jit", where the function is compiled and differentiated from outside;
"jit-grad", where the differentiation is compiled with it; "graph", a Cell in GRAPH_MODE.
"""

import contextlib
from dataclasses import dataclass

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

MODES = ("pynative", "jit", "jit-grad", "graph")
# Without a gradient "jit-grad" is "jit".
FORWARD = ("pynative", "jit", "graph")


class Net(nn.Cell):
    """A Cell of a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, *inputs):
        return self.function(*inputs)


@contextlib.contextmanager
def mode_of(mode):
    """MindSpore's global mode for one of ours; PyNative again afterwards, whatever happens."""
    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    try:
        yield
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def fixed(function, count):
    """The function with `count` parameters: ms.jit differentiates no function of *inputs."""

    def of0():
        return function()

    def of1(a):
        return function(a)

    def of2(a, b):
        return function(a, b)

    def of3(a, b, c):
        return function(a, b, c)

    def of4(a, b, c, d):
        return function(a, b, c, d)

    return (of0, of1, of2, of3, of4)[count]


def forward(function, inputs, mode="pynative"):
    """The function's values; all work is done when this returns, and its errors are raised."""
    with mode_of(mode):
        if mode == "graph":
            made = Net(function)(*inputs)
        elif mode == "pynative":
            made = function(*inputs)
        else:
            made = ms.jit(fixed(function, len(inputs)))(*inputs)
        for value in flat(made):
            array(value)
        return made


def weighted(function, weights):
    """A loss: each output times its weight, summed. An output whose weight is None is not used."""
    if not isinstance(weights, tuple):

        def of_one(*inputs):
            return ops.reduce_sum(function(*inputs) * weights)

        return of_one
    used = tuple(k for k, weight in enumerate(weights) if weight is not None)

    def of_several(*inputs):
        made = function(*inputs)
        total = 0
        for k in used:
            total = total + ops.reduce_sum(made[k] * weights[k])
        return total

    return of_several


def gradient(loss, inputs, positions=None, mode="pynative"):
    """The gradients of a loss for the inputs at `positions`: all of them unless said."""
    positions = tuple(range(len(inputs))) if positions is None else positions
    loss = fixed(loss, len(inputs))

    def compiled(*given):
        return ms.grad(loss, positions)(*given)

    with mode_of(mode):
        if mode == "graph":
            made = ms.grad(Net(loss), positions)(*inputs)
        elif mode == "pynative":
            made = ms.grad(loss, positions)(*inputs)
        elif mode == "jit":
            made = ms.grad(ms.jit(loss), positions)(*inputs)
        else:
            made = ms.jit(fixed(compiled, len(inputs)))(*inputs)
        for value in flat(made):
            array(value)
        return made


def weights_like(made):
    """A weight for each element of what a function made: small ones, some negative."""
    if isinstance(made, (tuple, list)):
        return tuple(weights_like(value) for value in made)
    if not made.dtype.is_floating_point:
        return None
    values = (np.arange(made.size, dtype=np.float64) % 7 - 2.5).reshape(made.shape)
    # The CPU has no sum of bfloat16.
    return Tensor(values, ms.float32 if made.dtype == ms.bfloat16 else made.dtype)


@dataclass
class Result:
    values: object
    gradients: tuple = ()


def everywhere(function, inputs, positions=(), weights="all", modes=MODES):
    """Values and gradients, asserted to have the same bits in every mode."""
    first = None
    for mode in modes:
        again = mode == "jit-grad" and first is not None
        made = Result(first.values if again else forward(function, inputs, mode))
        if positions is None or positions:
            if isinstance(weights, str):
                weights = weights_like(made.values)
            loss = weighted(function, weights)
            made.gradients = gradient(loss, inputs, positions, mode)
        if first is None:
            first = made
        same_bits(made.values, first.values, mode)
        same_bits(made.gradients, first.gradients, mode)
    return first


def refusals(action, modes=MODES):
    """{mode: the exception that action(mode) raises}; a mode that raises none has None."""
    made = {}
    for mode in modes:
        made[mode] = None
        try:
            action(mode)
        except Exception as error:
            made[mode] = error
    return made


def flat(value):
    """The tensors of nested lists and tuples, in order."""
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in flat(item)]
    return [] if value is None else [value]


def bits(tensor):
    """(dtype, shape, bytes) of a tensor; what is no tensor is shown as it is."""
    if not isinstance(tensor, Tensor):
        return repr(tensor)
    wide = tensor.astype(ms.float32) if tensor.dtype == ms.bfloat16 else tensor
    return str(tensor.dtype), tuple(tensor.shape), wide.asnumpy().tobytes()


def same_bits(made, expected, label=""):
    made, expected = flat(made), flat(expected)
    assert len(made) == len(expected), label
    for got, due in zip(made, expected, strict=True):
        assert bits(got) == bits(due), (label, got, due)


# Of the result's own rounding: a few units in the last place.
TOLERANCE = {"Float16": 4e-3, "BFloat16": 3e-2, "Float32": 2e-6, "Float64": 1e-12}


def array(value):
    """A float64 array (or an integer one) of a tensor, or of what numpy takes."""
    if isinstance(value, Tensor):
        # MindSpore gives bfloat16 to no numpy 2.
        value = value.astype(ms.float32) if value.dtype == ms.bfloat16 else value
        value = value.asnumpy()
    return np.asarray(value)


def close(made, expected, tolerance=None):
    """Tensors are near numpy's float64 answers, in shape too."""
    made = flat(made)
    expected = flat(expected)
    assert len(made) == len(expected)
    for got, due in zip(made, expected, strict=True):
        assert isinstance(got, Tensor), got
        due = array(due)
        assert tuple(got.shape) == due.shape
        rtol = TOLERANCE.get(str(got.dtype), 0) if tolerance is None else tolerance
        np.testing.assert_allclose(array(got).astype(np.float64), due, rtol=rtol, atol=rtol)


def distinct(one, other) -> bool:
    """Whether two tensors are in memory of their own; writes into the first."""
    before = other.asnumpy().tobytes()
    one.asnumpy()[:] = 99  # MindSpore's own memory
    return other.asnumpy().tobytes() == before


def called(op, attrs):
    """The operator with its attributes, as a function of its inputs."""

    def call(*inputs):
        return op(*inputs, **attrs)

    return call if attrs else op

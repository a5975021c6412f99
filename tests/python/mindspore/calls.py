# SPDX-License-Identifier: Apache-2.0
"""Calls of every operator with numpy's float64 answer for each: what the tests sweep over."""

from collections.abc import Callable
from dataclasses import dataclass, field

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor
from modes import MODES, array, close, everywhere, weights_like

import opwright
from opwright.mindspore import Custom

generator = np.random.default_rng(20)


def draw(*shape, dtype=ms.float64):
    """Values well away from 0, so that nothing is near a kink or a pole."""
    return Tensor(np.asarray(generator.random(shape) + 0.5), dtype)


def integers(*shape, high, dtype):
    return Tensor(generator.integers(0, high, shape), dtype)


@dataclass
class Case:
    """A call. `places`: the inputs that have a gradient; `used`: outputs that have, if not all."""

    group: str
    operator: str
    inputs: Callable[[], tuple]
    reference: Callable
    attrs: dict = field(default_factory=dict)
    places: tuple = None
    used: tuple = None
    label: str = ""

    def __str__(self):
        return f"{self.operator}{'-' if self.label else ''}{self.label}"

    def expected(self, inputs):
        return self.reference(*map(wide, inputs), **self.attrs)


def wide(value):
    """numpy's float64, or integers as they are, for a tensor, a list of tensors or a number."""
    if isinstance(value, (list, tuple)):
        return [wide(item) for item in value]
    if isinstance(value, Tensor):
        value = array(value)
        return value.astype(np.float64) if value.dtype.kind == "f" else value
    return value


def check_product(op, modes=MODES):
    """The operator `product`, with whatever rule: values and gradients are right in each mode."""
    x, y = draw(2, 3), draw(2, 3)
    made = everywhere(op, (x, y), None, modes=modes)
    weights = wide(weights_like(made.values))
    close(made.values, wide(x) * wide(y))
    close(made.gradients, [weights * wide(y), weights * wide(x)])


def check_refused(built, rule, words, code="GR020"):
    """That the product with this rule is refused before any call, so in every mode."""
    with pytest.raises(opwright.GradientError, match=words) as caught:
        Custom(built("product") + ":product", func_type="aot", bprop=rule)
    assert caught.value.code == code


def numeric_gradient(case, inputs, weights=None):
    """Central differences of numpy's answer, for the inputs at the case's places.

    The loss is the sum of the outputs by their weights, or without weights of their squares.
    """

    def loss(values):
        made = case.reference(*values, **case.attrs)
        made = made if isinstance(made, (tuple, list)) else (made,)
        if weights is None:
            used = case.used or range(len(made))
            return sum((np.asarray(made[k]) ** 2).sum() for k in used)
        due = weights if isinstance(weights, tuple) else (weights,)
        return sum((m * array(w)).sum() for m, w in zip(made, due, strict=True) if w is not None)

    values = [wide(value) for value in inputs]
    found = []
    for place in case.places:
        parts = values[place] if isinstance(values[place], list) else [values[place]]
        for part in parts:
            grad = np.zeros_like(part)
            for k in np.ndindex(part.shape):
                kept = part[k]
                part[k] = kept + 1e-5
                above = loss(values)
                part[k] = kept - 1e-5
                grad[k] = (above - loss(values)) / 2e-5
                part[k] = kept
            found.append(grad)
    return found


def fused(x, b, s):
    return (x + b) * s


def linear(x, w, bias=None, alpha=1.0):
    y = alpha * (x @ w)
    return y if bias is None else y + bias


def sum_all(xs, bias=None):
    y = sum((k + 1) * x for k, x in enumerate(xs))
    return y if bias is None else y + 3 * bias


def choose(x, mask, level, offset):
    return np.where(mask, x, level), offset


def parts(x):
    return 2 * x, np.floor(x + 0.5).sum(0), x.sum()


F32 = {"dtype": ms.float32}
CASES = [
    Case("element_add", "element_add", lambda: (draw(2, 3, **F32), draw(2, 3, **F32)), np.add),
    Case("fused_add_scale", "fused_add_scale",
         lambda: (draw(2, 3, 4), draw(4), draw(4)), fused, places=(0, 1, 2)),
    Case("fused_broadcast", "fused_broadcast",
         lambda: (draw(4, 3), draw(3), draw(4, 1)), fused, places=(0, 1, 2), label="3-ways"),
    Case("fused_broadcast", "fused_broadcast",
         lambda: (draw(4, 1), draw(1, 4), draw()), fused, places=(0, 1, 2), label="2-sided"),
    Case("fused_broadcast", "fused_broadcast",
         lambda: (draw(2, 3), draw(5, 2, 3), draw(1)), fused, places=(0, 1, 2), label="batch"),
    Case("elementwise", "square", lambda: (draw(2, 3),), np.square, places=(0,)),
    Case("elementwise", "square", lambda: (draw(),), np.square, places=(0,), label="0-d"),
    Case("elementwise", "power", lambda: (draw(2, 3),),
         lambda x, exponent, scale=1.0: scale * x**exponent,
         {"exponent": 3, "scale": 0.5}, places=(0,)),
    Case("elementwise", "inverse", lambda: (draw(5),), lambda x: 1 / x, places=(0,)),
    Case("inputs", "linear", lambda: (draw(3, 4), draw(4, 5), draw(5)), linear,
         {"alpha": 1.5}, places=(0, 1, 2), label="bias"),
    Case("inputs", "linear", lambda: (draw(3, 4), draw(4, 5)), linear, places=(0, 1)),
    Case("inputs", "linear", lambda: (draw(3, 4), draw(4, 5), None), linear, places=(0, 1),
         label="none"),
    Case("inputs", "sum_all", lambda: ([draw(4), draw(4)],), sum_all),
    Case("inputs", "sum_all", lambda: ([draw(4), draw(4)], draw(4)), sum_all,
         label="bias"),
    Case("inputs", "greatest", lambda: (draw(2, 3, 4),),
         lambda x: (x.max(-1), x.argmax(-1)), places=(0,), used=(0,)),
    Case("inputs", "pair", lambda: (draw(2, 3), draw(2, 3)), lambda x, y: (x * y, x + 3 * y),
         places=(0, 1)),
    Case("inputs", "take_rows",
         lambda: (draw(5, 3, **F32), integers(4, high=5, dtype=ms.int32)),
         lambda x, idx: x[idx], places=(0,)),
    Case("inputs", "choose",
         lambda: (draw(2, 3, **F32), integers(2, 3, high=2, dtype=ms.bool_),
                  integers(2, 3, high=200, dtype=ms.uint8),
                  integers(2, 3, high=9, dtype=ms.int64)),
         choose),
    Case("shapes", "outer_flat", lambda: (draw(3), draw(4)),
         lambda x, y: np.outer(x, y).reshape(-1), places=(0, 1)),
    Case("shapes", "repeat_rows", lambda: (draw(2, 3),),
         lambda x, times=2: np.tile(x, (times, 1)), {"times": 3}, places=(0,)),
    Case("shapes", "total", lambda: (draw(2, 3),), np.sum, places=(0,)),
    Case("several", "parts", lambda: (draw(2, 3, **F32),), parts, places=(0,),
         used=(0, 2)),
    Case("several", "sums", lambda: (draw(2, 3),), lambda x: (x.sum(1), x.sum(0)), places=(0,)),
]  # fmt: skip
WITH_GRADIENT = [case for case in CASES if case.places]

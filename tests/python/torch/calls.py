# SPDX-License-Identifier: Apache-2.0
"""Calls of every operator with a native reference for each: what the tests sweep over."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

generator = torch.Generator().manual_seed(20)


def draw(*shape, dtype=torch.float64, grad=False):
    """Values well away from 0, so that nothing is near a kink or a pole."""
    values = torch.rand(shape, generator=generator, dtype=torch.float64) + 0.5
    return values.to(dtype).requires_grad_(grad)


def integers(*shape, high, dtype):
    return torch.randint(0, high, shape, generator=generator).to(dtype)


@dataclass
class Case:
    group: str
    operator: str
    inputs: Callable[[], tuple]
    reference: Callable
    attrs: dict = field(default_factory=dict)
    gradient: bool = True
    label: str = ""

    def __str__(self):
        return f"{self.operator}{'-' if self.label else ''}{self.label}"

    def floats(self):
        """Fresh inputs; float64 ones require a gradient."""

        def need(value):
            if isinstance(value, list):
                return [need(item) for item in value]
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                return value.requires_grad_(self.gradient)
            return value

        return tuple(need(value) for value in self.inputs())


def fused(x, b, s):
    return (x + b) * s


def linear(x, w, bias=None, alpha=1.0):
    y = alpha * (x @ w)
    return y if bias is None else y + bias


def sum_squares(xs):
    return sum((k + 1) * x * x for k, x in enumerate(xs))


def scale_each(xs):
    return [(k + 2) * x for k, x in enumerate(xs)]


def sum_all(xs, bias=None):
    y = sum((k + 1) * x for k, x in enumerate(xs))
    return y if bias is None else y + 3 * bias


def lift(xs, shift):
    return sum(x * x for x in xs) + shift


def greatest(x):
    values, index = x.max(-1)
    return values, index


CASES = [
    Case(
        "element_add",
        "element_add",
        lambda: (draw(2, 3, dtype=torch.float32),) * 2,
        torch.add,
        gradient=False,
    ),
    Case("fused_add_scale", "fused_add_scale", lambda: (draw(2, 3, 4), draw(4), draw(4)), fused),
    Case(
        "fused_broadcast",
        "fused_broadcast",
        lambda: (draw(4, 3), draw(3), draw(4, 1)),
        fused,
        label="3-ways",
    ),
    Case(
        "fused_broadcast",
        "fused_broadcast",
        lambda: (draw(4, 1), draw(1, 4), draw()),
        fused,
        label="2-sided",
    ),
    Case(
        "fused_broadcast",
        "fused_broadcast",
        lambda: (draw(2, 3), draw(5, 2, 3), draw(1)),
        fused,
        label="batch",
    ),
    Case("elementwise", "square", lambda: (draw(2, 3),), torch.square),
    Case("elementwise", "square", lambda: (draw(),), torch.square, label="0-d"),
    Case(
        "elementwise",
        "power",
        lambda: (draw(2, 3),),
        lambda x, exponent, scale=1.0: scale * x**exponent,
        {"exponent": 3, "scale": 0.5},
    ),
    Case("elementwise", "inverse", lambda: (draw(5),), lambda x: 1 / x),
    Case(
        "inputs",
        "linear",
        lambda: (draw(3, 4), draw(4, 5), draw(5)),
        linear,
        {"alpha": 1.5},
        label="bias",
    ),
    Case("inputs", "linear", lambda: (draw(3, 4), draw(4, 5)), linear),
    Case("inputs", "linear", lambda: (draw(3, 4), draw(4, 5), None), linear, label="none"),
    Case("inputs", "sum_squares", lambda: ([draw(2, 3), draw(2, 3), draw(2, 3)],), sum_squares),
    Case("inputs", "sum_all", lambda: ([draw(4), draw(4)],), sum_all),
    Case("inputs", "sum_all", lambda: ([draw(4), draw(4)], None), sum_all, label="none"),
    Case("inputs", "sum_all", lambda: ([draw(4), draw(4)], draw(4)), sum_all, label="bias"),
    Case("inputs", "lift", lambda: ([draw(4), draw(4)], draw(1)), lift),
    Case("inputs", "scale_each", lambda: ([draw(2), draw(3, 2), draw()],), scale_each),
    Case("inputs", "add_weighted", lambda: ([draw(2, 3), draw(2, 3)],), sum_all),
    Case("inputs", "greatest", lambda: (draw(2, 3, 4),), greatest),
    Case("inputs", "pair", lambda: (draw(2, 3), draw(2, 3)), lambda x, y: (x * y, x + 3 * y)),
    Case(
        "inputs",
        "take_rows",
        lambda: (draw(5, 3, dtype=torch.float32), integers(4, high=5, dtype=torch.int32)),
        lambda x, idx: x[idx.long()],
    ),
    Case(
        "inputs",
        "choose",
        lambda: (
            draw(2, 3, dtype=torch.float32),
            integers(2, 3, high=2, dtype=torch.bool),
            integers(2, 3, high=200, dtype=torch.uint8),
            integers(2, 3, high=9, dtype=torch.int64),
        ),
        lambda x, mask, level, offset: (torch.where(mask, x, level.float()), offset.int()),
        gradient=False,
    ),
    Case(
        "inputs",
        "add_parts",
        lambda: (draw(3), draw(3), [draw(3), draw(3)]),
        lambda first, x, rest: [part + x + (0 if first is None else first) for part in rest],
        gradient=False,
    ),
    Case(
        "shapes", "outer_flat", lambda: (draw(3), draw(4)), lambda x, y: torch.outer(x, y).flatten()
    ),
    Case(
        "shapes",
        "repeat_rows",
        lambda: (draw(2, 3),),
        lambda x, times=2: x.repeat(times, 1),
        {"times": 3},
    ),
    Case("shapes", "total", lambda: (draw(2, 3),), torch.sum),
]
WITH_GRADIENT = [case for case in CASES if case.gradient]


def tensors(value):
    """The tensors of nested lists and tuples, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors(item)]
    return []


def assert_same(made, expected, **tolerances):
    made, expected = tensors(made), tensors(expected)
    assert len(made) == len(expected)
    for got, due in zip(made, expected, strict=True):
        torch.testing.assert_close(got, due, **tolerances)


def scattered(value):
    """The same values in memory that is neither dense nor in order."""
    if isinstance(value, list):
        return [scattered(item) for item in value]
    if not isinstance(value, torch.Tensor):
        return value
    wide = value.detach().movedim(0, -1).unsqueeze(-1) if value.dim() else value.detach().reshape(1)
    wide = torch.cat([wide, wide], -1).contiguous()
    view = wide[..., 0].movedim(-1, 0) if value.dim() else wide[0]
    return view.requires_grad_(value.requires_grad)

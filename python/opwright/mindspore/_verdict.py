# SPDX-License-Identifier: Apache-2.0
"""The judge of what a bprop returned: the same words in PyNative mode, ms.jit and graph mode.

Constant primitives: compiled modes run their __infer__ while they compile, where every shape and
dtype is known or unknown but there, and an exception from it reaches the user as it is; PyNative
runs their __call__. In a compiled graph nothing of them is left.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import mindspore as ms
from mindspore.ops import PrimitiveWithInfer

from opwright import _bprop, _errors
from opwright.mindspore import _abstract

# What is to be done with a gradient that may pass; of a list, a tuple of that.
KEEP, CAST, ZEROS, REDUCE, COPY = range(5)

_count = itertools.count()


class Constant(PrimitiveWithInfer):
    """A primitive that compiled modes compute while they compile."""

    def __init__(self, name: str):
        # MindSpore says the name when it cannot infer; and keeps what it knows by it.
        super().__init__(f"{name} ({next(_count)})")
        self.set_const_prim(True)
        self.add_prim_attr("forbid_reuse_result", True)

    def __infer__(self, *given):
        value = self.judge(*map(_abstract.of_infer, given))
        return {"dtype": None, "shape": None, "value": value}

    def __call__(self, *given):
        return self.judge(*map(_abstract.of_value, given))


class IsCompiled(Constant):
    """() -> whether what calls it is being compiled."""

    def __init__(self):
        super().__init__("opwright: whether a graph is compiled")

    def __infer__(self):
        return {"dtype": None, "shape": None, "value": True}

    def __call__(self):
        return False


class Verdict(Constant):
    """(gradients, *inputs, out) -> what to do with each gradient; GR003 to GR006 as exceptions."""

    def __init__(
        self,
        op: str,
        names: tuple[str, ...],
        wide: tuple[int | None, ...],
        forms: tuple[tuple | None, ...],
    ):
        super().__init__(
            f"{op}: what the bprop returns is unknown until run time (Python-only code in it?), "
            "which ms.jit and graph mode cannot compile [GR020]"
        )
        self._op = op
        self._names = names
        self._wide = wide  # of each input: the output that it is broadcast to
        self._forms = forms  # of each gradient, by _shared
        self._copied = [form is None or form in forms[:k] for k, form in enumerate(forms)]

    def judge(self, returned, *given):
        *inputs, out = given
        outs = out.items or (out,)
        for name, each in zip(self._names, inputs, strict=True):
            if each.kind == "tensor" and each.dtype.startswith("complex"):
                raise _errors.make(
                    "GR006", f"{self._op}: input {name} is {each.dtype}, which has no gradient here"
                )
        due = [
            _bprop.Due(
                name,
                is_float(each),
                each.shape,
                each.dtype,
                None if wide is None else outs[wide].shape,
            )
            for name, each, wide in zip(self._names, inputs, self._wide, strict=True)
        ]
        _bprop.settle(self._op, _as_returned(returned, due), due, _Adapter)
        for name, grad, each in zip(self._names, returned.items, inputs, strict=True):
            if each.kind in _LISTS:
                self._judge_list(name, grad, each)
        return tuple(map(self._action, returned.items, inputs))

    def _judge_list(self, name: str, grad, given) -> None:
        if not any(map(is_float, given.items)):
            return
        if grad.kind == "none":
            raise _errors.make(
                "GR004",
                f"{self._op}: the bprop returned None for the list {name}, which is due gradients",
            )
        right = len(grad.items) == len(given.items) and all(
            map(_may_be_gradient, grad.items, given.items)
        )
        if grad.kind not in _LISTS or not right:
            raise _errors.make(
                "GR005",
                f"{self._op}: the bprop's gradient of the list {name} is {_words(grad)}, "
                f"{_words(given)} is due: one for each of its tensors",
            )

    def __infer__(self, *given):
        made = super().__infer__(*given)
        returned = _abstract.of_infer(given[0]).items
        # What multiplies by a constant may be dropped from the graph, whatever its form.
        constant = any(isinstance(each.get("value"), (ms.Tensor, int, float)) for each in given[1:])
        forms = [None] * len(returned) if constant else self._forms
        made["value"] = _apart(made["value"], returned, forms)
        return made

    def __call__(self, *given):
        """A view is an object of its own, and to ask where it lies is to wait for its kernel. So
        what may be another gradient by its form is copied, and what may be an input."""
        actions = super().__call__(*given)
        return tuple(
            _copies(what) if copied else what
            for what, copied in zip(actions, self._copied, strict=True)
        )

    @classmethod
    def _action(cls, grad, given) -> int | tuple[int, ...]:
        if any(map(is_float, given.items)):
            return tuple(map(cls._action, grad.items, given.items))
        if not is_float(given):  # a list of integers too
            return ZEROS
        known = _abstract.is_known(grad.shape) and _abstract.is_known(given.shape)
        if not known or grad.shape != given.shape:
            return REDUCE  # and checked by it
        return KEEP if grad.dtype == given.dtype else CAST


_LISTS = ("list", "tuple")


def _may_be_gradient(grad, given) -> bool:
    """Whether it is one for this tensor of a list; it may be cast."""
    if not is_float(given):
        return True
    return is_float(grad) and _abstract.may_be_equal(grad.shape, given.shape)


def _words(value) -> str:
    if value.kind in _LISTS:
        return f"[{', '.join(map(_words, value.items))}]"
    return f"{value.dtype}{list(value.shape)}" if value.kind == "tensor" else value.kind


def _copies(what):
    if isinstance(what, tuple):
        return tuple(map(_copies, what))
    return COPY if what == KEEP else what


def _apart(actions, grads, forms) -> tuple:
    """Of gradients that may be one node of a graph, all but the first are copied by REDUCE: the
    graph would merge two copies."""
    before = []

    def settled(what, grad, form):
        if isinstance(what, tuple):
            return tuple(settled(*each, None) for each in zip(what, grad.items, strict=True))
        if grad.kind != "tensor":
            return what
        size = (grad.dtype, math.prod(grad.shape))
        may_be_one = any(
            size == other and (None in (form, another) or form == another)
            for other, another in before
        )
        before.append((size, form))
        return REDUCE if what == KEEP and may_be_one else what

    return tuple(map(settled, actions, grads, forms))


def is_float(each) -> bool:
    return each.kind == "tensor" and each.dtype.startswith(("float", "bfloat"))


def _as_returned(returned, due):
    """What came as _bprop.settle takes it. An unknown shape that may be right counts as right."""
    if returned.kind == "none":
        return None
    if returned.kind != "tuple":
        return returned
    grads = [None if grad.kind == "none" else grad for grad in returned.items]
    if len(grads) == len(due):
        for k, item in enumerate(due):
            grad = grads[k]
            for shape in (item.shape, item.wide):
                if (
                    shape is not None
                    and _Adapter.is_tensor(grad)
                    and _abstract.may_be_equal(grad.shape, shape)
                ):
                    grads[k] = replace(grad, shape=shape)
                    break
    return tuple(grads)


class _Adapter:
    """Abstracts as _bprop.settle sees tensors. Casting and summing come later, by the action."""

    @staticmethod
    def is_tensor(value) -> bool:
        return isinstance(value, _abstract.Abstract) and value.kind == "tensor"

    is_float = staticmethod(is_float)

    @staticmethod
    def shape(value):
        return value.shape

    @staticmethod
    def dtype(value):
        return value.dtype

    @staticmethod
    def kind(value) -> str:
        return "Python number" if value.kind == "number" else value.kind

    @staticmethod
    def cast(value, dtype):
        return value

    @staticmethod
    def reduce(value, shape):
        return replace(value, shape=shape) if _sums_to(value.shape, shape) else value


def _sums_to(shape, wanted) -> bool:
    """Whether a tensor of the one shape can come from broadcasting one of the other."""
    if _abstract.UNKNOWN_RANK in (tuple(shape), tuple(wanted)):
        return True
    tail = shape[len(shape) - len(wanted) :]
    return len(shape) >= len(wanted) and all(
        a == b or b == 1 or a < 0 or b < 0 for a, b in zip(tail, wanted, strict=True)
    )


class Refuse(Constant):
    """Raises when a gradient is asked for that there is not."""

    def __init__(self, op: str, code: str, text: str):
        super().__init__(op)
        self._code = code
        self._text = text

    def judge(self, *given):
        raise _errors.make(self._code, self._text)

# SPDX-License-Identifier: Apache-2.0
"""What Opwright has not built: a Python function, or a function of another library, with what is
declared of it.

MindSpore hands such a kernel whatever comes, without a look. What is no tensor is read as one, and
the process dies; an empty tensor is copied from nowhere.
"""

from __future__ import annotations

import math

import numpy as np
from mindspore import ops

from opwright import _errors
from opwright._dtypes import name_of
from opwright.mindspore import _abstract, _bridge, _counts, _declared, _gradient, _pyfunc

_TAKES = {
    "pyfunc": "a tensor or a number",
    "aot": "a tensor, a number, a text or a list of tensors",
}
_NUMPY_HAS_NO_BFLOAT16 = int(np.__version__.split(".")[0]) >= 2
_MOST_SETTLED = 256


class Foreign:
    def __init__(self, target, out_shape, out_dtype, bprop, reg_info):
        self.name = target.name
        self.is_python = target.func_type == "pyfunc"
        self._func_type = target.func_type
        self._declared = {"out_shape": out_shape, "out_dtype": out_dtype}
        if self.is_python or reg_info is None:
            self._check_declared()
        self._counts = []
        self.func = target.func
        self.gradient = None
        self._settled = {}  # by the key of the arguments: what was said of them, and what it is
        if self.is_python:
            self._count("the function", self.func)
            self._zero_dim = {}
            self.func = _pyfunc.checked(self.name, self.func, out_shape, out_dtype, self._zero_dim)
        if bprop is not None:
            self.gradient, count = _gradient.of_function(
                self.name, bprop, _declared.count_of(self.name, out_shape, out_dtype)
            )
            self._counts.append(_counts.Count("its bprop", count, count))
        for name, value in self._declared.items():
            if _declared.is_function(value):
                self._count(f"the function {name}", value)

    def _check_declared(self) -> None:
        why = (
            "nothing else says the output of a Python function"
            if self.is_python
            else "its library was not built by Opwright, so nothing else says the output"
        )
        for name, value in self._declared.items():
            if value is None:
                raise _errors.make("CL020", f"{self.name}: {name} is missing; {why}")

    def _count(self, what: str, function) -> None:
        due = _counts.of_callable(what, function)
        if due is not None:
            self._counts.append(due)

    def check_count(self, count: int) -> None:
        _counts.check(self.name, count, self._counts)

    def check(self, given: list[_abstract.Abstract]) -> None:
        """What would be read as the tensor that it is not."""
        self.check_count(len(given))
        for i, each in enumerate(given):
            if not self._takes(each):
                raise _errors.make(
                    "CL001",
                    f"{self.name}: input {i} is {_words(each)}; {_TAKES[self._func_type]} is due",
                )
            if each.kind == "tensor":
                self._check_exchanged(f"input {i}", each.shape, each.dtype)

    def _check_exchanged(self, which: str, shape, dtype: str) -> None:
        """MindSpore makes no array or number of everything for a Python function."""
        if not self.is_python:
            return
        if dtype == "bfloat16" and _NUMPY_HAS_NO_BFLOAT16:
            what, cure = "bfloat16, with numpy 2", "cast to float32"
        elif len(shape) == 0 and dtype.startswith(("bfloat", "complex")):
            what, cure = f"{dtype} of shape []", "give it the shape [1]"
        else:
            return
        raise _errors.make(
            "CL002",
            f"{self.name}: {which} is {what}, which MindSpore exchanges with no Python function; "
            f"{cure}",
        )

    def _takes(self, each: _abstract.Abstract) -> bool:
        if each.kind in ("tensor", "number"):
            return True
        if self.is_python:
            return False
        if each.kind in ("tuple", "list"):
            return bool(each.items) and all(item.kind == "tensor" for item in each.items)
        return each.kind == "str"

    def settle(self, arguments, given) -> tuple | None:
        """Shapes and dtypes of the outputs for these arguments of __infer__, and whether one is a
        tuple; None where only MindSpore knows."""
        out_shape, out_dtype = self._declared.values()
        if out_shape is None or out_dtype is None:
            return None
        key, said = self._said(arguments)
        settled = self._found(key, said)
        if settled is None:
            settled = self._settle(arguments, given)
            if said is not None:
                if len(self._settled) >= _MOST_SETTLED:
                    self._settled.clear()
                self._settled[key] = said, settled
        return settled

    def settled_before(self, arguments) -> tuple | None:
        """What such arguments passed with, while out_shape and out_dtype say the same of them."""
        return self._found(*self._said(arguments))

    def _found(self, key, said) -> tuple | None:
        found = self._settled.get(key)
        return found[1] if found is not None and said == found[0] else None

    def _said(self, arguments) -> tuple:
        key = _abstract.key_of(arguments)
        declared = tuple(self._declared.values())
        return key, None if key is None else _declared.said(declared, arguments)

    def _settle(self, arguments, given) -> tuple:
        out_shape, out_dtype = self._declared.values()
        for i, each in enumerate(given):
            if not _abstract.is_known(each.shape):
                raise _errors.make(
                    "CL004",
                    f"{self.name}: input {i} has shape {list(each.shape)}, unknown until run time; "
                    "known dimensions are due, or a library built by Opwright, which infers them",
                )
        shapes = _declared.settle(self.name, out_shape, arguments, "shape")
        dtypes = _declared.settle(self.name, out_dtype, arguments, "dtype")
        counts = {"out_shape": len(shapes), "out_dtype": len(dtypes)}
        _declared.check_counts(self.name, counts)
        for i, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True)):
            self._check_exchanged(f"output {i}", shape, name_of(dtype.element_type()))
        of_one = _declared.is_tuple_of_one(self.name, (out_shape, out_dtype), arguments)
        return shapes, dtypes, of_one

    def take(self, given: list[_abstract.Abstract]) -> None:
        """The calls to come of a Python function have such inputs."""
        self._zero_dim.update(zero_dim(given))

    def is_nothing(self, arguments, given) -> bool:
        """Whether a Python function has no element to make. MindSpore copies no array without
        elements, neither in nor out."""
        shapes, *_ = self.settle(arguments, given)
        empty = [not math.prod(shape) for shape in shapes]
        if all(empty):
            return True
        for i, each in enumerate(given):
            if not math.prod(each.shape):
                self._refuse_empty(f"input {i} has shape {list(each.shape)}")
        if any(empty):
            self._refuse_empty(f"output {empty.index(True)} has shape {shapes[empty.index(True)]}")
        return False

    def _refuse_empty(self, what: str):
        raise _errors.make(
            "CL004",
            f"{self.name}: {what}, and MindSpore exchanges no empty array with a Python function; "
            "one that has an output with elements needs inputs and outputs that have some",
        )


def zero_dim(given: list[_abstract.Abstract]) -> dict[int, str]:
    """Place and dtype of the 0-d tensors."""
    return {
        i: each.dtype for i, each in enumerate(given) if each.kind == "tensor" and each.shape == ()
    }


class Nothing(ops.Custom):
    """An operator all of whose outputs are empty: its function is not called. like: the primitive
    that it stands for."""

    def __init__(self, like):
        function = f"{_bridge.LIBRARY}:opwright_nothing"
        super().__init__(function, _bridge.never, _bridge.never, "aot")
        self._like = like
        _bridge.mark_unique(self)

    def __infer__(self, *arguments):
        return self._like.__infer__(*arguments)

    def get_bprop(self):
        return self._like.get_bprop()


def _words(given: _abstract.Abstract) -> str:
    if given.kind in ("tuple", "list", "dict", "str"):
        return f"a {given.kind}"
    return "None or of another framework (mindspore.Tensor converts an array)"

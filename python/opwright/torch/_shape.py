# SPDX-License-Identifier: Apache-2.0
"""Outputs without data, for tracing: shapes by the metadef's rules on PyTorch's symbolic sizes."""

from __future__ import annotations

import torch

from opwright import _core, _errors
from opwright._definition import DYNAMIC, KERNEL, OPTIONAL
from opwright._dtypes import name_of
from opwright._operator import Operator
from opwright._shape_program import ShapeProgram
from opwright._spec import Spec
from opwright.torch import _traced

# The shape that a gradient call passes for an optional output whose forward input was absent.
ABSENT = [-1]


def dtype_names(tensors) -> list[list[str]]:
    """The dtypes of the inputs as the core takes them, a list for each input."""
    return [[name_of(t.dtype) for t in given] for given in tensors]


def as_lists(definition, inputs) -> list[list[torch.Tensor]]:
    """Each input as a list of tensors: empty for an absent one."""
    padded = [*inputs, *([None] * (len(definition.inputs) - len(inputs)))]
    return [
        list(value or ()) if param.kind == DYNAMIC else [] if value is None else [value]
        for param, value in zip(definition.inputs, padded, strict=True)
    ]


def joined(shapes) -> list[int]:
    """The shapes of a list as one argument of an operator: of each its rank, then its sizes."""
    return [number for shape in shapes for number in (len(shape), *shape)]


def apart(numbers) -> list[list[int]]:
    """What was joined."""
    shapes, at = [], 0
    while at < len(numbers):
        end = at + 1 + int(numbers[at])
        shapes.append(list(numbers[at + 1 : end]))
        at = end
    return shapes


class Outputs:
    """The shapes and dtypes of a call's outputs. given: for each input a list of what has shape and
    dtype; keywords: also what a gradient call passes."""

    def __init__(self, op: Operator, given, attrs, keywords):
        self._definition = definition = op.definition
        self._given = given
        self._keywords = keywords
        self._column = _core.select_column(op._core, dtype_names(given))
        self._program = ShapeProgram(
            definition,
            [[t.shape for t in tensors] for tensors in given],
            attrs,
            maximum=torch.sym_max,
            minimum=torch.sym_min,
            broadcast=lambda *shapes: _broadcast(definition.name, shapes),
        )
        self._by_kernel: dict[int, Spec] = {}
        if any(rule.kind == KERNEL for rule in definition.shape_rules):
            inferred = _by_kernel(op, given, attrs)
            for index, rule in enumerate(definition.shape_rules):
                if rule.kind == KERNEL:
                    self._by_kernel[index] = inferred[index]
                    self._program.take_output(index, inferred[index].shape)

    def is_wanted(self, index: int) -> bool:
        wanted = self._keywords.get("_wanted")
        optional = self._definition.outputs[index].kind == OPTIONAL
        return not optional or wanted is None or wanted[index]

    def of(self, index: int) -> list[tuple]:
        """(shape, dtype) of each tensor of an output; what it is where it is wanted."""
        definition = self._definition
        param = definition.outputs[index]
        dtype = self.dtype(index)
        dynamic = param.kind == DYNAMIC
        if index in self._by_kernel:
            count = _count(definition, index, self._given) if dynamic else 1
            return [(self._by_kernel[index].shape, dtype)] * count
        passed = None
        if definition.shape_rules[index].of_caller:
            passed = self._keywords.get(f"_{param.name}_shape")
            if passed is not None:
                passed = apart(passed) if dynamic else None if passed == ABSENT else [passed]
        if not dynamic:
            count = 1
        else:
            count = _count(definition, index, self._given) if passed is None else len(passed)
        return [
            (self._program.output(index, k, None if passed is None else passed[k]), dtype)
            for k in range(count)
        ]

    def dtype(self, index: int) -> torch.dtype:
        return getattr(torch, self._definition.outputs[index].dtypes[self._column])


def fake_for(op: Operator):
    definition = op.definition
    takes_shape = any(rule.of_caller for rule in definition.shape_rules)

    def fake(*inputs, **kwargs):
        _traced.note(op.key)
        given = as_lists(definition, inputs)
        attrs = {attr.name: kwargs.get(attr.name, attr.default) for attr in definition.attrs}
        try:
            return outputs(given, attrs, kwargs)
        except _errors.ShapeError:
            # The dispatcher has the same rules, and says values where these have symbols. It knows
            # no shape that a gradient call passes, and symbols of no value are PyTorch's to refuse.
            if not takes_shape and all(map(_has_values, given)):
                _by_kernel(op, given, attrs)
            raise

    def outputs(given, attrs, kwargs):
        devices = {t.device for tensors in given for t in tensors} or {torch.device("cpu")}
        if len(devices) > 1:  # tensors without data beside such with data: there is no result
            words = " and ".join(sorted(map(str, devices)))
            raise _errors.make(
                "CL007", f"{op.name}: inputs are on {words}; move them to one device"
            )
        (device,) = devices
        specs = Outputs(op, given, attrs, kwargs)
        made = []
        for index, param in enumerate(definition.outputs):
            if not specs.is_wanted(index):
                made.append(torch.empty((0,), dtype=specs.dtype(index), device=device))
                continue
            tensors = [
                torch.empty(shape, dtype=dtype, device=device) for shape, dtype in specs.of(index)
            ]
            made.append(tensors if param.kind == DYNAMIC else tensors[0])
        return made[0] if len(made) == 1 else tuple(made)

    return fake


def _broadcast(name: str, shapes):
    try:
        return torch.broadcast_shapes(*shapes)
    except RuntimeError as error:
        if type(error) is not RuntimeError:  # a guard on a size of no value yet
            raise
        raise _errors.make("CL005", f"{name}: {error}") from None


def _has_values(tensors) -> bool:
    """Whether each size is a number, or a symbol that stands for one."""
    return not any(
        isinstance(size, torch.SymInt) and not size.node.has_hint()
        for t in tensors
        for size in t.shape
    )


def _count(definition, index: int, given) -> int:
    named = [
        arg for arg in definition.shape_rules[index].args if definition.inputs[arg].kind == DYNAMIC
    ]
    every = [k for k, param in enumerate(definition.inputs) if param.kind == DYNAMIC]
    return len(given[(named or every)[0]])


def _fixed(value):
    """An attribute's value without symbols."""
    if isinstance(value, (list, tuple)):
        return [_fixed(item) for item in value]
    if isinstance(value, torch.SymInt):
        return int(value)
    return float(value) if isinstance(value, torch.SymFloat) else value


def _by_kernel(op: Operator, given, attrs) -> tuple[Spec, ...]:
    """Asks the kernel's InferShape, which takes numbers: a symbolic size becomes a fixed one."""
    specs = []
    for param, tensors in zip(op.definition.inputs, given, strict=True):
        items = [Spec(tuple(int(size) for size in t.shape), name_of(t.dtype)) for t in tensors]
        specs.append(items if param.kind == DYNAMIC else items[0] if items else None)
    known = {name: _fixed(value) for name, value in attrs.items() if value is not None}
    inferred = op.infer(*specs, **known)
    return (
        inferred if isinstance(inferred, tuple) and not isinstance(inferred, Spec) else (inferred,)
    )

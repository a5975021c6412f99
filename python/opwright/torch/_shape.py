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


def fake_for(op: Operator):
    definition = op.definition
    takes_shape = [rule.of_caller for rule in definition.shape_rules]

    def fake(*inputs, **kwargs):
        _traced.note(op.key)
        given = as_lists(definition, inputs)
        attrs = {attr.name: kwargs.get(attr.name, attr.default) for attr in definition.attrs}
        try:
            return outputs(given, attrs, kwargs)
        except _errors.ShapeError:
            # The dispatcher has the same rules, and says values where these have symbols. It knows
            # no shape that a gradient call passes, and symbols of no value are PyTorch's to refuse.
            if not any(takes_shape) and all(map(_has_values, given)):
                _by_kernel(op, given, attrs)
            raise

    def outputs(given, attrs, kwargs):
        column = _core.select_column(op._core, dtype_names(given))
        devices = {t.device for tensors in given for t in tensors} or {torch.device("cpu")}
        if len(devices) > 1:  # tensors without data beside such with data: there is no result
            words = " and ".join(sorted(map(str, devices)))
            raise _errors.make(
                "CL007", f"{op.name}: inputs are on {words}; move them to one device"
            )
        (device,) = devices
        wanted = kwargs.get("_wanted")
        program = ShapeProgram(
            definition,
            [[t.shape for t in tensors] for tensors in given],
            attrs,
            maximum=torch.sym_max,
            minimum=torch.sym_min,
            broadcast=lambda *shapes: _broadcast(definition.name, shapes),
        )

        by_kernel = ()
        if any(rule.kind == KERNEL for rule in definition.shape_rules):
            by_kernel = _by_kernel(op, given, attrs)
            for index, rule in enumerate(definition.shape_rules):
                if rule.kind == KERNEL:
                    program.take_output(index, by_kernel[index].shape)

        def of_caller(index):
            """The shapes that a gradient call passes; None where it passes none."""
            param = definition.outputs[index]
            passed = kwargs.get(f"_{param.name}_shape") if takes_shape[index] else None
            if passed is None:
                return None
            return apart(passed) if param.kind == DYNAMIC else [passed]

        def make(index, item=0, passed=None):
            param = definition.outputs[index]
            dtype = getattr(torch, param.dtypes[column])
            if param.kind == OPTIONAL and wanted is not None and not wanted[index]:
                return torch.empty((0,), dtype=dtype, device=device)
            if definition.shape_rules[index].kind == KERNEL:
                shape = by_kernel[index].shape
            else:
                shape = program.output(index, item, None if passed is None else passed[item])
            return torch.empty(shape, dtype=dtype, device=device)

        made = []
        for index, param in enumerate(definition.outputs):
            passed = of_caller(index)
            if param.kind == DYNAMIC:
                count = _count(definition, index, given) if passed is None else len(passed)
                made.append([make(index, item, passed) for item in range(count)])
            else:
                made.append(make(index, passed=passed))
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

# SPDX-License-Identifier: Apache-2.0
"""out=: whether tensors can take the outputs, said before the kernel runs; and the copy."""

from __future__ import annotations

from itertools import combinations

import torch

from opwright import _arguments, _errors
from opwright._definition import DYNAMIC, OPTIONAL, Definition
from opwright._dtypes import name_of
from opwright.torch import _tensors
from opwright.torch._shape import as_lists


def check(definition: Definition, out, inputs) -> list[tuple]:
    """(param, tensor) for each output that is to be written; refuses what cannot be."""
    name = definition.name
    device = _tensors.device_of(inputs)
    params = definition.outputs
    if len(params) == 1 and params[0].kind == DYNAMIC:
        outs = (out,)
    else:
        outs = out if isinstance(out, (tuple, list)) else (out,)
    if len(params) != len(outs):
        given = _arguments.counted(len(outs), "tensor")
        due = _arguments.counted(len(params), "output")
        _errors.refuse("CL001", f"{name}: out= holds {given}, the operator has {due}")
    pairs = []
    for param, given in zip(params, outs, strict=True):
        if param.kind == DYNAMIC:
            _errors.refuse(
                "CL008",
                f"{name}: out= is not taken for output {param.name}, "
                "which is a list of tensors; call without out=",
            )
        if given is None and param.kind == OPTIONAL:
            continue
        if not isinstance(given, torch.Tensor):
            _errors.refuse(
                "CL008",
                f"{name}: out= for {param.name} must be a torch tensor, "
                f"{type(given).__name__} was given",
            )
        wrong = _tensors.unwriteable(given)
        if wrong:
            _errors.refuse("CL008", f"{name}: output {param.name} {wrong}")
        if given.device != device:
            _errors.refuse(
                "CL007",
                f"{name}: output {param.name} is on device {given.device}, {device} is due",
            )
        _refuse_gradient(name, given)
        pairs.append((param, given))
    _refuse_overlap(definition, pairs, inputs)
    return pairs


def check_shapes(definition: Definition, pairs, overload, inputs, attrs) -> None:
    """The same of shapes and dtypes, for a kernel that writes inputs: after it, it is too late."""
    try:
        results = overload(*map(_without_data, inputs), **attrs)
    except RuntimeError:  # which the call says in its own words, and writes nothing
        return
    results = results if isinstance(results, tuple) else (results,)
    _refuse_misfits(definition, pairs, _by_name(definition, results))


def write(definition: Definition, pairs, results) -> None:
    made = _by_name(definition, results if isinstance(results, tuple) else (results,))
    for tensor in made.values():
        _refuse_gradient(definition.name, tensor)
    _refuse_misfits(definition, pairs, made)
    for param, given in pairs:
        given.copy_(made[param.name])


def copies(definition: Definition, inputs) -> list:
    """The inputs, with copies of those that the operator writes."""
    return [
        value
        if i not in definition.mutates or value is None
        else [item.clone() for item in value]
        if isinstance(value, (list, tuple))
        else value.clone()
        for i, value in enumerate(inputs)
    ]


def write_back(definition: Definition, copied, inputs) -> None:
    for one, other in zip(as_lists(definition, copied), as_lists(definition, inputs), strict=True):
        for made, given in zip(one, other, strict=True):
            if made is not given:
                given.copy_(made)


def _by_name(definition: Definition, results) -> dict:
    return {param.name: made for param, made in zip(definition.outputs, results, strict=True)}


def _without_data(value):
    if isinstance(value, (list, tuple)):
        return [_without_data(item) for item in value]
    return None if value is None else torch.empty(value.shape, dtype=value.dtype, device="meta")


def _refuse_gradient(name: str, tensor: torch.Tensor) -> None:
    if tensor.requires_grad and torch.is_grad_enabled():
        _errors.refuse(
            "CL008",
            f"{name}: out= where a gradient is due; call under torch.no_grad(), or without out=",
        )


def _refuse_misfits(definition: Definition, pairs, made: dict) -> None:
    for param, given in pairs:
        due = made[param.name]
        if due.shape != given.shape:
            _errors.refuse(
                "CL008",
                f"{definition.name}: output {param.name} has shape {list(given.shape)}, "
                f"{list(due.shape)} is due",
            )
        if due.dtype != given.dtype:
            _errors.refuse(
                "CL015",
                f"{definition.name}: output {param.name} has dtype {name_of(given.dtype)}, "
                f"{name_of(due.dtype)} is due",
            )


def _refuse_overlap(definition: Definition, pairs, inputs) -> None:
    """Two tensors in one memory cannot both hold what is written to them."""
    outputs = [(param.name, tensor) for param, tensor in pairs]
    for (early, one), (late, other) in combinations(outputs, 2):
        if _tensors.overlap(one, other):
            _refuse_pair(definition, f"outputs {early} and {late}")
    if not definition.mutates:
        return
    given = as_lists(definition, inputs)
    for output, one in outputs:
        for i in definition.mutates:
            if any([_tensors.overlap(one, other) for other in given[i]]):
                name = definition.inputs[i].name
                _refuse_pair(
                    definition, f"output {output} and input {name}, written by the operator,"
                )


def _refuse_pair(definition: Definition, words: str) -> None:
    _errors.refuse(
        "CL008", f"{definition.name}: {words} lie in the same memory; pass two of their own"
    )

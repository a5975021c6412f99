# SPDX-License-Identifier: Apache-2.0
"""Operators whose metadef was bound by the acl form: no library carries their entry for PyTorch, so
they are registered from Python, over a call on numpy views of the tensors."""

from __future__ import annotations

import torch

from opwright._definition import DYNAMIC, FORWARD, OPTIONAL
from opwright._operator import Operator

_ATTR_TYPES = (
    "", "SymInt", "float", "str", "bool", "str",
    "SymInt[]", "float[]", "str[]", "bool[]", "int[][]",
)  # fmt: skip


def register(op: Operator):
    """The torch operator of a bound one, in a namespace of its own."""
    from opwright.torch._enter import complete, overload

    space = f"{op.definition.namespace}_bound_{op.key:x}"
    name = f"{space}::{op.name}"
    torch.library.define(name, _schema(op))
    torch.library.impl(name, "cpu")(_kernel(op))
    complete(name, op)
    return overload(name)


def _schema(op: Operator) -> str:
    definition = op.definition
    arguments = []
    # A default may only be followed by defaults.
    last = max((i for i, p in enumerate(definition.inputs) if p.kind != OPTIONAL), default=-1)
    for i, param in enumerate(definition.inputs):
        mark = "(a!)" if i in definition.mutates else ""
        suffix = "[]" if param.kind == DYNAMIC else "?" if param.kind == OPTIONAL else ""
        default = "=None" if i > last else ""
        arguments.append(f"Tensor{mark}{suffix} {param.name}{default}")
    keywords = [f"{_ATTR_TYPES[attr.type]}? {attr.name}=None" for attr in definition.attrs]
    keywords += [
        f"SymInt[] _{param.name}_shape"
        for param, rule in zip(definition.outputs, definition.shape_rules, strict=True)
        if rule.kind == FORWARD and not rule.args
    ]
    if any(param.kind == OPTIONAL for param in definition.outputs):
        keywords.append("bool[]? _wanted=None")
    results = ", ".join(
        "Tensor[]" if param.kind == DYNAMIC else "Tensor" for param in definition.outputs
    )
    arguments += ["*", *keywords] if keywords else []
    return f"({', '.join(arguments)}) -> ({results})"


def _kernel(op: Operator):
    """Runs the operator on the tensors' own memory; what a gradient call asks for is passed on."""
    names = {attr.name for attr in op.definition.attrs}

    def kernel(*inputs, _wanted=None, **keywords):
        arrays = [_view(value) for value in inputs]
        attrs = {
            name: value for name, value in keywords.items() if name in names and value is not None
        }
        shapes = {
            name[1 : -len("_shape")]: value
            for name, value in keywords.items()
            if name.startswith("_")
        }
        made = op._core.call_numpy_for_gradient(tuple(arrays), attrs, _wanted or [], shapes)
        tensors = [_back(value) for value in (made if isinstance(made, tuple) else (made,))]
        return tensors[0] if len(tensors) == 1 else tuple(tensors)

    return kernel


def _view(value):
    """A numpy view of a tensor; bfloat16, which numpy lacks, as the type of ml_dtypes."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return [_view(item) for item in value]
    value = value.detach()
    if value.dtype == torch.bfloat16:
        import ml_dtypes

        return value.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return value.numpy()


def _back(value):
    if value is None:
        return torch.empty(0)
    if isinstance(value, list):
        return [_back(item) for item in value]
    if value.dtype.name == "bfloat16":
        return torch.from_numpy(value.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(value)

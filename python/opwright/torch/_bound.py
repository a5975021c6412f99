# SPDX-License-Identifier: Apache-2.0
"""Operators whose metadef was bound by the acl form: no library carries their entry for PyTorch, so
they are registered from Python, over a call on numpy views of the tensors."""

from __future__ import annotations

import torch

from opwright import _core
from opwright._definition import DYNAMIC
from opwright._operator import Operator
from opwright.torch._shape import apart


def define(op: Operator) -> str:
    """Makes the torch operator of a bound one, in a namespace of its own; its qualified name."""
    name = f"{op.definition.namespace}_bound_{op.key:x}::{op.name}"
    torch.library.define(name, _core.torch_schema(op._core))
    torch.library.impl(name, "cpu")(_kernel(op))
    return name


def _kernel(op: Operator):
    """Runs the operator on the tensors' own memory; what a gradient call asks for is passed on."""
    names = {attr.name for attr in op.definition.attrs}
    # The outputs whose shapes a gradient call passes, and whether each is a list.
    passed = {
        param.name: param.kind == DYNAMIC
        for param, rule in zip(op.definition.outputs, op.definition.shape_rules, strict=True)
        if rule.of_caller
    }

    def kernel(*inputs, _wanted=None, **keywords):
        arrays = [_view(value) for value in inputs]
        attrs = {
            name: value for name, value in keywords.items() if name in names and value is not None
        }
        shapes = {
            name: apart(keywords[f"_{name}_shape"]) if dynamic else [keywords[f"_{name}_shape"]]
            for name, dynamic in passed.items()
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

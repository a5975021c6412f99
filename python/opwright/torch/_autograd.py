# SPDX-License-Identifier: Apache-2.0
"""An operator's place in PyTorch's autograd: backward mode is recorded, forward mode refused.

torch.library.register_autograd would drop the tangents of forward mode in silence, and refuse
torch.func.grad in words about a class that nobody wrote.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch._functorch.autograd_function import enable_single_level_autograd_function
from torch._library.autograd import supports_tensorlist
from torch.autograd import forward_ad

from opwright import _errors
from opwright._definition import DYNAMIC
from opwright._operator import Operator
from opwright.torch import _gradient, _tensors
from opwright.torch._shape import as_lists

# By a keyset's number: what is below autograd in it, and whether that is the CPU's kernel alone.
_below_autograd: dict[int, tuple[torch._C.DispatchKeySet, bool]] = {}


def _below(keyset: torch._C.DispatchKeySet) -> tuple[torch._C.DispatchKeySet, bool]:
    found = _below_autograd.get(keyset.raw_repr())
    if found is None:
        below = keyset & torch._C._after_autograd_keyset
        left = below.remove(torch._C.DispatchKey.ADInplaceOrView)
        found = below, left.highestPriorityTypeId() == torch._C.DispatchKey.CPU
        _below_autograd[keyset.raw_repr()] = found
    return found


@dataclass(slots=True)
class _Below:
    """How a call goes on below autograd. Passed as the last argument, it is due no gradient."""

    keyset: Any
    keywords: dict


def register(op: Operator, overload, overload_of) -> torch.library.Library:
    library = torch.library.Library(overload.namespace, "IMPL")
    # As overload.redispatch, which is one Python call more.
    redispatch = overload._handle.redispatch_boxed
    is_grad_enabled, any_requires_grad = torch.is_grad_enabled, torch._C._any_requires_grad
    count = len(op.definition.inputs)

    def run(keyset, inputs, keywords):
        below, is_kernel = _below(keyset)
        if is_kernel:  # which calls nothing that autograd could record
            return redispatch(below, *inputs, **keywords)
        _tensors.refuse_unusable(op.definition, inputs)
        with torch._C._AutoDispatchBelowAutograd():
            return redispatch(below, *inputs, **keywords)

    node = _node(f"{op.name}_backward", op, run, overload_of)

    def autograd(keyset, /, *inputs, **keywords):
        if forward_ad._current_level >= 0:
            refuse_tangents(op, inputs)
        if not any_requires_grad(*inputs) or not is_grad_enabled():
            return run(keyset, inputs, keywords)
        # PyTorch leaves out optional inputs at the end that are None.
        inputs = (*inputs, *[None] * (count - len(inputs)), _Below(keyset, keywords))
        if not torch._C._are_functorch_transforms_active():
            return node.apply(*inputs)
        with enable_single_level_autograd_function():
            return node.apply(*inputs)

    library.impl(overload._opname, autograd, "Autograd", with_keyset=True)
    return library


def _node(name: str, op: Operator, run, overload_of):
    """The autograd function: `run` and what the backward needs of it.

    No torch.autograd.Function: its apply takes a transform of torch.func to the Python code of
    forward. This one is below the transform already and does nothing but go on in the dispatcher.
    """
    begin, keep, backward_rule = _gradient.rules_for(op, overload_of)

    def forward(ctx, *arguments):
        *inputs, below = arguments
        keywords = begin(ctx, below.keywords)
        if torch._C._are_functorch_transforms_active():
            # apply has turned both modes off, but the levels further out have yet to record.
            with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
                output = run(below.keyset, inputs, keywords)
        else:
            output = run(below.keyset, inputs, keywords)
        keep(ctx, inputs, output)
        return output

    def backward(ctx, *grads):
        made = backward_rule(ctx, *grads)
        return (*made, None) if isinstance(made, tuple) else (made, None)

    members = {
        "forward": staticmethod(forward),
        "backward": staticmethod(backward),
        "_compiled_autograd_key": staticmethod(torch.autograd.Function._compiled_autograd_key),
    }
    base = torch.autograd.function._SingleLevelFunction
    node = torch.autograd.function.FunctionMeta(name, (base,), members)
    params = (*op.definition.inputs, *op.definition.outputs)
    return supports_tensorlist(node) if any(p.kind == DYNAMIC for p in params) else node


def refuse_tangents(op: Operator, inputs) -> None:
    """GR010 where an input has a tangent of forward mode, which would be lost."""
    if forward_ad._current_level < 0 or not torch._C._is_fwd_grad_enabled():
        return
    given = as_lists(op.definition, inputs)
    for param, tensors in zip(op.definition.inputs, given, strict=True):
        if any(forward_ad.unpack_dual(t).tangent is not None for t in tensors):
            raise _errors.make(
                "GR010",
                f"{op.name}: input {param.name} has a tangent, and operators have no gradient in "
                "forward mode (torch.func.jvp, jacfwd, hessian, torch.autograd.forward_ad); use "
                "backward mode: backward(), torch.autograd.grad, torch.func.grad, vjp or jacrev",
            )

# SPDX-License-Identifier: Apache-2.0
"""What a Python rule is lent: it may not be written, and no gradient may lie in its memory."""

from __future__ import annotations

import torch
from torch.compiler import is_dynamo_compiling

from opwright import _errors
from opwright._operator import Operator
from opwright.torch import _tensors, _vmap


def named(definition, inputs, outs, douts) -> list[tuple[str, torch.Tensor]]:
    """The tensors that a rule is given, with words for each."""
    pairs = [
        (f"input {param.name}", value)
        for param, value in zip(definition.inputs, inputs, strict=True)
    ]
    for param, out, dout in zip(definition.outputs, outs, douts, strict=True):
        for words, value in (("output", out), ("the gradient of output", dout)):
            items = value if isinstance(value, list) else [value]
            pairs += [(f"{words} {param.name}", item) for item in items]
    return [(name, value) for name, value in pairs if torch.is_tensor(value)]


def wrote(op: Operator, name: str) -> _errors.Error:
    return _errors.make(
        "GR009",
        f"{op.name}: the bprop wrote into {name}, which it was only lent; compute a new "
        "tensor: dout * 2, not dout.mul_(2)",
    )


def refused_to_write(error: RuntimeError, lent) -> str:
    """Which lent tensor PyTorch itself did not let the rule write to; "" for another error."""
    text = str(error)
    for words, is_meant in (
        ("refers to a single memory location", _tensors.repeats_memory),
        ("a view of a leaf Variable that requires grad", lambda t: t.requires_grad),
        ("a leaf Variable that requires grad", lambda t: t.is_leaf and t.requires_grad),
    ):
        if words in text:
            return next((name for name, tensor in lent if is_meant(tensor)), "")
    return ""


def copies(values) -> list:
    """For a tracer, which knows neither versions nor memory: what is written then is no one's."""
    return [
        copies(value) if isinstance(value, list) else value if value is None else value.clone()
        for value in values
    ]


def any_wrapped(lent) -> bool:
    """Whether some stand before others, which have their memory and their versions."""
    if is_dynamo_compiling():
        return False
    is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor
    return any([is_wrapped(tensor) for _, tensor in lent]) or _vmap.batch_level() > 0


def wrappers(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The tensor, and what is behind it: below a transform of torch.func, and where gradients are
    batched, another has the memory: the last one."""
    found = [tensor]
    while torch._C._functorch.is_functorch_wrapped_tensor(found[-1]):
        found.append(torch._C._functorch.get_unwrapped(found[-1]))
    if torch._C._functorch.is_legacy_batchedtensor(found[-1]):
        found.append(_vmap.whole_gradient(found[-1]))
    return found


def distinct(grads, seen, wrapped: bool) -> tuple:
    """No two gradients in one memory, nor one in memory that was seen, which the rule was lent: a
    framework adds to gradients in place, and an optimizer clears them so."""
    is_alias = _always if is_dynamo_compiling() else torch._C._is_alias_of
    out = []
    for grad in grads:
        if grad is not None:
            memory = wrappers(grad)[-1] if wrapped else grad
            if any([is_alias(memory, other) for other in seen]) and grad.numel() > 0:
                grad = grad.clone()
                memory = wrappers(grad)[-1] if wrapped else grad
            seen.append(memory)
        out.append(grad)
    return tuple(out)


def _always(*_) -> bool:
    return True

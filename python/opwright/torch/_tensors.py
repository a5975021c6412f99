# SPDX-License-Identifier: Apache-2.0
"""Tensors that no kernel can take as they are: sparse, quantized, nested, on another device."""

from __future__ import annotations

import torch

from opwright import _core, _errors
from opwright._definition import Definition
from opwright.torch._shape import as_lists

_DEVICES = ("cpu", "meta")  # without data while something is traced


def unusable(definition: Definition, inputs) -> str:
    """What is wrong with the first input that no kernel can take; "" when all can be taken."""
    given = as_lists(definition, inputs)
    for param, tensors in zip(definition.inputs, given, strict=True):
        for tensor in tensors:
            wrong = _kind(tensor)
            if not wrong and tensor.device.type not in _DEVICES:
                wrong = f"on device {tensor.device}; copy it to the CPU first"
            if wrong:
                return f"{definition.name}: input {param.name} is {wrong}"
    return ""


def refuse_unusable(definition: Definition, inputs) -> None:
    words = unusable(definition, inputs)
    if words:
        raise _errors.make("CL007", words)


def _kind(tensor: torch.Tensor) -> str:
    if tensor.is_nested:
        return "nested, a dense tensor is due; convert it with to_padded_tensor()"
    if tensor.layout is not torch.strided:
        kind = str(tensor.layout).removeprefix("torch.").lstrip("_")
        return f"{kind}, a dense tensor is due; convert it with to_dense()"
    if tensor.is_quantized:
        return "quantized, a dense tensor is due; convert it with dequantize()"
    return ""


def device_of(inputs) -> torch.device:
    """Where the outputs of these inputs are, which lie in one place."""
    for value in inputs:
        for item in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(item, torch.Tensor):
                return item.device
    return torch.device("cpu")


def dense(grads) -> list:
    """Gradients as they come to a backward, of which some may be sparse or absent."""
    return [
        grad if grad is None or grad.layout is torch.strided else grad.to_dense() for grad in grads
    ]


def unwriteable(out: torch.Tensor) -> str:
    """Why an output that was given cannot be written; "" when it can."""
    wrong = _kind(out)
    if wrong:
        return f"is {wrong}"
    if repeats_memory(out):
        return "has several elements in one place of memory; pass one without repeats"
    if torch.compiler.is_compiling() or torch.is_inference_mode_enabled():
        return ""
    if out.is_inference():
        return "is an inference tensor; pass another, or call under torch.inference_mode()"
    return ""


def overlap(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors lie in the same memory. Those of other strides may interleave: that is
    the caller's affair, as in the core."""
    if a is b:
        return a.numel() != 0
    if torch.compiler.is_compiling():  # a tracer knows no memory
        return False
    try:
        starts = a.data_ptr(), b.data_ptr()
    except RuntimeError:  # behind a transform, or without data
        return False
    if a.numel() == 0 or b.numel() == 0:
        return False
    if starts[0] == starts[1]:
        return True
    if starts[0] >= _end(b) or starts[1] >= _end(a):
        return False
    return a.is_contiguous() and b.is_contiguous()


def _end(tensor: torch.Tensor) -> int:
    last = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.data_ptr() + (last + 1) * tensor.element_size()


def repeats_memory(tensor: torch.Tensor) -> bool:
    """Whether several elements lie in one place."""
    if not torch.compiler.is_compiling():
        return _core.repeats_memory(list(tensor.shape), list(tensor.stride()))
    # A tracer, whose sizes have no order, sees what is expanded.
    steps = zip(tensor.stride(), tensor.shape, strict=True)
    return tensor.numel() != 0 and any([step == 0 and size > 1 for step, size in steps])

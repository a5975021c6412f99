# SPDX-License-Identifier: Apache-2.0
"""Gradients in PyTorch: the compiled backward operator, a Python bprop, or words."""

from __future__ import annotations

import torch

from opwright import _bprop, _core, _errors
from opwright._definition import DYNAMIC, OPTIONAL, ROLE_GRAD, ROLE_INPUT
from opwright._operator import Operator
from opwright.torch._shape import as_lists, dtype_names


class _Adapter:
    """What opwright._bprop needs to know of tensors."""

    is_tensor = staticmethod(torch.is_tensor)
    is_float = staticmethod(torch.is_floating_point)

    @staticmethod
    def shape(tensor):
        return tensor.shape

    @staticmethod
    def dtype(tensor):
        return tensor.dtype

    @staticmethod
    def cast(tensor, dtype):
        return tensor.to(dtype)

    @staticmethod
    def reduce(tensor, shape):
        """Sums the dimensions that broadcasting added or repeated, if the shapes are so related."""
        have, want = tuple(tensor.shape), tuple(shape)
        lead = len(have) - len(want)
        if lead < 0 or any(w not in (1, h) for h, w in zip(have[lead:], want, strict=True)):
            return tensor
        wide = tensor.double() if tensor.dtype == torch.float64 else tensor.float()
        return wide.sum_to_size(want).to(tensor.dtype)


def rules_for(op: Operator):
    """setup_context and backward for torch.library.register_autograd."""
    definition = op.definition
    count = len(definition.inputs)
    has_keywords = bool(definition.attrs) or any(
        param.kind == OPTIONAL or (rule.kind == 4 and not rule.args)
        for param, rule in zip(definition.outputs, definition.shape_rules, strict=True)
    )

    def keep(ctx, inputs, keywords, output):
        ctx.set_materialize_grads(False)
        outputs = output if isinstance(output, tuple) else (output,)
        given = as_lists(definition, inputs)
        flat = [t for tensors in given for t in tensors]
        results = [t for out in outputs for t in (out if isinstance(out, (list, tuple)) else [out])]
        ctx.lengths = [len(tensors) for tensors in given]
        ctx.out_lengths = [len(out) if isinstance(out, (list, tuple)) else 1 for out in outputs]
        ctx.out_specs = [(t.shape, t.dtype) for t in results]
        ctx.attrs = {attr.name: keywords.get(attr.name, attr.default) for attr in definition.attrs}
        ctx.save_for_backward(*flat, *(results if _needs_outputs(op) else ()))

    def setup_with_keywords(ctx, inputs, keyword_only_inputs, output):
        keep(ctx, inputs, keyword_only_inputs, output)

    def setup(ctx, inputs, output):
        keep(ctx, inputs, {}, output)

    def backward(ctx, *grads):
        given, results = _unpack(ctx)
        needs = _needed(definition, ctx.needs_input_grad, given)
        grads = [list(g) if isinstance(g, (list, tuple)) else [g] for g in grads]
        if not any(any(n) for n in needs) or all(g is None for group in grads for g in group):
            made = [[None] * len(tensors) for tensors in given]
        else:
            made = _gradients(op, ctx, given, results, grads, needs)
        out = tuple(
            made[i] if definition.inputs[i].kind == DYNAMIC else made[i][0] if made[i] else None
            for i in range(count)
        )
        return out[0] if count == 1 else out

    return (setup_with_keywords if has_keywords else setup), backward


def _needs_outputs(op: Operator) -> bool:
    if op.python_bprop is not None:
        return True
    gradient = op.definition.gradient
    return gradient is not None and any(role not in (ROLE_INPUT, ROLE_GRAD) for role, _ in gradient.inputs)


def _unpack(ctx):
    saved = iter(ctx.saved_tensors)
    given = [[next(saved) for _ in range(n)] for n in ctx.lengths]
    return given, list(saved)


def _needed(definition, needs_input_grad, given) -> list[list[bool]]:
    """Which tensors are due a gradient: float ones that require it."""
    needed = []
    for i, tensors in enumerate(given):
        flags = needs_input_grad[i] if i < len(needs_input_grad) else False
        flags = list(flags) if isinstance(flags, (list, tuple)) else [flags] * len(tensors)
        needed.append([bool(f) and t.is_floating_point() for f, t in zip(flags, tensors, strict=True)])
    return needed


def _gradients(op: Operator, ctx, given, results, grads, needs):
    rule = op.python_bprop
    if rule is not None:
        return _by_rule(op, rule, ctx, given, results, grads, needs)
    if op.definition.gradient is not None:
        return _by_operator(op, ctx, given, results, grads, needs)
    raise _errors.make(
        "GR001",
        f"{op.name} has no gradient; name a backward operator in its metadef's \"gradient\", call "
        "register_operator_gradient, or bind a Python rule with @operator.bprop",
    )


def _zeros(ctx, index: int, like: torch.Tensor) -> torch.Tensor:
    shape, dtype = ctx.out_specs[index]
    return like.new_zeros(shape, dtype=dtype)


def _by_rule(op: Operator, rule, ctx, given, results, grads, needs):
    definition = op.definition
    due, inputs = [], []
    for i, (param, tensors) in enumerate(zip(definition.inputs, given, strict=True)):
        if param.kind == DYNAMIC:
            raise _errors.make(
                "GR007", f"{op.name}: a Python bprop takes no dynamic input ({param.name}); write a backward operator"
            )
        tensor = tensors[0] if tensors else None
        inputs.append(tensor)
        needed = bool(needs[i] and needs[i][0])
        shape, dtype = (tensor.shape, tensor.dtype) if tensor is not None else ((), None)
        due.append(_bprop.Due(param.name, needed, tuple(shape), dtype, definition.broadcasts(i)))
    flat = [g for group in grads for g in group]
    douts = [
        g if g is not None else _zeros(ctx, k, results[k]) if results[k].is_floating_point() else None
        for k, g in enumerate(flat)
    ]
    single = len(definition.outputs) == 1
    attrs = {name: ctx.attrs[name] for name in _bprop.keyword_attrs(op, rule)}
    returned = rule(
        *inputs, results[0] if single else tuple(results), douts[0] if single else tuple(douts), **attrs
    )
    settled = _bprop.settle(op.name, returned, due, _Adapter)
    return [[grad] if tensors else [] for grad, tensors in zip(_distinct(settled), given, strict=True)]


def _distinct(grads):
    """No two gradients in one memory: a framework may add to one of them in place."""
    seen, out = [], []
    for grad in grads:
        if grad is not None and any(grad is other or _same_memory(grad, other) for other in seen):
            grad = grad.clone()
        if grad is not None:
            seen.append(grad)
        out.append(grad)
    return tuple(out)


def _same_memory(a: torch.Tensor, b: torch.Tensor) -> bool:
    if torch.compiler.is_compiling():
        return False
    try:
        return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr() and a.numel() > 0
    except (RuntimeError, NotImplementedError):  # a tensor without memory, while tracing
        return False


def _by_operator(op: Operator, ctx, given, results, grads, needs):
    from opwright.torch._enter import overload_of

    definition, gradient = op.definition, op.definition.gradient
    backward = op.backward
    target = backward.definition
    for i, flags in enumerate(needs):
        if any(flags) and i not in gradient.outputs:
            raise _errors.make(
                "GR002",
                f"{op.name}: the backward operator {backward.name} gives no gradient for input "
                f"{definition.inputs[i].name}, which requires one",
            )
    out_groups, start = [], 0
    for length in ctx.out_lengths:
        out_groups.append(results[start : start + length])
        start += length

    like = next(t for tensors in given for t in tensors)
    inputs: list[list[torch.Tensor]] = []
    for (role, index), param in zip(gradient.inputs, target.inputs, strict=True):
        if role == ROLE_INPUT:
            inputs.append(given[index])
        elif role == ROLE_GRAD:
            first = sum(ctx.out_lengths[:index])
            group = [
                g if g is not None else _zeros(ctx, first + k, like) for k, g in enumerate(grads[index])
            ]
            absent = param.kind == OPTIONAL and all(g is None for g in grads[index])
            inputs.append([] if absent else group)
        else:
            inputs.append(out_groups[index])
    column = _core.select_gradient_column(op._core, dtype_names(inputs))
    arguments = []
    for param, tensors in zip(target.inputs, inputs, strict=True):
        dtype = getattr(torch, param.dtypes[column])
        cast = [t.to(dtype) for t in tensors]
        arguments.append(cast if param.kind == DYNAMIC else cast[0] if cast else None)

    names = {attr.name for attr in target.attrs}
    keywords = {name: value for name, value in ctx.attrs.items() if name in names}
    for param, rule, index in zip(target.outputs, target.shape_rules, gradient.outputs, strict=True):
        if rule.kind == 4 and not rule.args:
            keywords[f"{param.name}_shape"] = list(given[index][0].shape) if given[index] else [0]
    if any(param.kind == OPTIONAL for param in target.outputs):
        keywords["wanted"] = [any(needs[index]) for index in gradient.outputs]
    returned = overload_of(backward)(*arguments, **keywords)
    returned = returned if isinstance(returned, tuple) else (returned,)

    made: list[list] = [[None] * len(tensors) for tensors in given]
    for value, index in zip(returned, gradient.outputs, strict=True):
        group = value if isinstance(value, (list, tuple)) else [value]
        for k, (grad, tensor) in enumerate(zip(group, given[index], strict=False)):
            if not needs[index][k]:
                continue
            if tuple(grad.shape) != tuple(tensor.shape):
                raise _errors.make(
                    "GR005",
                    f"{op.name}: the gradient of input {definition.inputs[index].name} by {backward.name} has "
                    f"shape {list(grad.shape)}, {list(tensor.shape)} is due",
                )
            made[index][k] = grad.to(tensor.dtype)
    return made

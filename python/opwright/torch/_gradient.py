# SPDX-License-Identifier: Apache-2.0
"""Gradients in PyTorch: the compiled backward operator, a Python bprop, or words."""

from __future__ import annotations

import torch
from torch.compiler import is_dynamo_compiling

from opwright import _bprop, _errors
from opwright._definition import DYNAMIC, OPTIONAL, ROLE_INPUT, ROLE_OUTPUT
from opwright._operator import Operator
from opwright.torch import _lent, _tensors
from opwright.torch._compiled import CompiledBackward
from opwright.torch._shape import as_lists
from opwright.torch._traced import constant


class _Adapter:
    """What opwright._bprop needs to know of tensors."""

    is_tensor = staticmethod(torch.is_tensor)
    is_float = staticmethod(torch.is_floating_point)
    is_complex = staticmethod(torch.is_complex)

    @staticmethod
    def kind(value):
        return type(value).__name__

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
        if tensor.is_complex():
            wide = tensor.cdouble() if tensor.dtype == torch.complex128 else tensor.cfloat()
        else:
            wide = tensor.double() if tensor.dtype == torch.float64 else tensor.float()
        return wide.sum_to_size(want).to(tensor.dtype)


def rules_for(op: Operator, overload_of):
    """begin(ctx, keywords) for before the call, which gives the keywords that it takes,
    keep(ctx, inputs, output) for after it, and backward(ctx, *grads).

    overload_of: the torch operator of an opwright one.
    """
    definition = op.definition
    lists = any(param.kind == DYNAMIC for param in (*definition.inputs, *definition.outputs))
    optional = any(param.kind == OPTIONAL for param in definition.outputs)
    compiled = _at_first_use(op, overload_of)
    keep, backward = (_with_lists if lists else _without_lists)(op, compiled)
    _, read_outputs = _read(op)

    def begin(ctx, keywords):
        ctx.set_materialize_grads(False)
        ctx.rule = op.python_bprop
        ctx.attrs = {attr.name: keywords.get(attr.name, attr.default) for attr in definition.attrs}
        if optional:
            wanted = keywords.get("_wanted")
            if wanted is not None:
                keywords = {**keywords, "_wanted": with_read(ctx.rule, wanted)}
            ctx.keywords = keywords
        return keywords

    def with_read(rule, wanted):
        """What the gradient reads of the outputs is there, even where the caller wants it not."""
        return [flag or rule is not None or i in read_outputs for i, flag in enumerate(wanted)]

    return begin, keep, backward


def _without_lists(op: Operator, compiled):
    """Each input and output is one tensor: the short way."""
    definition = op.definition
    count = len(definition.inputs)
    several = len(definition.outputs) > 1
    read, read_outputs = _read(op)
    at, out_at = _places(read, count), _places(read_outputs, len(definition.outputs), len(read))

    def keep(ctx, inputs, output):
        outputs = output if several else (output,)
        ctx.out_specs = [[(t.shape, t.dtype)] for t in outputs]
        if ctx.rule is not None:
            ctx.save_for_backward(*inputs, *outputs)
            return
        ctx.specs = [None if t is None else (t.shape, t.dtype) for t in inputs]
        ctx.save_for_backward(*[inputs[i] for i in read], *[outputs[i] for i in read_outputs])

    def backward(ctx, *grads):
        needs = ctx.needs_input_grad[:count]
        if True not in needs or all(grad is None for grad in grads):
            made = [None] * count
        else:
            saved = ctx.saved_tensors
            grads = _tensors.dense(grads)
            if ctx.rule is None:
                given = [None if k is None else saved[k] for k in at]
                results = [None if k is None else saved[k] for k in out_at]
                made = compiled()(ctx, given, results, grads, needs)
            else:
                given = [[] if t is None else [t] for t in saved[:count]]
                made = _by_rule(
                    op, ctx.rule, ctx, given, [[t] for t in saved[count:]], [[g] for g in grads],
                    [[need] for need in needs],
                )  # fmt: skip
                made = [group[0] if group else None for group in made]
        return made[0] if count == 1 else tuple(made)

    return keep, backward


def _with_lists(op: Operator, compiled):
    definition = op.definition
    dynamic = [param.kind == DYNAMIC for param in definition.inputs]
    read, read_outputs = _read(op)

    def keep(ctx, inputs, output):
        given = as_lists(definition, inputs)
        outputs = output if isinstance(output, tuple) else (output,)
        results = [out if isinstance(out, (list, tuple)) else (out,) for out in outputs]
        ctx.specs = [[(t.shape, t.dtype) for t in tensors] for tensors in given]
        ctx.out_specs = [[(t.shape, t.dtype) for t in out] for out in results]
        if ctx.rule is None:
            given = [tensors if i in read else () for i, tensors in enumerate(given)]
            results = [out if i in read_outputs else () for i, out in enumerate(results)]
        ctx.lengths = [len(tensors) for tensors in (*given, *results)]
        ctx.save_for_backward(*[t for tensors in (*given, *results) for t in tensors])

    def backward(ctx, *grads):
        groups = [list(g) if isinstance(g, (list, tuple)) else [g] for g in grads]
        needs = [
            list(flags) if listed else [flags] * len(specs)
            for flags, listed, specs in zip(ctx.needs_input_grad, dynamic, ctx.specs, strict=False)
        ]
        if all(g is None for group in groups for g in group) or not any(True in n for n in needs):
            made = [[None] * len(specs) for specs in ctx.specs]
        else:
            saved = _grouped(ctx.saved_tensors, ctx.lengths)
            groups = [_tensors.dense(group) for group in groups]
            given, results = saved[: len(dynamic)], saved[len(dynamic) :]
            if ctx.rule is not None:
                made = _by_rule(op, ctx.rule, ctx, given, results, groups, needs)
            else:
                made = compiled().with_lists(ctx, given, results, groups, needs)
        out = tuple(
            group if listed else group[0] if group else None
            for group, listed in zip(made, dynamic, strict=True)
        )
        return out[0] if len(out) == 1 else out

    return keep, backward


def _read(op: Operator) -> tuple[list[int], list[int]]:
    """The inputs and the outputs whose values the compiled backward operator takes.

    Of the rest shape and dtype are kept: a saved tensor holds its memory, and one that was written
    to since is an error.
    """
    gradient = op.definition.gradient
    if gradient is None:
        return [], []
    return gradient.taken(ROLE_INPUT), gradient.taken(ROLE_OUTPUT)


def _places(indices: list[int], count: int, start: int = 0) -> list[int | None]:
    """Where each of `count` lies among the saved tensors; None for one that is not saved."""
    return [start + indices.index(i) if i in indices else None for i in range(count)]


def _at_first_use(op: Operator, overload_of):
    """The compiled backward operator, or GR001."""
    made: list[CompiledBackward] = []

    @constant
    def ready() -> bool:
        if not made:
            if op.definition.gradient is None:
                raise _errors.make("GR001", op._core.no_gradient)
            made.append(CompiledBackward(op, overload_of(op.backward)))
        return True

    def compiled() -> CompiledBackward:
        ready()
        return made[0]

    return compiled


def _grouped(tensors, lengths) -> list[list[torch.Tensor]]:
    groups, start = [], 0
    for length in lengths:
        groups.append(list(tensors[start : start + length]))
        start += length
    return groups


def _is_differentiable(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


def _by_rule(op: Operator, rule, ctx, given, results, grads, needs):
    definition = op.definition
    due, inputs = [], []
    for i, (param, tensors) in enumerate(zip(definition.inputs, given, strict=True)):
        if param.kind == DYNAMIC:
            raise _errors.make(
                "GR007",
                f"{op.name}: a Python bprop takes no dynamic input ({param.name}); "
                "write a backward operator",
            )
        tensor = tensors[0] if tensors else None
        inputs.append(tensor)
        needed = tensor is not None and needs[i][0]
        shape, dtype = (tensor.shape, tensor.dtype) if tensor is not None else ((), None)
        output = definition.wide_output(i)
        wide = tuple(ctx.out_specs[output][0][0]) if output is not None else None
        is_complex = tensor is not None and tensor.is_complex()
        due.append(_bprop.Due(param.name, needed, tuple(shape), dtype, wide, is_complex))
    outs, douts = [], []
    for param, group, cotangents, specs in zip(
        definition.outputs, results, grads, ctx.out_specs, strict=True
    ):
        filled = [
            out.new_zeros(shape) if g is None and _is_differentiable(dtype) else g
            for g, out, (shape, dtype) in zip(cotangents, group, specs, strict=True)
        ]
        outs.append(group if param.kind == DYNAMIC else group[0])
        douts.append(filled if param.kind == DYNAMIC else filled[0])
    single = len(definition.outputs) == 1
    attrs = _bprop.picked_attrs(ctx.attrs, _bprop.keyword_attrs(op, rule))
    if is_dynamo_compiling():  # compiled autograd, which traces the rule itself
        inputs, outs, douts = (_lent.copies(every) for every in (inputs, outs, douts))
    lent = _lent.named(definition, inputs, outs, douts)
    wrapped = _lent.any_wrapped(lent)
    tensors = [(name, t) for name, one in lent for t in _lent.wrappers(one)] if wrapped else lent
    watched = (
        [] if is_dynamo_compiling() else [each for each in tensors if not each[1].is_inference()]
    )
    versions = [tensor._version for _, tensor in watched]
    try:
        returned = rule(
            *inputs,
            outs[0] if single else tuple(outs),
            douts[0] if single else tuple(douts),
            **attrs,
        )
    except RuntimeError as error:
        refused = _lent.refused_to_write(error, lent)
        if not refused:
            raise
        raise _lent.wrote(op, refused) from error
    for (name, tensor), version in zip(watched, versions, strict=True):
        if tensor._version != version:
            raise _lent.wrote(op, name)
    if isinstance(returned, tuple):
        returned = tuple(
            each.to_dense() if torch.is_tensor(each) and each.layout is not torch.strided else each
            for each in returned
        )
    settled = _bprop.settle(op.name, returned, due, _Adapter)
    for param, grad, tensor in zip(definition.inputs, settled, inputs, strict=True):
        if grad is not None and grad.device != tensor.device:
            raise _errors.make(
                "GR006",
                f"{op.name}: the bprop's gradient of input {param.name} is on device "
                f"{grad.device}, {tensor.device} is due: the input's own",
            )
    settled = _lent.distinct(settled, [tensor for _, tensor in tensors], wrapped)
    return [[grad] if tensors else [] for grad, tensors in zip(settled, given, strict=True)]
